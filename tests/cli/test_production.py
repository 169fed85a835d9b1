"""A thread of a production Postgres, run on from on one's own machine: nothing there is touched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.running import Run
from servers.postgres import Database
from stories import effects

WRITE = """
import sys
from langgraph.checkpoint.postgres import PostgresSaver
import agent

with PostgresSaver.from_conn_string(sys.argv[1]) as saver:
    saver.setup()
    for name, given in (("travel", {"path": "main", "n": 1}), ("asking", {"n": 2})):
        made = getattr(agent, name + "_builder")().compile(checkpointer=saver)
        made.invoke(given, {"configurable": {"thread_id": name}}, durability="sync")
"""


@pytest.fixture
def production(database: Database, project: Path) -> Database:
    (project / "write.py").write_text(WRITE)
    call = [sys.executable, "write.py", database.uri]
    subprocess.run(call, cwd=project, check=True, capture_output=True)
    effects(project)
    return database


def nodes(document: dict[str, Any]) -> list[str]:
    return [ran["node"] for ran in document["ran"]]


def test_forked_and_run(run: Run, project: Path, production: Database) -> None:
    before = production.untouched()
    call = ["travel@step:2", "--set", "path=alt", "--run", "--graph", "agent.py:travel", "--json"]
    user = production.server.user
    secret = production.uri.replace(
        f"{user}@", f"{user}:hunter2@", 1
    )  # which this server does not ask for
    done = run("fork", secret, *call)
    assert done.code == 0, done.err
    assert (nodes(done.json), done.json["next"]) == (["c_alt", "d"], [])
    assert effects(project) == ["c_alt", "d"]
    assert production.untouched() == before
    assert "hunter2" not in done.out + done.err
    shown = run("fork", secret, *call[:-1])
    assert shown.code == 0
    assert "hunter2" not in shown.out + shown.err
    failed = run("replay", secret, "asking", *call[-3:-1])
    assert "hunter2" not in failed.out + failed.err
    effects(project)
    for file in Path(done.json["sandbox"]["path"]).parent.iterdir():
        assert b"hunter2" not in file.read_bytes()


def test_replayed_with_recordings(run: Run, project: Path, production: Database) -> None:
    call = ["travel@step:1", "--recorded", "b", "--recorded", "d", "--graph", "agent.py:travel"]
    done = run("replay", production.uri, *call, "--json")
    assert done.code == 0, done.err
    assert nodes(done.json) == ["b", "c_main", "d"]
    assert effects(project) == ["c_main"]


def test_answered(run: Run, project: Path, production: Database) -> None:
    before = production.untouched()
    call = ["--answer", "yes", "--graph", "agent.py:asking", "--json"]
    done = run("resume", production.uri, "asking", *call)
    assert done.code == 0, done.err
    assert done.json["values"]["log"] == ["pre", "answer yes", "post"]
    again = run("resume", production.uri, f"asking@{done.json['from']}", *call)
    assert again.code == 0, again.err
    assert production.untouched() == before
