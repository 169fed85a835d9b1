"""The sandboxes that are there: listed, found, removed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cli.running import Run
from retrograph.engine.model import ROOT
from retrograph.engine.sandbox.closure import for_going_on
from retrograph.engine.sandbox.file import Sandbox
from retrograph.engine.sandbox.make import make_sandbox
from retrograph.engine.thread import Thread
from retrograph.loaders.registry import open_source


@pytest.fixture
def sandbox(newest: Path) -> Sandbox:
    loader = open_source(str(newest))
    thread = Thread(loader, "loop")
    closure = for_going_on(thread, thread.history.ids[thread.history.head(ROOT)])
    made = make_sandbox(thread, closure, str(newest))
    loader.close()
    return made


def test_none(run: Run) -> None:
    assert run("sandboxes", "--json").json == []
    assert "no sandboxes" in run("sandboxes").out
    assert run("sandboxes", "remove", "--older-than", "1h").code == 0


def test_listed(run: Run, sandbox: Sandbox, newest: Path) -> None:
    (row,) = run("sandboxes", "list", "--json").json
    assert row["id"] == sandbox.id
    assert row["path"] == str(sandbox.path)
    assert row["source"] == str(newest)
    assert (row["thread_id"], row["from"]) == ("loop", sandbox.origin.checkpoint_id)
    assert row["size"] == sandbox.path.stat().st_size
    assert sandbox.id in run("sandboxes").out


def test_path(run: Run, sandbox: Sandbox) -> None:
    assert run("sandboxes", "path", sandbox.id[:4]).out.strip() == str(sandbox.path)
    assert run("sandboxes", "path").out.strip() == str(sandbox.path.parent)
    wrong = run("sandboxes", "path", "zz")
    assert wrong.code == 2
    assert wrong.out == ""
    assert "'zz'" in wrong.err


def test_a_sandbox_is_a_source(run: Run, sandbox: Sandbox, newest: Path) -> None:
    ours = run("tree", f"sandbox:{sandbox.id}", "loop", "--json").json
    theirs = run("tree", newest, "loop", "--json").json
    known = {c["id"]: (c["ran"], c["next"]) for c in theirs["checkpoints"]}
    line = [(c["id"], c["ran"], c["next"]) for c in ours["checkpoints"]]
    assert len(line) > 3
    assert [(ran, due) for _, ran, due in line] == [known[id_] for id_, _, _ in line]
    assert line[-1][0] == ours["head"] == theirs["head"]
    assert run("threads", sandbox.path, "--json").json[0]["thread_id"] == "loop"


def test_removed(run: Run, sandbox: Sandbox) -> None:
    assert run("sandboxes", "remove").code == 2
    assert run("sandboxes", "remove", sandbox.id).code == 0
    assert list(sandbox.path.parent.iterdir()) == []
    assert run("tree", f"sandbox:{sandbox.id}", "loop").code == 2


def test_a_broken_file_ends_nothing(run: Run, sandbox: Sandbox) -> None:
    (sandbox.path.parent / "broken.db").write_bytes(b"no database")
    done = run("sandboxes", "--json")
    assert [row["id"] for row in done.json] == [sandbox.id]
    assert "broken.db" in done.err


@pytest.mark.parametrize(
    "call", ["show STORE REF", "tree STORE REF", "blame STORE REF total", "grep STORE REF ."]
)
def test_its_checkpoints_are_found_through_the_source(
    run: Run, sandbox: Sandbox, newest: Path, call: str
) -> None:
    """By their ids; a bare thread is the source's own."""
    thread_id, id_ = "loop", "1fffffff-ffff-6fff-8005-0123456789ab"
    with closing(sqlite3.connect(sandbox.path)) as db:
        db.execute(
            "INSERT INTO checkpoints SELECT thread_id, checkpoint_ns, ?, checkpoint_id, type, "
            "checkpoint, metadata FROM checkpoints WHERE checkpoint_id = ?",
            (id_, sandbox.origin.checkpoint_id),
        )
        db.commit()
    named = {"STORE": str(newest), "REF": f"{thread_id}@{id_[-8:]}"}
    done = run(*[named.get(word, word) for word in call.split()])
    assert done.code == 0, done.err
    assert f"Sandbox {sandbox.id}" in done.out or "grep" in call
    other = run("show", newest, f"{thread_id}@00000000")
    assert other.code == 2
