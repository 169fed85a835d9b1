"""`grep`: where a text is looked for, what a hit says, and how many there are."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from cli.running import DATA, Run
from made import Made, make, said


@pytest.fixture
def store(tmp_path: Path) -> Path:
    talk = [said(f"late {n}", f"m{n}") for n in range(3)]
    states = [
        Made({"messages": talk[:1]}),
        Made({"messages": talk[:2]}),
        Made({"messages": talk[:3]}, parent=0),
    ]
    for thread in ("t", "other", "123"):
        make(tmp_path / "s.db", states, thread)
    make(tmp_path / "s.db", [Made({"c": "late below"})], ns="sub:1")
    return tmp_path / "s.db"


def found(run: Run, *words: object) -> list[tuple[str, str, str]]:
    done = run("grep", *words, "--json")
    assert done.code == 0, done.err
    assert [set(hit) >= {"thread_id", "id", "ns", "path", "value"} for hit in done.json]
    return [(hit["thread_id"], hit["path"], hit["value"]) for hit in done.json]


EVERY = [
    ("t", "/messages/0/content", "late 0"),
    ("t", "/messages/1/content", "late 1"),
    ("t", "/messages/1/content", "late 1"),
    ("t", "/messages/2/content", "late 2"),
    ("t", "/c", "late below"),
]


def test_where(run: Run, store: Path) -> None:
    assert found(run, store, "t", "late") == EVERY
    assert found(run, store, "late", "--thread", "t") == EVERY
    assert found(run, store, "t~1", "late") == EVERY[:1]
    assert found(run, store, "t@step:1", "late") == [EVERY[0], *EVERY[2:4]], "one line of two"
    assert found(run, store, "t@root", "late") == EVERY[:1]
    assert found(run, store, "@root", "late", "--thread", "t") == EVERY[:1]
    assert found(run, store, "t::sub:1", "late") == EVERY[4:]
    assert found(run, store, "t::sub:1@root", "late") == EVERY[4:]
    assert len(found(run, store, "--all", "late")) == 4 * 3 + 1
    assert len(found(run, store, "--all", "LATE", "-i")) == 13
    assert len(found(run, store, "--all", "^late [12]$", "--regex")) == 9


def test_what_a_hit_says(run: Run, store: Path) -> None:
    hit = run("grep", store, "t", "te 2", "--json").json[0]
    assert (hit["in"], hit["ns"], hit["step"], hit["match"], hit["cut"]) == (
        "values", "", 1, [2, 6], False,
    )  # fmt: skip
    line = run("grep", store, "t", "te 2").out.splitlines()[0]
    reference, rest = line.split("  ", 1)
    assert rest == "step 1  /messages/2/content  late 2"
    # What is printed is a reference to what is meant.
    assert run("show", store, reference, "--json").json["id"] == hit["id"]
    assert run("blame", store, reference, hit["path"], "--json").json[0]["id"] == hit["id"]


def test_calls(run: Run, store: Path) -> None:
    for words, said_ in (
        ([store], "What to look for is missing"),
        ([store, "t"], "What to look for is missing"),
        ([store, "--all"], "What to look for is missing"),
        ([store, "--all", "t", "late"], "no REF"),
        ([store, "--all", "late", "--thread", "t"], "no REF or --thread"),
        ([store, "t", ""], "pattern is empty"),
        ([store, "t", "(", "--regex"], "no regular expression"),
        ([store, "nope", "late"], "no thread 'nope'"),
        ([store, "t", "late", "--limit", "-1"], "--limit"),
    ):
        done = run("grep", *words)
        assert (done.code, done.out) == (2, ""), words
        assert said_ in done.err
        assert done.err.count("\n") == 1


def test_how_many(run: Run, store: Path) -> None:
    done = run("grep", store, "--all", "late", "--limit", "4")
    assert len(done.out.splitlines()) == 4
    assert "Only the first 4 hits" in done.err
    assert run("grep", store, "--all", "late", "--limit", "13").err == ""
    assert len(run("grep", store, "--all", "late", "--limit", "0", "--json").json) == 13
    nothing = run("grep", store, "--all", "early")
    assert (nothing.code, nothing.out) == (0, "")
    assert "searched 10 checkpoints" in nothing.err
    assert run("grep", store, "--all", "early", "--json").json == []


def test_what_cannot_be_searched_is_said(run: Run, tmp_path: Path) -> None:
    from retrograph.engine.serde import Serde

    pytest.importorskip("Crypto")
    states = [Made({"c": "late"}, kind="msgpack+aes"), Made({"c": "late"})]
    make(tmp_path / "s.db", states, serde=Serde(b"0123456789abcdef"))
    done = run("grep", tmp_path / "s.db", "t", "late")
    assert len(done.out.splitlines()) == 1
    assert "1 checkpoints could not be read" in done.err


def test_questions_and_errors_of_real_threads(run: Run) -> None:
    path = DATA / "langgraph-1.2.24.db"
    hits = run("grep", path, "--all", ".", "--regex", "--limit", "0", "--json").json
    assert {hit["in"] for hit in hits} == {"values", "questions", "errors"}
    error = next(hit for hit in hits if hit["in"] == "errors")
    shown = run("show", path, f"{error['thread_id']}@{error['id']}", "--json").json
    assert error["value"] in [e["error"] for e in shown["errors"]]


def test_hostile_values(run: Run, tmp_path: Path) -> None:
    text = "a\x1b[2J\x1b]0;owned\x07 \u202eabc\nlate \x9b b " * 20
    value = {f"\x1b[31m{text[:9]}": text, "m": [said(text, "\x1bid")]}
    make(tmp_path / "s.db", [Made({"c\x1b": value})], thread="t\x1b[2J")
    done = run("grep", tmp_path / "s.db", "--all", "late")
    kinds = {unicodedata.category(c) for c in done.out if c != "\n"}
    assert not kinds & {"Cc", "Cs", "Cf", "Zl", "Zp"}
    assert len(done.out.splitlines()) == 2


def test_ctrl_c_shows_what_was_found(tmp_path: Path) -> None:
    make(tmp_path / "s.db", [Made({"c": f"late {n}"}) for n in range(40)])
    # Stopped from within, at a fixed place: after ten hits.
    program = (
        "import os, signal, sys\n"
        "from retrograph.cli.main import main\n"
        "from retrograph.engine.search.needle import Needle\n"
        "spot, seen = Needle.spot, []\n"
        "def stop(self, text):\n"
        "    seen.append(text)\n"
        "    if len(seen) == 11: os.kill(os.getpid(), signal.SIGINT)\n"
        "    return spot(self, text)\n"
        "Needle.spot = stop\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", program, "grep", str(tmp_path / "s.db"), "t", "late"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 130
    assert len(done.stdout.splitlines()) == 10
    assert "Traceback" not in done.stderr
