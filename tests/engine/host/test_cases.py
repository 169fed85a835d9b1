"""Cases from public bug reports, in a host."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hosting import OWN, VERSIONS, hosted, plan_of, python_of, typed
from hosting.replays import thread_in
from retrograph.engine.edits.plan import Asked as Edits
from retrograph.engine.host.client import Host
from retrograph.engine.host.requests import Begin, Loaded, run
from retrograph.engine.model import ROOT, CheckpointKey
from retrograph.engine.replay.asked import Asked
from retrograph.engine.replay.driving import Driver, Outcome
from retrograph.engine.replay.forking import Fork, make_fork, preview_fork
from retrograph.engine.replay.plan import plan_replay
from retrograph.engine.sandbox.make import make_sandbox
from retrograph.engine.thread import Thread
from retrograph.engine.threads.status import describe
from retrograph.engine.values import to_json
from retrograph.loaders.registry import open_source

ASKS = """
import operator
from typing import Annotated, TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

class State(TypedDict, total=False):
    n: int
    log: Annotated[list[str], operator.add]

inner = StateGraph(State)
inner.add_node("x", lambda s: {"log": ["x"]})
inner.add_node("ask", lambda s: {"log": [f"{interrupt('how many?')} of {s['n']}"]})
inner.add_edge(START, "x")
inner.add_edge("x", "ask")
g = StateGraph(State)
g.add_node("pre", lambda s: {"log": ["pre"]})
g.add_node("sub", inner.compile())
g.add_node("post", lambda s: {"log": ["post"]})
g.add_edge(START, "pre")
g.add_edge("pre", "sub")
g.add_edge("sub", "post")
graph = g.compile()
"""
PLAIN = """
import operator
from typing import Annotated, TypedDict
from langgraph.graph import START, StateGraph

class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]

g = StateGraph(State)
g.add_node("a", lambda s: {"log": ["a"]})
g.add_node("b", lambda s: {"log": ["b"]})
g.add_edge(START, "a")
g.add_edge("a", "b")
graph = g.compile()
"""
REPLAYS = """
if __name__ == "__main__":
    from langgraph.checkpoint.sqlite import SqliteSaver

    config = {"configurable": {"thread_id": "t"}}
    with SqliteSaver.from_conn_string("store.db") as saver:
        graph = g.compile(checkpointer=saver)
        graph.invoke({"log": []}, config)
        [before] = [s.config for s in graph.get_state_history(config) if s.next == ("b",)]
        graph.invoke(None, before)
        graph.invoke(None, before)
"""
TWICE = """
import operator
from typing import Annotated, TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]

def asks(state):
    return {"log": [interrupt("first?") + interrupt("second?")]}

g = StateGraph(State)
g.add_node("a", lambda s: {"log": ["a"]})
g.add_node("asks", asks)
g.add_edge(START, "a")
g.add_edge("a", "asks")
graph = g.compile()
"""
WAITS = """
import asyncio
import operator
from typing import Annotated, TypedDict
from langgraph.graph import START, StateGraph

class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]

async def a(state):
    await asyncio.sleep(0)
    return {"log": ["a"]}

async def b(state):
    await asyncio.sleep(0)
    return {"log": ["b"]}

g = StateGraph(State)
g.add_node("a", a)
g.add_node("b", b)
g.add_edge(START, "a")
g.add_edge("a", "b")
graph = g.compile()
"""
REFUSES = """
from langgraph.graph import START, StateGraph
from pydantic import BaseModel, field_validator

class Basket(BaseModel):
    count: int = 0
    total: float = 0.0

    @field_validator("count")
    @classmethod
    def some(cls, value):
        if value > 10:
            raise ValueError("at most ten")
        return value

g = StateGraph(Basket)
g.add_node("fill", lambda s: {"count": 99})
g.add_node("price", lambda s: {"total": 2.5 * s.count})
g.add_edge(START, "fill")
g.add_edge("fill", "price")
graph = g.compile()
"""


def forked(
    host: Host, loaded: Loaded, thread: Thread, key: CheckpointKey, edit: str, folder: Path,
    *begins: Begin,
) -> tuple[Fork, Outcome, Path]:  # fmt: skip
    """A fork that was made and run; `begins` after the first run: each once it has asked."""
    fork = preview_fork(host, thread, key, Edits((edit,)))
    made = make_fork(thread, fork, thread.loader.location, folder=folder)
    with thread_in(made.path, "t") as sandbox:
        plan = plan_replay(
            host,
            plan_of(folder, "agent.py:graph", OWN),
            loaded,
            sandbox,
            CheckpointKey("t", key.ns, fork.preview.row.id),
            Asked(),
            recordings={},
            in_place=True,
        )
    outcome = Driver(host, plan, made.path).run(plan.begin, *begins)
    return fork, outcome, made.path


def values(path: Path) -> dict[str, object]:
    with thread_in(path, "t") as thread:
        snapshot = thread.snapshot(ROOT, thread.history.ids[thread.history.head()])
        return {name: to_json(value) for name, value in snapshot.values.items()}


def test_an_edit_below_is_kept_and_asked_about_again(tmp_path: Path) -> None:
    """langgraph #7498, #8458: at the question of a sub-graph, then answered."""
    (tmp_path / "agent.py").write_text(ASKS)
    with hosted(tmp_path, "agent.py:graph") as (host, loaded):
        store = tmp_path / "store.db"
        for begin in (Begin("input", typed({"n": 1})), Begin("resume", typed("one"))):
            with run(host, store, "t", begin) as job:
                list(job)
        with thread_in(store, "t") as thread:
            ns = next(ns for ns in thread.history.namespaces() if ns != ROOT)
            below = next(
                thread.history.ids[i] for i, _, step in thread.walk(ns) if step.next == ("ask",)
            )
            key = CheckpointKey("t", ns, below)
            answer = Begin("resume", typed("two"))
            fork, outcome, path = forked(host, loaded, thread, key, "n=7", tmp_path, answer)
    assert (fork.next_before, fork.next) == (["ask"], ["ask"])
    assert outcome.status == "done", outcome.error
    assert "x" not in [r.node for r in outcome.ran]
    assert values(path)["log"] == ["pre", "pre", "x", "two of 7", "post"]
    assert values(store)["log"] == ["pre", "pre", "x", "one of 1", "post"]


def test_a_value_that_the_state_refuses_is_put_right(tmp_path: Path) -> None:
    """langgraph #6491: LangGraph can no longer load the thread."""
    (tmp_path / "agent.py").write_text(REFUSES)
    with hosted(tmp_path, "agent.py:graph") as (host, loaded):
        store = tmp_path / "store.db"
        with run(host, store, "t", Begin("input", typed({"count": 1}))) as job:
            list(job)
        assert "at most ten" in job.reply["error"]["sentence"]
        assert values(store)["count"] == 99
        with thread_in(store, "t") as thread:
            key = CheckpointKey("t", ROOT, thread.history.ids[thread.history.head()])
            fork, outcome, path = forked(host, loaded, thread, key, "count=4", tmp_path)
    assert fork.next == ["price"]
    assert outcome.status == "done", outcome.error
    assert values(path)["total"] == 10.0


def replayed(
    host: Host, loaded: Loaded, thread: Thread, at: str, folder: Path, *begins: Begin
) -> tuple[Outcome, Path]:
    """The thread run on from a checkpoint of its root graph, in a sandbox; then `begins`."""
    launch = plan_of(folder, "agent.py:graph", OWN)
    key = CheckpointKey("t", ROOT, at)
    plan = plan_replay(host, launch, loaded, thread, key, Asked(), recordings={})
    assert plan.closure is not None
    made = make_sandbox(thread, plan.closure, thread.loader.location, folder=folder)
    return Driver(host, plan, made.path).run(plan.begin, *begins), made.path


def at_next(thread: Thread, *due: str) -> list[str]:
    """Ids of the root graph's checkpoints where these are due, oldest first."""
    return [thread.history.ids[i] for i, _, step in thread.walk(ROOT) if step.next == due]


def test_a_replay_from_before_a_sub_graph_asks_again(tmp_path: Path) -> None:
    """langgraph #7038, #6223: an answered question is not answered by itself."""
    (tmp_path / "agent.py").write_text(ASKS)
    with hosted(tmp_path, "agent.py:graph") as (host, loaded):
        store = tmp_path / "store.db"
        for begin in (Begin("input", typed({"n": 1})), Begin("resume", typed("one"))):
            with run(host, store, "t", begin) as job:
                list(job)
        with thread_in(store, "t") as thread:
            [before] = at_next(thread, "sub")
            asked, unanswered = replayed(host, loaded, thread, before, tmp_path)
        assert (asked.status, [r.node for r in asked.ran if r.node == "x"]) == (
            "interrupted",
            ["x"],
        )
        with thread_in(unanswered, "t") as thread:
            step = thread.step(ROOT, thread.history.ids[thread.history.head()])
            assert [(q.node, q.value, q.answered) for q in step.questions] == [
                ("sub", "how many?", False)
            ]
            # The rows of the sub-graph are those that were made now, under this very checkpoint.
            below = thread.owners()
            assert {thread.history.ids[owner] for owner in below.values()} == {before}
        with thread_in(store, "t") as thread:
            answer = Begin("resume", typed("two"))
            done, path = replayed(host, loaded, thread, before, tmp_path, answer)
    assert done.status == "done"
    assert values(path)["log"] == ["pre", "pre", "x", "two of 1", "post"]


def test_replays_of_one_checkpoint_are_siblings(tmp_path: Path) -> None:
    """langgraph #4987: after two replays by LangGraph itself nothing is lost, the newest is the
    head, and a third one runs on from the same place."""
    (tmp_path / "agent.py").write_text(PLAIN + REPLAYS)
    subprocess.run([sys.executable, "agent.py"], cwd=tmp_path, check=True)
    store = tmp_path / "store.db"
    with thread_in(store, "t") as thread:
        before, *copies = at_next(thread, "b")
        assert len(copies) == 2  # LangGraph begins a replay with a copy of the checkpoint
        history = thread.history
        [fork] = history.fork_points(ROOT)
        assert history.ids[fork] == before
        ends = [history.ids[i] for i in history.leaves(ROOT)]
        assert len(ends) == 3
        assert history.ids[history.head()] == max(ends)
        with hosted(tmp_path, "agent.py:graph") as (host, loaded):
            done, path = replayed(host, loaded, thread, before, tmp_path)
    assert (done.status, [r.node for r in done.ran]) == ("done", ["b"])
    assert values(path)["log"] == ["a", "b"]


def test_asynchronous_nodes(tmp_path: Path) -> None:
    """open-notebook #509: nodes that only run under asyncio."""
    (tmp_path / "agent.py").write_text(WAITS)
    with hosted(tmp_path, "agent.py:graph") as (host, loaded):
        assert loaded.asynchronous == "node 'a' is async"
        store = tmp_path / "store.db"
        with run(host, store, "t", Begin("input", typed({"log": []}))) as job:
            list(job)
        with thread_in(store, "t") as thread:
            [before] = at_next(thread, "b")
            done, path = replayed(host, loaded, thread, before, tmp_path)
    assert (done.status, done.asynchronous, [r.node for r in done.ran]) == ("done", True, ["b"])
    assert values(path)["log"] == ["a", "b"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_second_question_of_a_node(version: str, tmp_path: Path) -> None:
    """langgraph #6956: until 1.1 `next` of the snapshot is empty between two answers."""
    (tmp_path / "agent.py").write_text(TWICE)
    with hosted(tmp_path, "agent.py:graph", python_of(version)) as (host, _):
        store = tmp_path / "store.db"
        for begin in (Begin("input", typed({"log": []})), Begin("resume", typed("one, "))):
            with run(host, store, "t", begin) as job:
                list(job)
        loader = open_source(str(store))
        row = loader.thread("t")
        assert row is not None
        info = describe(loader, row)
        loader.close()
        assert (info.status, info.next) == ("interrupted", ("asks",))
        open_ones = [q.value for q in info.step.questions if not q.answered]
        assert open_ones == ["second?"]
        with run(host, store, "t", Begin("resume", typed("two"))) as job:
            list(job)
    assert values(store)["log"] == ["a", "one, two"]
