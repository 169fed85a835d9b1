"""Cases from public bug reports, in a host: an edit inside a sub-graph that asks, and a state that
LangGraph itself can no longer load."""

from __future__ import annotations

from pathlib import Path

from hosting import OWN, hosted, plan_of, typed
from hosting.replays import thread_in
from retrograph.engine.edits.plan import Asked as Edits
from retrograph.engine.host.client import Host
from retrograph.engine.host.requests import Begin, Loaded, run
from retrograph.engine.model import ROOT, CheckpointKey
from retrograph.engine.replay.asked import Asked
from retrograph.engine.replay.driving import Driver, Outcome
from retrograph.engine.replay.forking import Fork, make_fork, preview_fork
from retrograph.engine.replay.plan import plan_replay
from retrograph.engine.thread import Thread
from retrograph.engine.values import to_json

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
