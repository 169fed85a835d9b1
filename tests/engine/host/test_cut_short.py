"""A host killed at ten moments of a run, drawn by lot: what it left opens, shows what was written,
and is run on to the same end without running again what had finished."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hosting import OWN, hosted, plan_of, typed
from retrograph.engine.host.client import Host
from retrograph.engine.host.requests import Begin, load, run
from retrograph.engine.model import ROOT, CheckpointKey
from retrograph.engine.replay.asked import Asked
from retrograph.engine.replay.driving import Driver
from retrograph.engine.replay.plan import plan_replay
from retrograph.engine.thread import Thread
from retrograph.engine.values import to_json
from retrograph.loaders.registry import open_source

GRAPH = """
import operator
from typing import Annotated, TypedDict
from langgraph.graph import END, START, StateGraph

class State(TypedDict, total=False):
    n: int
    log: Annotated[list[str], operator.add]

def step(name, **update):
    def node(state):
        with open(f"{__file__}.ran", "a") as file:
            file.write(name + "\\n")
        return {"log": [f"{name} {state['n']}"]}
    return node

inner = StateGraph(State)
inner.add_node("x", step("x"))
inner.add_node("y", step("y"))
inner.add_edge(START, "x")
inner.add_edge("x", "y")
memory = StateGraph(State)
memory.add_node("m", step("m"))
memory.add_edge(START, "m")
g = StateGraph(State)
g.add_node("count", lambda s: {"n": s["n"] + 1})
g.add_node("p", step("p"))
g.add_node("sub", lambda s: {"log": inner_.invoke({"n": s["n"], "log": []})["log"]})
inner_ = inner.compile()
g.add_node("memory", memory.compile(checkpointer=True))
g.add_node("join", step("join"))
g.add_edge(START, "count")
for name in ("p", "sub", "memory"):
    g.add_edge("count", name)
g.add_edge(["p", "sub", "memory"], "join")
g.add_conditional_edges("join", lambda s: "count" if s["n"] < 4 else END)
graph = g.compile()
"""
MOMENTS = 10


class Whole(NamedTuple):
    """The run that nobody cut short."""

    project: Path
    values: Any
    events: int
    host: Host
    """One that goes on with what others have left."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    project = tmp_path_factory.mktemp("project")
    (project / "agent.py").write_text(GRAPH)
    with hosted(project, "agent.py:graph") as (host, _):
        with run(host, project / "whole.db", "t", Begin("input", typed({"n": 0}))) as job:
            events = len(list(job))
        yield Whole(project, head_of(project / "whole.db")[1], events, host)


def head_of(path: Path) -> tuple[list[str], Any]:
    """(what is due, values) at the head."""
    loader = open_source(str(path))
    try:
        thread = Thread(loader, "t")
        head = thread.history.ids[thread.history.head()]
        snapshot = thread.snapshot(ROOT, head)
        plain = {name: to_json(value) for name, value in snapshot.values.items()}
        return list(snapshot.step.waiting), plain
    finally:
        loader.close()


def ran(project: Path) -> Counter[str]:
    path = project / "agent.py.ran"
    found = Counter(path.read_text().split()) if path.exists() else Counter[str]()
    path.unlink(missing_ok=True)
    return found


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_killed_at_any_moment(whole: Whole, moment: int, tmp_path: Path) -> None:
    at = random.Random(moment).randrange(2, whole.events)
    path = tmp_path / "run.db"
    ran(whole.project)
    with hosted(whole.project, "agent.py:graph") as (host, _):
        job = run(host, path, "t", Begin("input", typed({"n": 0})))
        for number, _event in enumerate(job):
            if number == at:
                host.kill()
                break
    before = ran(whole.project)
    _, values = head_of(path)
    log = values.get("log", [])
    assert whole.values["log"][: len(log)] == log

    launching = plan_of(whole.project, "agent.py:graph", OWN)
    loader = open_source(str(path))
    try:
        thread = Thread(loader, "t")
        key = CheckpointKey("t", ROOT, thread.history.ids[thread.history.head()])
        waiting = thread.step(ROOT, key.id).waiting
        loaded = load(whole.host, launching)
        plan = plan_replay(
            whole.host, launching, loaded, thread, key, Asked(), recordings={}, in_place=True
        )
        outcome = Driver(whole.host, plan, path).run()
    finally:
        loader.close()
    assert outcome.status == "done", outcome.error
    assert head_of(path) == ([], whole.values)
    again = before + ran(whole.project)
    most = 2 if waiting else 1
    assert all(4 <= count < 4 + most for count in again.values()), (again, waiting)
