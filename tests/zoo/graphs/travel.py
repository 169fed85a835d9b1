"""Time travel as LangGraph does it in place: updates, replays, new input at old checkpoints."""

from __future__ import annotations

from typing import Any

from langgraph.errors import InvalidUpdateError
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, StateUpdate

from zoo.graphs.flow import State, counter, step
from zoo.graphs.nested import ask, line
from zoo.run import Run


def forking(router: Any = lambda s: f"c_{s['path']}") -> Any:
    """a → b → (c_main | c_alt by `path`) → d."""
    g = StateGraph(State)
    for name in ("a", "b", "c_main", "c_alt", "d"):
        g.add_node(name, step(name))
    g.add_edge(START, "a")
    g.add_edge("a", "b")
    g.add_conditional_edges("b", router, ["c_main", "c_alt"])
    g.add_edge("c_main", "d")
    g.add_edge("c_alt", "d")
    return g.compile()


def mended(run: Run) -> None:
    """Between two inputs of a thread the code of its router changes: it goes elsewhere; it fails
    where it did not."""
    for suffix, later in (
        ("elsewhere", lambda s: "c_alt"),
        ("fails", lambda s: {"alt": "c_alt"}[s["path"]]),
    ):
        run.go(forking(), {"path": "main"}, run.thread(suffix))
        run.go(forking(later), {"path": "alt"}, run.thread(suffix))


def fork_update(run: Run) -> None:
    """update_state at an old checkpoint: the other route is taken; without and with as_node."""
    graph = forking()
    run.go(graph, {"path": "main"}, run.thread())
    old = run.at(graph, run.thread(), "c_main")
    made = run.update(graph, old, {"path": "alt"}, as_node="b")
    run.go(graph, None, made)
    made = run.update(graph, old, {"log": ["by hand"]})
    run.go(graph, None, made)
    run.update(graph, run.at(graph, run.thread(), "a"), {"path": "alt"})


def update_head(run: Run) -> None:
    """update_state at the head: at a finished one, a pending one, on a thread that is new."""
    graph = forking()
    run.update(graph, run.thread("seeded"), {"path": "main", "log": ["seed"]}, as_node="__start__")
    run.update(graph, run.thread("seeded"), {"log": ["again"]}, as_node="a")
    run.go(graph, None, run.thread("seeded"))
    run.go(graph, {"path": "main"}, run.thread())
    run.update(graph, run.thread(), {"path": "alt"}, as_node="b")
    run.go(graph, None, run.thread())
    run.update(graph, run.thread(), {"log": ["end"]})
    paused = {"interrupt_before": ["c_main", "c_alt"]}
    run.go(graph, {"path": "main"}, run.thread("pending"), **paused)
    run.update(graph, run.thread("pending"), {"path": "alt"})
    run.go(graph, None, run.thread("pending"))


def update_as(run: Run) -> None:
    """The special nodes: copy, input, start, END."""
    graph = forking()
    run.go(graph, {"path": "main"}, run.thread())
    old = run.at(graph, run.thread(), "c_main")
    run.update(graph, old, None, as_node="__copy__")
    run.go(graph, None, run.thread())
    run.update(graph, old, {"path": "alt"}, as_node="__input__")
    run.go(graph, None, run.thread())
    run.update(graph, old, None, as_node=END)
    first = run.at(graph, run.thread(), "__start__")
    run.update(graph, first, {"path": "alt"}, as_node="__start__")
    graph.bulk_update_state(
        run.thread(),
        [[StateUpdate({"log": ["1"]}, "a")], [StateUpdate({"log": ["2"]}, "b")]],
    )
    run.update(graph, old, [({"log": ["copied"]}, "c_main")], as_node="__copy__")


def update_parallel(run: Run) -> None:
    """After parallel nodes `as_node` must be given; several updates in one step."""
    g = StateGraph(State)
    for name in ("a", "p", "q", "z"):
        g.add_node(name, step(name))
    g.add_edge(START, "a")
    g.add_edge("a", "p")
    g.add_edge("a", "q")
    g.add_edge(["p", "q"], "z")
    graph = g.compile()
    run.go(graph, {"n": 0}, run.thread())
    old = run.at(graph, run.thread(), "z")
    try:
        run.update(graph, old, {"n": 1})
    except InvalidUpdateError:
        pass
    run.update(graph, old, {"n": 1}, as_node="p")
    before = run.at(graph, run.thread(), "p", "q")
    graph.bulk_update_state(before, [[StateUpdate({"log": [x]}, x) for x in "pq"]])
    run.go(graph, None, run.thread())
    # Three at once where one of them is due, at the head: their writes are kept.
    run.go(graph, {"n": 0}, run.thread("head"), interrupt_before=["z"])
    graph.bulk_update_state(run.thread("head"), [[StateUpdate({"log": [x]}, x) for x in "pqz"]])
    run.go(graph, {"n": 0}, run.thread("head"), interrupt_before=["z"])
    graph.bulk_update_state(run.thread("head"), [[StateUpdate({"log": [x]}, x) for x in "pq"]])


def replay(run: Run) -> None:
    """Replayed twice at one checkpoint, at a finished one, and at the input."""
    graph = forking()
    run.go(graph, {"path": "main"}, run.thread())
    old = run.at(graph, run.thread(), "b")
    run.go(graph, None, old)
    run.go(graph, None, old)
    run.go(graph, None, run.at(graph, run.thread()))
    run.go(graph, None, run.at(graph, run.thread(), "__start__"))


def new_input(run: Run) -> None:
    """New input at an old checkpoint, in the middle and at an end; a goto at an old one."""
    graph = forking()
    run.go(graph, {"path": "main"}, run.thread())
    run.go(graph, {"path": "alt"}, run.thread())
    run.go(graph, {"path": "alt"}, run.at(graph, run.thread(), "c_main"))
    run.go(graph, {"path": "main"}, run.at(graph, run.thread()))
    run.go(graph, Command(goto="c_alt"), run.at(graph, run.thread(), "c_main"))


def answer_again(run: Run) -> None:
    """A question answered, then asked and answered again on a fork, and answered in place."""
    graph = line(("a", counter), ("ask", ask), ("b", step("b")))
    run.go(graph, {"n": 1}, run.thread())
    run.go(graph, Command(resume="A"), run.thread())
    old = run.at(graph, run.thread(), "ask")
    run.go(graph, None, old)
    run.go(graph, Command(resume="B"), run.thread())
    run.go(graph, Command(resume="C"), old)
    run.update(graph, old, {"n": 7}, as_node="a")
    run.go(graph, None, run.thread())


def travel_below(run: Run) -> None:
    """A sub-graph with a question: replayed from before it, and edited inside it."""
    sub = line(("x", step("x")), ("ask", ask), ("y", step("y")))
    graph = line(("pre", step("pre")), ("sub", sub), ("post", step("post")))
    run.go(graph, {"n": 1}, run.thread())
    below = graph.get_state(run.thread(), subgraphs=True).tasks[0].state.config
    run.update(graph, below, {"log": ["edited below"]}, as_node="x")
    run.go(graph, Command(resume="A"), run.thread())
    run.go(graph, None, run.at(graph, run.thread(), "sub"))
    run.go(graph, Command(resume="B"), run.thread())


def travel_stateful(run: Run) -> None:
    """A sub-graph with a memory of its own, replayed from an old turn."""
    sub: Any = line(("count", counter), ("note", step("note")), checkpointer=True)
    graph = line(("pre", step("pre")), ("sub", sub), ("post", step("post")))
    run.go(graph, {"n": 0}, run.thread())
    run.go(graph, {"n": 5}, run.thread())
    run.go(graph, None, run.at(graph, run.thread(), "sub"))
