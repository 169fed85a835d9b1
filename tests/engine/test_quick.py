"""Steps proven by writes alone equal those that are read from the checkpoints themselves."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from retrograph.engine import thread as engine_thread
from retrograph.engine.model import Envelope, Loader, ThreadQuery
from retrograph.engine.steps.step import Step
from retrograph.engine.thread import Thread
from retrograph.engine.threads.quick import proven_steps, quick_walk
from retrograph.loaders.registry import open_source
from zoo import Store

FORMATS = Path(__file__).parent.parent / "data" / "formats"


def opened(path: Path) -> Iterator[Loader]:
    loader = open_source(str(path))
    yield loader
    loader.close()


@pytest.fixture(scope="module")
def zoo(zoo_store: Store) -> Iterator[Loader]:
    yield from opened(zoo_store.path)


@pytest.fixture(params=sorted(p.name for p in FORMATS.glob("*.db")))
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Loader]:
    shutil.copy(FORMATS / request.param, tmp_path / "store.db")
    yield from opened(tmp_path / "store.db")


def compare(loader: Loader) -> int:
    """Compares every namespace of every thread; returns how many steps were proven."""
    proven = 0
    for row in loader.threads(ThreadQuery(limit=None)):
        thread = Thread(loader, row.thread_id)
        for ns in thread.history.namespaces():
            whole = {i: (envelope, step) for i, envelope, step in thread.walk(ns)}
            quick = proven_steps(thread, ns)
            assert quick == {i: whole[i][1] for i in quick}, (row.thread_id, ns)
            proven += len(quick)
            walked = {i: told(envelope, step) for i, envelope, step in quick_walk(thread, ns)}
            assert walked == {i: told(*found) for i, found in whole.items()}, (row.thread_id, ns)
            full = quick_walk(thread, ns, metadata=True)
            assert {i: envelope.metadata for i, envelope, _ in full} == {
                i: envelope.metadata for i, (envelope, _) in whole.items()
            }
    return proven


def told(envelope: Envelope, step: Step) -> tuple[Any, ...]:
    return envelope.id, envelope.parent_id, envelope.source, envelope.step, step


def test_the_zoo(zoo: Loader) -> None:
    assert compare(zoo) > 100


def test_old_stores(old: Loader) -> None:
    compare(old)


def test_large_neighbours_are_not_read(zoo: Loader, monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot among large checkpoints says the same of its step."""
    monkeypatch.setattr(engine_thread, "_LARGE", -1)
    for row in zoo.threads(ThreadQuery(limit=None)):
        thread = Thread(zoo, row.thread_id)
        for i, envelope, step in thread.walk():
            found = thread.snapshot(thread.history.ns(i), thread.history.ids[i])
            assert found.envelope == envelope
            assert without_ids(found.step) == without_ids(step), (row.thread_id, i)


def without_ids(step: Step) -> Step:
    """Ids of tasks that left no writes are computed for a snapshot only."""
    return replace(step, tasks=tuple(replace(task, id=None) for task in step.tasks))


class State(TypedDict, total=False):
    n: int


def chain() -> Any:
    """a → b → c → d"""
    builder = StateGraph(State)
    for before, node in pairwise((START, "a", "b", "c", "d")):
        builder.add_node(node, lambda state: {"n": state["n"] + 1})
        builder.add_edge(before, node)
    return builder


def spin() -> Any:
    """a → a → a …, ten times"""
    builder = StateGraph(State)
    builder.add_node("a", lambda state: {"n": state["n"] + 1})
    builder.add_edge(START, "a")
    builder.add_conditional_edges("a", lambda state: "a" if state["n"] < 10 else END)
    return builder


def go_on(graph: Any, config: Any, at: Any) -> None:
    graph.invoke(None, config)


def copy(graph: Any, config: Any, at: Any) -> None:
    graph.invoke(None, at)


def edit(graph: Any, config: Any, at: Any) -> None:
    graph.invoke(None, graph.update_state(at, {"n": 5}))


def edit_head(graph: Any, config: Any, at: Any) -> None:
    graph.update_state(config, {"n": 5}, as_node="a")
    graph.invoke(None, config)


def new_input(graph: Any, config: Any, at: Any) -> None:
    graph.invoke({"n": 5}, config)


@pytest.mark.parametrize("then", [go_on, copy, edit, edit_head, new_input])
@pytest.mark.parametrize("build", [chain, spin])
def test_a_crash_between_the_writes_and_the_checkpoint(
    build: Callable[[], Any], then: Callable[..., None], tmp_path: Path
) -> None:
    """Everything due has left its writes, and the next checkpoint was never made: the one moment
    at which the writes alone could mislead about what comes next."""
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        graph = build().compile(checkpointer=SqliteSaver(connection))
        config = {"configurable": {"thread_id": "t"}}
        graph.invoke({"n": 0}, config, durability="sync")
        cut = list(graph.get_state_history(config))[-4].config
        here = (cut["configurable"]["checkpoint_id"],)
        for table in ("checkpoints", "writes"):
            connection.execute(f"delete from {table} where checkpoint_id > ?", here)
        connection.commit()
        then(graph, config, cut)
    for loader in opened(path):
        compare(loader)
