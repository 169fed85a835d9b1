"""What nodes say while they run: shown escaped, and without what is to be hidden."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cli.running import Run

NASTY = "\x1b[2J\x07\u202e\udc80"
SECRET = "sk-hunter2"
AGENT = f"""
NASTY, SECRET = {NASTY!r}, {SECRET!r}


def loud(state):
    import sys

    from langgraph.config import get_stream_writer

    print("out", NASTY, SECRET, flush=True)
    sys.stderr.write(f"err {{NASTY}} {{SECRET}} without an end")
    get_stream_writer()({{"ssn": "hunter2", "text": NASTY + SECRET}})
    return {{"log": ["loud", SECRET]}}


def asks(state):
    return {{"log": [interrupt({{"ssn": "hunter2", "question": NASTY + SECRET}})]}}


def fails(state):
    raise ValueError(NASTY + SECRET)


def nasty_builder(last):
    g = builder("loud", loud=loud)
    g.add_node("n" + NASTY[:-1], last)
    g.add_edge("loud", "n" + NASTY[:-1])
    return g.compile()


asking_nasty, failing_nasty = nasty_builder(asks), nasty_builder(fails)
"""


@pytest.fixture
def project(project: Path) -> Path:
    with (project / "agent.py").open("a") as file:
        file.write(AGENT)
    (project / "retrograph.toml").write_text("redact = ['ssn', '/sk-\\w+/']\n")
    return project


HOWS: list[list[str]] = [[], ["--json"], ["--jsonl"]]


@pytest.mark.parametrize("how", HOWS, ids=["people", "json", "jsonl"])
@pytest.mark.parametrize("graph", ["asking_nasty", "failing_nasty"])
def test_escaped_and_redacted(run: Run, project: Path, graph: str, how: list[str]) -> None:
    done = run("replay", "store.db", "asking@step:-1", "--graph", f"agent.py:{graph}", *how)
    assert done.code == (0 if graph == "asking_nasty" else 1)
    for text in (done.out, done.err):
        assert not any(c in text for c in ("\x1b", "\x07"))
        assert how or "\u202e" not in text
        assert "hunter2" not in text
    if how:
        ends = [json.loads(line) for line in done.out.splitlines()]
        assert ends[-1]["next"] == ["n\x1b[2J\x07\u202e"], "data is data"
    else:
        assert "out \\x1b[2J" in done.out
        assert "without an end" in done.out
        assert "n\\x1b[2J" in done.out


def test_an_odd_thread_id(run: Run, project: Path) -> None:
    name = "it's @home $(touch x) \x1b[2J"
    with closing(sqlite3.connect(project / "store.db")) as db:
        for table in ("checkpoints", "writes"):
            db.execute(f"UPDATE {table} SET thread_id = ? WHERE thread_id = 'asking'", (name,))
        db.commit()
    call: list[Any] = ["replay", "store.db", "--thread", name, "--graph", "agent.py:asking"]
    done = run(*call)
    assert done.code == 0, done.err
    assert "\x1b" not in done.out
    assert "'it'\"'\"'s @home $(touch x) \\x1b[2J'" in done.out
    assert run(*call, "--json").json["thread_id"] == name
