"""Data that wants to reach the terminal, and names that look like something else."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path
from typing import Any

import ormsgpack
import pytest

from cli.running import Done, Run
from retrograph.engine.errors import SourceError
from retrograph.loaders.sqlite.store import Reading

ID = "1f1ebf22-64d4-6{n:03x}-8001-a4fccffb8{n:03x}"

NASTY = [
    "nul\x00",
    "\x1b[2J\x1b]0;owned\x07\x1b[31m",
    "c1 \x9b2J \x90q",
    "back\x08\x08 feed\x0c vt\x0b",
    "lines\r\nand\ttabs",
    "abc\u202ecba\u202c\u2066x\u2069",
    "שלום e\u0301\u0301 \u0301",
    "zero\u200bwidth\ufeff",
    "\U000e0041tag",
    "線程",
]


def store(path: Path, rows: list[tuple[str, str, dict[str, Any], dict[str, Any]]]) -> Path:
    """A store of langgraph 1.2's layout: (thread, namespace, channel values, metadata) each."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            """create table checkpoints(thread_id text not null,
                 checkpoint_ns text not null default '', checkpoint_id text not null,
                 parent_checkpoint_id text, type text, checkpoint blob, metadata blob,
                 primary key (thread_id, checkpoint_ns, checkpoint_id));
               create table writes(thread_id text not null,
                 checkpoint_ns text not null default '', checkpoint_id text not null,
                 task_id text not null, task_path text not null default '', idx integer not null,
                 channel text not null, type text, value blob,
                 primary key (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));"""
        )
        for n, (thread, ns, values, metadata) in enumerate(rows):
            id_ = ID.format(n=n)
            checkpoint = {
                "v": 4,
                "ts": "2026-01-01T00:00:00+00:00",
                "id": id_,
                "channel_values": values,
                "channel_versions": dict.fromkeys(values, f"{1:032}.0.1"),
                "versions_seen": {},
            }
            body = ormsgpack.packb(checkpoint)
            meta = json.dumps({"source": "loop", "step": 1, "parents": {}} | metadata).encode()
            db.execute(
                "insert into checkpoints values (?,?,?,?,?,?,?)",
                (thread, ns, id_, None, "msgpack", body, meta),
            )
            question = ormsgpack.packb([{"value": list(values), "id": "q\x1b"}])
            task = (
                f"task{n}",
                "~__pregel_pull, no\x1bde",
                -3,
                "__interrupt__",
                "msgpack",
                question,
            )
            db.execute("insert into writes values (?,?,?,?,?,?,?,?,?)", (thread, ns, id_, *task))
        db.commit()
    return path


@pytest.fixture
def nasty(tmp_path: Path) -> Path:
    rows = [
        (f"t{k} {text}", "", {f"c {text}": text, f"branch:to:n{text}": None}, {"k" + text: text})
        for k, text in enumerate(NASTY)
    ]
    return store(tmp_path / "nasty \x1b[31m.db", rows)


def harmless(done: Done) -> None:
    for text in (done.out, done.err):
        kinds = {unicodedata.category(c) for c in text if c != "\n"}
        assert not kinds & {"Cc", "Cs", "Cf", "Zl", "Zp"}
    assert "Traceback" not in done.err
    assert "fault" not in done.err


def test_threads(run: Run, nasty: Path) -> None:
    done = run("threads", nasty)
    harmless(done)
    assert len(done.out.splitlines()) == len(NASTY) + 1
    assert r"t1 \x1b[2J\x1b]0;owned\x07\x1b[31m" in done.out
    assert r"t5 abc\u202ecba" in done.out


def test_tree_and_show(run: Run, nasty: Path) -> None:
    for thread in run("threads", nasty, "--json").json:
        ref = ("--thread", thread["thread_id"])
        for words in (("tree",), ("show",), ("show", "--raw"), ("tree", "--orphans")):
            done = run(words[0], nasty, *words[1:], *ref)
            assert done.code == 0, done.err
            harmless(done)
        channel = next(iter(run("show", nasty, *ref, "--json").json["values"]))
        harmless(run("show", nasty, *ref, "--channel", channel))


def test_json_gives_the_data_back(run: Run, nasty: Path) -> None:
    threads = run("threads", nasty, "--json").json
    assert sorted(t["thread_id"][3:] for t in threads) == sorted(NASTY)
    for thread in threads:
        text = thread["thread_id"][3:]
        shown = run("show", nasty, "--thread", thread["thread_id"], "--json").json
        assert shown["values"] == {f"c {text}": text}
        assert shown["metadata"]["k" + text] == text


def test_errors(run: Run, nasty: Path) -> None:
    for words in (
        ["tree", nasty, "no\x1b[31m\nsuch"],
        ["show", nasty, "--thread", "t0 nul\x00", "--channel", "x\x1b"],
        ["tree", nasty, "--thread", "t0 nul\x00", "--ns", "x\x1b"],
        ["threads", "no\x1bfile"],
        ["no\x1bcommand"],
        ["threads", nasty, "--where", "\x1b"],
        ["threads", nasty, "--status", "\x1b[31m"],
    ):
        done = run(*words)
        assert done.code == 2
        assert done.out == ""
        assert done.err.count("\n") == 1
        harmless(done)


def test_a_lone_surrogate_is_valid_utf8(run: Run, tmp_path: Path) -> None:
    # JSON bytes can hold one where msgpack cannot.
    path = store(tmp_path / "s.db", [("t", "", {"c": 1}, {"m": "\ud800 end"})])
    done = run("show", path, "t", "--json")
    assert r"\ud800" in done.out
    assert done.json["metadata"]["m"] == "\ud800 end"
    text = run("show", path, "t")
    assert r"\ud800 end" in text.out
    harmless(text)


ODD_IDS = ["1", "user-42:conv@home", "線程", "", "x" * 2000, "~1", "a::b", "@", "step:1", "-x"]
UUIDS = ["9f1b6c3e8d2a4b5c8e7f0a1b2c3d4e5f", "9f1b6c3e-8d2a-4b5c-8e7f-0a1b2c3d4e5f"]


def test_odd_thread_ids_are_listed_opened_and_referable(run: Run, tmp_path: Path) -> None:
    ids = [*ODD_IDS, *UUIDS]
    path = store(tmp_path / "odd.db", [(id_, "", {"own": id_}, {}) for id_ in ids])
    assert {t["thread_id"] for t in run("threads", path, "--json").json} == set(ids)
    harmless(run("threads", path))
    for n, id_ in enumerate(ids):
        for ref in (["--thread", id_], ["--", id_], ["--", f"{id_}@{ID.format(n=n)[-6:]}"]):
            done = run("show", path, "--json", *ref)
            assert done.code == 0, done.err
            assert done.json["values"] == {"own": id_}
        assert run("tree", path, "--thread", id_).code == 0
    done = run("tree", path, "9f1b6c3e8d2a4b5c8e7f0a1b2c3d4e5")
    assert "did you mean" in done.err
    assert "''" in run("threads", path).out.split()
    blank = store(tmp_path / "blank.db", [(" ", "", {}, {})])
    for command in (["threads", blank], ["tree", blank, " "], ["show", blank, " "]):
        assert "' '" in run(*command).out


@pytest.mark.parametrize("words", [["tree"], ["tree", "--orphans"], ["show"], ["show", "--sizes"]])
def test_what_breaks_off_while_it_is_read_leaves_stdout_empty(
    run: Run, newest: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """Each reading of the command fails in turn."""
    command, *options = words
    readings = 0
    page = Reading.page

    def breaking(self: Reading, work: Any) -> Any:
        nonlocal readings
        readings += 1
        if readings == fails_at:
            raise SourceError("It broke.")
        return page(self, work)

    monkeypatch.setattr(Reading, "page", breaking)
    fails_at = 0
    assert run(command, newest, "loop", *options).code == 0
    for fails_at in range(1, readings + 1):
        readings = 0
        done = run(command, newest, "loop", *options)
        assert (done.code, done.out) == (2, ""), fails_at
        assert done.err == "retrograph: It broke.\n"


def test_secrets_in_metadata(run: Run, tmp_path: Path) -> None:
    secret = {"authorization": "Bearer hunter2", "nested": {"x-api-key": "hunter2"}, "plain": "p"}
    path = store(tmp_path / "s.db", [("t", "", {"authorization": "kept"}, secret)])
    for words in (["threads", path], ["tree", path, "t"], ["show", path, "t"]):
        for json_too in ([], ["--json"]):
            done = run(*words, *json_too)
            assert "hunter2" not in done.out + done.err
    assert run("show", path, "t", "--json").json["values"] == {"authorization": "kept"}
    assert run("threads", path, "--json").json[0]["metadata"]["plain"] == "p"
    assert "hunter2" in run("show", path, "t", "--no-redact").out
    assert "hunter2" in run("threads", path, "--json", "--no-redact").out


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_parent_chains_that_loop_or_lead_nowhere(
    run: Run, tmp_path: Path, as_json: list[str]
) -> None:
    rows: list[Any] = [("t", ns, {"n": 1}, {}) for ns in ("", "", "", "sub", "", "")]
    path = store(tmp_path / "loop.db", rows)
    parents = {0: ID.format(n=2), 1: ID.format(n=0), 2: ID.format(n=1), 4: ID.format(n=3)}
    with closing(sqlite3.connect(path)) as db:
        for n, parent in parents.items():
            db.execute(
                "update checkpoints set parent_checkpoint_id = ? where checkpoint_id = ?",
                (parent, ID.format(n=n)),
            )
        # One id in two namespaces, and ids that are words.
        db.execute("update checkpoints set checkpoint_id = 'same' where checkpoint_ns = 'sub'")
        db.execute("update checkpoints set checkpoint_id = 'same' where checkpoint_id = ?",
                   (ID.format(n=5),))  # fmt: skip
        db.commit()
    done = run("tree", path, "t", *as_json)
    assert done.code == 0
    assert "loops" in done.err
    harmless(done)
    for ref in ("t", "t@same", "t::sub@same", "t@root", f"t@{ID.format(n=2)}~2"):
        done = run("show", path, ref, *as_json)
        assert done.code in (0, 2), done.err
        harmless(done)
    assert "2 parents" in run("show", path, f"t@{ID.format(n=2)}~7").err
