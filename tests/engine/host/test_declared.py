"""Graphs of a langgraph.json in every LangGraph: its dependencies, environment and classes hold."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import ormsgpack
import pytest

from retrograph.engine.errors import HostError
from retrograph.engine.host.requests import Begin, launch, load, run
from retrograph.engine.model import Typed
from retrograph.loaders.launch import HostOptions, plan_launch
from retrograph.loaders.project import Config, Settings

AGENT = """
import os
from typing import Any, TypedDict
from langgraph.graph import START, StateGraph

class State(TypedDict, total=False):
    value: Any
    seen: str

def node(state):
    import parts, inside  # of the dependencies
    value = state["value"]
    return {"seen": type(value).__module__ + "." + type(value).__qualname__ + os.environ["KEY"]}

graph = StateGraph(State).add_node("node", node).add_edge(START, "node").compile()
"""
PARTS = """
import dataclasses

@dataclasses.dataclass
class Customer:
    name: str

class Plain:
    def __init__(self, name=""):
        self.name = name

    def _asdict(self):
        return {"name": self.name}

def function(name=""):
    raise SystemExit("called")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    for name in ("shop/src", "shop/lib", "shared"):
        (tmp_path / name).mkdir(parents=True)
    (folder / "src" / "agent.py").write_text(AGENT)
    (folder / "lib" / "inside.py").write_text("")
    (tmp_path / "shared" / "parts.py").write_text(PARTS)
    return folder


def seen(project: Path, python: str, value: Any, **stated: Any) -> str:
    """What the node gets where the input's value is this one."""
    declared = {
        "graphs": {"shop": "./src/agent.py:graph"},
        "dependencies": [".", "./lib", "../shared"],
        "env": {"KEY": "!"},
        **stated,
    }
    (project / "langgraph.json").write_text(json.dumps(declared))
    plan = plan_launch(
        HostOptions(graph="shop", python=python), Config(Settings(), {}, ()), project
    )
    given = Typed("msgpack", ormsgpack.packb({"value": value}))
    with launch(plan) as host:
        load(host, plan)
        with run(host, project / "run.db", "t", Begin("input", given)) as job:
            assert list(job)
            assert job.reply["error"] is None, job.reply["error"]["sentence"]

    with closing(sqlite3.connect(project / "run.db")) as db:
        query = "SELECT value FROM writes WHERE channel = 'seen'"
        ((data,),) = db.execute(query).fetchall()
    return str(ormsgpack.unpackb(data))


def an(name: str) -> ormsgpack.Ext:
    return ormsgpack.Ext(2, ormsgpack.packb(("parts", name, {"name": "Ada"})))


def test_a_dependency_beside_the_project(project: Path, python: str) -> None:
    """It can be imported, and its data classes are made like the project's own."""
    assert seen(project, python, an("Customer")) == "parts.Customer!"


@pytest.mark.parametrize("key", ["allowed_msgpack_modules", "allowed_json_modules"])
def test_classes_that_it_allows(project: Path, python: str, key: str) -> None:
    serde = {"serde": {key: [["parts", "Plain"]]}}
    assert seen(project, python, an("Plain"), checkpointer=serde) == "parts.Plain!"


@pytest.mark.parametrize("listed", [[["parts", "Customer"]], True, None])
def test_classes_that_it_does_not(project: Path, python: str, listed: Any) -> None:
    serde = {"serde": {"allowed_msgpack_modules": listed}}
    with pytest.raises(HostError, match=r"parts\.Plain, which is no data class"):
        seen(project, python, an("Plain"), checkpointer=serde)


def test_functions_never(project: Path, python: str) -> None:
    serde = {"serde": {"allowed_msgpack_modules": [["parts", "function"]]}}
    with pytest.raises(HostError, match=r"parts\.function, which is no class: not called"):
        seen(project, python, an("function"), checkpointer=serde)


def test_a_checkpointer_of_its_own_is_not_opened(project: Path, python: str) -> None:
    (project / "saver.py").write_text("open('opened', 'w').close()")
    checkpointer = {"path": "./saver.py:make"}
    assert seen(project, python, an("Customer"), checkpointer=checkpointer) == "parts.Customer!"
    assert not (project / "opened").exists()
