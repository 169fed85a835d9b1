"""Graphs of a langgraph.json: what of it does not hold is said in the plan, what is wrong in it in
one sentence."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import pytest

from cli.running import Run
from stories import effects


def declare(project: Path, **stated: Any) -> None:
    declared = {"graphs": {"travel": "./agent.py:travel"}, "dependencies": ["."], **stated}
    (project / "langgraph.json").write_text(json.dumps(declared))


def test_said_in_the_plan(run: Run, project: Path) -> None:
    (project / "saver.py").write_text("open('opened', 'w').close()")
    declare(project, checkpointer={"path": "./saver.py:make"}, python_version="3.9")
    said = [
        "The checkpointer of langgraph.json (./saver.py:make) is not used: what the run saves goes "
        "to its sandbox.",
        f"langgraph.json asks for Python 3.9, and this is {platform.python_version()}.",
    ]
    call = ("replay", "store.db", "travel@step:1")
    assert run(*call, "--plan", "--json").json["warnings"] == said
    done = run(*call)
    assert done.code == 0
    for warning in said:
        assert warning in done.out
    assert effects(project) == ["b", "c_main", "d"]
    assert not (project / "opened").exists()


def test_nothing_to_say(run: Run, project: Path) -> None:
    version = ".".join(platform.python_version_tuple()[:2])
    declare(project, checkpointer={"ttl": {"default_ttl": 5}}, python_version=version)
    done = run("replay", "store.db", "travel@step:1", "--plan", "--json")
    assert done.json["warnings"] == []
    assert done.err == ""


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"checkpointer": {"serde": {"allowed_json_modules": ["agent"]}}}, "list of classes"),
        ({"dependencies": {"a": 1}}, "must be a list of texts"),
        ({"env": ["KEY=1"]}, "must be the path of a file"),
    ],
)
def test_what_is_wrong(run: Run, project: Path, stated: Any, said: str) -> None:
    declare(project, **stated)
    for command in (
        ["replay", "store.db", "travel@step:1"],
        ["fork", "store.db", "travel@step:1", "--set", "n=2"],
        ["graph", "travel"],
    ):
        done = run(*command)
        assert (done.code, done.out) == (2, "")
        assert said in done.err
        assert done.err.count("\n") == 1
    assert run("sandboxes", "--json").json == []
