"""Interrupts: asked in nodes and set on graphs, answered and not."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from zoo.graphs.flow import State, step
from zoo.graphs.nested import ask, line
from zoo.run import Run


@dataclass
class Offer:
    """What an interrupt shows to a person."""

    item: str
    price: float


def asker(name: str, *questions: Any) -> Any:
    """A node that asks one question after the other and logs the answers."""

    def node(state: State) -> dict[str, Any]:
        return {"log": [f"{name}: {[interrupt(q) for q in questions]}"]}

    return node


def parallel(**nodes: Any) -> Any:
    g = StateGraph(State)
    for name, node in nodes.items():
        g.add_node(name, node)
        g.add_edge(START, name)
    g.add_node("z", step("z"))
    g.add_edge(list(nodes), "z")
    return g.compile()


def one_question(run: Run) -> None:
    graph = line(("a", step("a")), ("ask", asker("ask", Offer("tea", 2.5))), ("b", step("b")))
    run.go(graph, {"n": 0}, run.thread("open"))
    run.go(graph, {"n": 0}, run.thread())
    run.go(graph, Command(resume={"take": True}), run.thread())


def two_in_a_node(run: Run) -> None:
    """Two questions in one node: both open, the first answered, both answered."""
    graph = line(("ask", asker("ask", "first?", "second?")), ("b", step("b")))
    for suffix, answers in (("none", ()), ("one", ("1",)), ("both", ("1", "2"))):
        run.go(graph, {"n": 0}, run.thread(suffix))
        for answer in answers:
            run.go(graph, Command(resume=answer), run.thread(suffix))


def parallel_questions(run: Run) -> None:
    """Two parallel nodes with two questions each, some answered, by id (langgraph #5952)."""
    graph = parallel(p=asker("p", "p1", "p2"), q=asker("q", "q1", "q2"), r=step("r"))
    for suffix, rounds in (("none", 0), ("p1", 1), ("p1-p2", 2)):
        run.go(graph, {"n": 0}, run.thread(suffix))
        for i in range(rounds):
            first = sorted(run.questions(graph, run.thread(suffix)), key=lambda q: q.value)[0]
            run.go(graph, Command(resume={first.id: f"a{i}"}), run.thread(suffix))
    run.go(graph, {"n": 0}, run.thread("all"))
    while open_ones := run.questions(graph, run.thread("all")):
        run.go(graph, Command(resume={q.id: "all" for q in open_ones}), run.thread("all"))


def one_of_each(run: Run) -> None:
    """One node finishes, one fails, one asks, in one step; then an answer is given."""

    def fail(state: State) -> dict[str, Any]:
        time.sleep(0.05)  # the siblings come first
        raise RuntimeError("no luck")

    graph = parallel(ok=step("ok"), fail=fail, ask=ask)
    run.go(graph, {"n": 0}, run.thread(), fails=RuntimeError)
    run.go(graph, {"n": 0}, run.thread("answered"), fails=RuntimeError)
    run.go(graph, Command(resume="late"), run.thread("answered"), fails=RuntimeError)


def static(run: Run) -> None:
    """`interrupt_before` and `interrupt_after`, compiled in and given to a run."""
    nodes = [(name, step(name)) for name in "abc"]
    before = line(*nodes, interrupt_before=["b"])
    run.go(before, {"n": 0}, run.thread("before-waiting"))
    run.go(before, {"n": 0}, run.thread("before"))
    run.go(before, None, run.thread("before"))
    after = line(*nodes, interrupt_after=["b"])
    run.go(after, {"n": 0}, run.thread("after-waiting"))
    run.go(after, {"n": 0}, run.thread("after"))
    run.go(after, None, run.thread("after"))
    stepwise = line(*nodes)
    run.go(stepwise, {"n": 0}, run.thread("all"), interrupt_after="*")
    for _ in "abc":
        run.go(stepwise, None, run.thread("all"), interrupt_after="*")


def resume_with(run: Run) -> None:
    """`Command`s as input: an answer with an update, with a goto; a goto or an update alone."""
    g = StateGraph(State)
    g.add_node("ask", ask)
    for name in ("b", "other"):
        g.add_node(name, step(name))
    g.add_edge(START, "ask")
    g.add_edge("ask", "b")
    graph = g.compile()
    for suffix, command in (
        ("update", Command(resume="x", update={"path": "set", "log": ["by command"]})),
        ("goto", Command(resume="x", goto="other")),
        ("only-goto", Command(goto="other")),
        ("only-update", Command(update={"path": "set"})),
    ):
        run.go(graph, {"n": 1}, run.thread(suffix))
        run.go(graph, command, run.thread(suffix))
    run.go(graph, Command(resume="late"), run.thread("only-update"))
    run.go(graph, Command(goto="other"), run.thread("goto"))


def asked_below(run: Run) -> None:
    """Parallel sub-graphs that ask, and a node that asks beside them."""
    below = line(("ask", ask), ("more", asker("more", "and?")))
    graph = parallel(one=below, two=asker("two", "two?"))
    run.go(graph, {"n": 4}, run.thread("open"))
    run.go(graph, {"n": 4}, run.thread())
    answered: set[str] = set()  # until 1.1 LangGraph shows them as open
    while ids := [q.id for q in run.questions(graph, run.thread()) if q.id not in answered]:
        run.go(graph, Command(resume={ids[0]: "y"}), run.thread())
        answered.add(ids[0])
