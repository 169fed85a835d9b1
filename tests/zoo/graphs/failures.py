"""Errors, retries, handlers, caches, and a process that is killed."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

import langgraph.errors
from langgraph.cache.memory import InMemoryCache
from langgraph.graph import END, START, StateGraph
from langgraph.types import CachePolicy, Command, RetryPolicy

from zoo.graphs.flow import State, counter, step
from zoo.graphs.nested import line
from zoo.graphs.questions import parallel
from zoo.run import Run

if TYPE_CHECKING:
    from langgraph.errors import NodeError
else:  # not in every LangGraph
    NodeError = getattr(langgraph.errors, "NodeError", None)


def error(run: Run) -> None:
    """A node raises; another thread is mended and goes on."""
    broken = [True]

    def fail(state: State) -> dict[str, Any]:
        if broken:
            raise ValueError("card declined", 402)
        return {"log": ["mended"]}

    graph = line(("a", step("a")), ("fail", fail), ("b", step("b")))
    run.go(graph, {"n": 0}, run.thread("left"), fails=ValueError)
    run.go(graph, {"n": 0}, run.thread("new-input"), fails=ValueError)
    run.go(graph, {"n": 0}, run.thread(), fails=ValueError)
    broken.clear()
    run.go(graph, None, run.thread())
    run.go(graph, {"n": 1}, run.thread("new-input"))


def error_beside(run: Run) -> None:
    """A node raises after its sibling finished, or before."""
    done, broken = threading.Event(), [True]

    def fail(state: State) -> dict[str, Any]:
        if state["path"] == "late":
            done.wait(5)
        if broken:
            raise KeyError("stock")
        return {"log": ["mended"]}

    def sibling(state: State) -> dict[str, Any]:
        return {"log": ["sibling"]}

    def slow(state: State) -> dict[str, Any]:
        done.set()
        return {"log": ["slow"], "path": "slow"}

    graph = parallel(fail=fail, sibling=sibling, slow=slow)
    run.go(graph, {"path": "late"}, run.thread("late"), fails=KeyError)
    run.go(graph, {"path": "early"}, run.thread("early"), fails=KeyError)
    broken.clear()
    run.go(graph, None, run.thread("late"))


def retry(run: Run) -> None:
    tries = []

    def flaky(state: State) -> dict[str, Any]:
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError("again")
        return {"log": [f"try {len(tries)}"]}

    g = StateGraph(State)
    policy = RetryPolicy(initial_interval=0.0, jitter=False, max_attempts=3)
    g.add_node("flaky", flaky, retry_policy=policy)
    g.add_edge(START, "flaky")
    run.go(g.compile(), {"n": 0}, run.thread())


def handler(run: Run) -> None:
    """A node's own error handler, one that goes elsewhere, and a failing sibling without one."""

    def fail(state: State) -> dict[str, Any]:
        raise ValueError(f"bad {state['path']}")

    def recover(state: State, error: NodeError) -> Command[Any] | dict[str, Any]:
        update = {"log": [f"recovered {error.node}"]}
        return Command(update=update, goto="other") if state["path"] == "goto" else update

    def build(**more: Any) -> Any:
        g = StateGraph(State)
        g.add_node("a", step("a"))
        g.add_node("fail", fail, error_handler=recover)
        for name, node in {"beside": step("beside"), **more}.items():
            g.add_node(name, node)
            g.add_edge("a", name)
        g.add_node("next", step("next"))
        g.add_node("other", step("other"))
        g.add_edge(START, "a")
        g.add_edge("a", "fail")
        g.add_edge("fail", "next")
        return g.compile()

    run.go(build(), {"path": "plain"}, run.thread("plain"))
    run.go(build(), {"path": "goto"}, run.thread("goto"))
    run.go(build(worse=fail), {"path": "worse"}, run.thread("worse"), fails=ValueError)


def cached(run: Run) -> None:
    """Nodes with a cache: the second thread and the second turn take their output from it."""
    g = StateGraph(State)
    policy: Any = CachePolicy(key_func=lambda state: str(state.get("path")))
    for name in ("a", "b"):
        g.add_node(name, step(name), cache_policy=policy)
        g.add_edge(START, name)
    g.add_node("count", counter)
    g.add_edge(["a", "b"], "count")
    g.add_conditional_edges("count", lambda s: "again" if s["n"] < 2 else END)
    g.add_node("again", step("again"), cache_policy=policy)
    g.add_edge("again", "count")
    graph = g.compile(cache=InMemoryCache())
    run.go(graph, {"path": "x", "n": 0}, run.thread("first"))
    run.go(graph, {"path": "x", "n": 0}, run.thread("second"))
    run.go(graph, {"path": "x", "n": 0}, run.thread("second"))


def _fatal(state: State) -> dict[str, Any]:
    if state["path"] == "die":
        threading.Event().wait(0.1)  # long enough for what came before to be saved
        os._exit(0)
    return {"log": ["survived"], "path": "lived"}


def killed(run: Run) -> None:
    """Killed inside the third of four nodes."""
    nodes = [("step1", step("step1")), ("step2", step("step2")), ("step3", _fatal)]
    graph = line(*nodes, ("step4", step("step4")))
    run.to_death(graph, {"path": "die"}, run.thread())


def killed_beside(run: Run) -> None:
    """Killed in a sub-graph while a node beside it had finished."""
    finished = threading.Event()

    def sibling(state: State) -> dict[str, Any]:
        finished.set()
        return {"log": ["sibling"]}

    def fatal(state: State) -> dict[str, Any]:
        finished.wait(5)
        return _fatal(state)

    inner = line(("ok", step("ok")), ("fatal", fatal))
    graph = parallel(sub=inner, sibling=sibling)
    run.to_death(graph, {"path": "die"}, run.thread())
