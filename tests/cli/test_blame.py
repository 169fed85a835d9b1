"""`blame`: who set a value; the words of a call; what is said of how it was looked."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from cli.running import DATA, Run
from made import Made, make, said


@pytest.fixture
def store(tmp_path: Path) -> Path:
    talk = [said(f"late {n}", f"m{n}") for n in range(60)]
    states = [
        Made({"messages": talk[: n + 1], "n": n}, {"agent" if n % 2 else "tools": {"n": n}})
        for n in range(60)
    ]
    states.append(Made({"messages": talk, "n": "by hand"}, source="update"))
    make(tmp_path / "s.db", states)
    return tmp_path / "s.db"


def test_the_document(run: Run, store: Path) -> None:
    entries = run("blame", store, "t", "n", "--json", "--limit", "3").json
    assert [(e["step"], e["source"], e["node"], e["value"]) for e in entries] == [
        (59, "update", None, "by hand"),
        (58, "loop", "agent", 59),
        (57, "loop", "tools", 58),
    ]
    assert entries[1]["task_id"] == "task-of-agent"
    assert entries[1]["path"] == "/n"
    assert entries[1]["ran"] == ["agent"]
    tree = {c["id"]: c for c in run("tree", store, "t", "--json").json["checkpoints"]}
    assert all(tree[e["id"]]["step"] == e["step"] for e in entries)


def test_calls(run: Run, store: Path) -> None:
    whole = run("blame", store, "t", "n", "--json").json
    assert run("blame", store, "n", "--thread", "t", "--json").json == whole
    assert run("blame", store, "@root~0", "n", "--thread", "t", "--json").json[0]["step"] == -1
    before = run("blame", store, "t~1", "/n", "--json").json
    assert before[:9] == whole[1:]
    for words, said_ in (
        ([store, "t"], "Which value is missing"),
        ([store, "t", "nope"], "has no 'nope'"),
        ([store, "t", ""], "which value"),
        ([store, "t", "messages[99]"], "no item 99"),
        ([store, "t", "a[b"], "is no path"),
        ([store, "t", "n", "--limit", "-1"], "--limit"),
    ):
        done = run("blame", *words)
        assert (done.code, done.out) == (2, ""), words
        assert said_ in done.err
        assert done.err.count("\n") == 1


def test_for_people(run: Run, store: Path) -> None:
    lines = run("blame", store, "t", "n", "--limit", "2").out.splitlines()
    assert lines[2].split() == ["step", "set", "by", "at", "checkpoint", "value"]
    assert "an edit" in lines[3]
    assert '"by hand"' in lines[3]
    assert lines[4].split()[:2] == ["58", "agent"]


def test_how_it_was_looked_is_said(run: Run, store: Path) -> None:
    done = run("blame", store, "t", "messages[3].content")
    assert "of 61 checkpoints" in done.err
    assert "--exact" in done.err
    exact = run("blame", store, "t", "messages[3].content", "--exact")
    assert exact.err == ""
    assert exact.out == done.out
    assert run("blame", store, "t", "messages").err.startswith("Only the newest 10 values")
    done = run("blame", store, "t", "n", "--limit", "2")
    assert done.err == "Only the newest 2 values are listed; --limit 0 lists all.\n"
    assert len(run("blame", store, "t", "n", "--limit", "0", "--json").json) == 61


def test_moved_and_removed(run: Run, tmp_path: Path) -> None:
    one, two = said("one", "m1"), said("two", "m2")
    talks = [[one], [two], [two, one]]
    make(tmp_path / "s.db", [Made({"messages": talk}) for talk in talks])
    done = run("blame", tmp_path / "s.db", "t", "messages[1].content")
    rows = [line.split() for line in done.out.splitlines()[3:]]
    assert [row[0] for row in rows] == ["1", "0", "-1"]
    assert rows[1][-1] == "removed"
    assert rows[2][-2:] == ["at", "/messages/0/content"]
    entries = run("blame", tmp_path / "s.db", "t", "messages[1].content", "--json").json
    assert [e["value"] for e in entries] == ["one", {"$absent": True}, "one"]


@pytest.mark.parametrize("version", ["0.2.0", "0.4.0", "1.2.24"])
def test_every_channel_of_every_version(run: Run, version: str) -> None:
    path = DATA / f"langgraph-{version}.db"
    for thread in run("threads", path, "--json").json:
        for channel in run("show", path, thread["thread_id"], "--json").json["values"]:
            assert run("blame", path, thread["thread_id"], f"/{channel}").code == 0
            assert run("blame", path, thread["thread_id"], f"/{channel}", "--json").json


def test_hostile_values(run: Run, tmp_path: Path) -> None:
    nasty = "a\x1b[2J\x1b]0;owned\x07 \u202eabc\n\x9b"
    make(tmp_path / "s.db", [Made({nasty: {nasty: nasty}}, {nasty: {nasty: nasty}})] * 2)
    done = run("blame", tmp_path / "s.db", "t", f"/{nasty}/{nasty}")
    assert done.code == 0
    kinds = {unicodedata.category(c) for c in done.out if c != "\n"}
    assert not kinds & {"Cc", "Cs", "Cf", "Zl", "Zp"}
