"""Shapes of control: loops, joins, deferred nodes, Sends, Commands, ends."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send

from zoo.run import Run


class State(TypedDict, total=False):
    n: int
    path: str
    log: Annotated[list[str], operator.add]


def step(name: str, **update: Any) -> Any:
    """A node that logs its name and sets what is given."""

    def node(state: Any) -> dict[str, Any]:
        return {"log": [name], **update}

    return node


def counter(state: State) -> dict[str, Any]:
    return {"n": state.get("n", 0) + 1, "log": [f"count {state.get('n', 0) + 1}"]}


def loop(run: Run) -> None:
    g = StateGraph(State)
    g.add_node("count", counter)
    g.add_node("check", step("check"))
    g.add_edge(START, "count")
    g.add_edge("count", "check")
    g.add_conditional_edges("check", lambda s: "count" if s["n"] < 3 else END)
    run.go(g.compile(), {"n": 0}, run.thread())


def branch(run: Run) -> None:
    g = StateGraph(State)
    for name in ("a", "b", "c_main", "c_alt", "d"):
        g.add_node(name, step(name))
    g.add_edge(START, "a")
    g.add_edge("a", "b")
    g.add_conditional_edges("b", lambda s: f"c_{s['path']}", ["c_main", "c_alt"])
    g.add_edge("c_main", "d")
    g.add_edge("c_alt", "d")
    graph = g.compile()
    run.go(graph, {"path": "main"}, run.thread("main"))
    run.go(graph, {"path": "alt"}, run.thread("alt"))


def join(run: Run) -> None:
    g = StateGraph(State)
    for name in ("a", "p", "q", "q2", "both", "z"):
        g.add_node(name, step(name))
    g.add_edge(START, "a")
    g.add_edge("a", "p")
    g.add_edge("a", "q")
    g.add_edge("q", "q2")
    g.add_edge(["p", "q2"], "both")
    g.add_edge("both", "z")
    run.go(g.compile(), {"n": 0}, run.thread())


def fan_in_loop(rounds: int) -> Any:
    """Two instant nodes joined, round after round."""
    g = StateGraph(State)
    g.add_node("fan", counter)
    for name in ("p", "q", "join"):
        g.add_node(name, step(name))
    g.add_edge(START, "fan")
    g.add_edge("fan", "p")
    g.add_edge("fan", "q")
    g.add_edge(["p", "q"], "join")
    g.add_conditional_edges("join", lambda s: "fan" if s["n"] < rounds else END)
    return g.compile()


def join_loop(run: Run) -> None:
    graph = fan_in_loop(3)
    run.go(graph, {"n": 0}, run.thread())
    run.go(graph, {"n": 1}, run.thread())


def uneven(rounds: int) -> Any:
    """A join of a short line and a long one, round after round: its set is shared by the
    checkpoints of several steps."""
    g = StateGraph(State)
    g.add_node("fan", counter)
    for name in ("p", "q1", "q2", "q3", "q4", "join"):
        g.add_node(name, step(name))
    for pair in ((START, "fan"), ("fan", "p"), ("fan", "q1"), ("q1", "q2"), ("q2", "q3")):
        g.add_edge(*pair)
    g.add_edge("q3", "q4")
    g.add_edge(["p", "q4"], "join")
    g.add_conditional_edges("join", lambda s: "fan" if s["n"] < rounds else END)
    return g.compile()


def race(run: Run) -> None:
    """Threads are made until asynchronous saving has corrupted some joins (langgraph #8748), at
    most 100 a graph. It is told by `next` alone, against a thread saved synchronously."""
    kept = run.durability
    for suffix, graph in (("even", fan_in_loop(4)), ("uneven", uneven(2))):
        true = run.thread(f"{suffix}-true")
        run.durability = "sync"
        run.go(graph, {"n": 0}, true)
        run.durability = kept
        right = [s.next for s in run.history(graph, true)]
        wrong = 0
        for i in range(100 if kept != "sync" else 1):
            thread = run.thread(f"{suffix}-{i}")
            run.go(graph, {"n": 0}, thread)
            wrong += [s.next for s in run.history(graph, thread)] != right
            if wrong >= 4:
                break


def deferred(run: Run) -> None:
    g = StateGraph(State)
    for name in ("a", "b", "c", "c2", "c3"):
        g.add_node(name, step(name))
    g.add_node("last", step("last"), defer=True)
    g.add_edge(START, "a")
    g.add_edge("a", "b")
    g.add_edge("a", "c")
    g.add_edge("c", "c2")
    g.add_edge("c2", "c3")
    g.add_edge("b", "last")
    g.add_edge("c3", "last")
    g.add_conditional_edges("last", lambda s: "a" if len(s["log"]) < 8 else END)
    run.go(g.compile(), {"n": 0}, run.thread())


def deferred_join(run: Run) -> None:
    g = StateGraph(State)
    for name in ("a", "b", "c", "slow", "slower"):
        g.add_node(name, step(name))
    g.add_node("both", step("both"), defer=True)
    g.add_edge(START, "a")
    g.add_edge("a", "b")
    g.add_edge("a", "c")
    g.add_edge("a", "slow")
    g.add_edge("slow", "slower")
    g.add_edge(["b", "c"], "both")
    g.add_conditional_edges("both", lambda s: "a" if len(s["log"]) < 8 else END)
    run.go(g.compile(), {"n": 0}, run.thread())


def sends(run: Run) -> None:
    def spread(state: State) -> list[Send]:
        return [Send("work", {"n": i}) for i in range(state["n"])]

    def work(state: State) -> dict[str, Any]:
        return {"log": [f"work {state['n']}"]}

    g = StateGraph(State)
    g.add_node("plan", step("plan"))
    g.add_node("work", work)
    g.add_node("collect", step("collect"))
    g.add_node("extra", step("extra"))
    g.add_edge(START, "plan")
    g.add_conditional_edges("plan", spread, ["work"])
    # The router sees what its own task was sent, so each of the three decides for itself.
    g.add_conditional_edges("work", lambda s: ["collect", "extra"] if len(s["log"]) else "collect")
    graph = g.compile()
    run.go(graph, {"n": 3}, run.thread())
    run.go(graph, {"n": 1}, run.thread())
    run.go(graph, {"n": 0}, run.thread("none"))


def mixed_sends(run: Run) -> None:
    def route(state: State) -> list[Any]:
        return [Send("work", {"n": 7, "path": "x" * 300}), "plain", Send("other", {"n": 8})]

    g = StateGraph(State)
    for name in ("plan", "work", "plain", "other"):
        g.add_node(name, step(name))
    g.add_edge(START, "plan")
    g.add_conditional_edges("plan", route, ["work", "plain", "other"])
    g.add_edge("work", "plain")
    run.go(g.compile(), {"n": 0}, run.thread())


def sends_given(run: Run) -> None:
    """A `Command` with Sends as input, where none and where others are pending: these are lost."""
    g = StateGraph(State)
    for name in ("plan", "work", "other", "collect"):
        g.add_node(name, step(name))
    g.add_edge(START, "plan")
    g.add_conditional_edges("plan", lambda s: [Send("work", {"n": i}) for i in range(3)], ["work"])
    g.add_edge("work", "collect")
    graph = g.compile()
    two = Command(goto=[Send("other", {"n": 1}), Send("collect", {"n": 2})])
    run.go(graph, {"n": 0}, run.thread())
    run.go(graph, two, run.thread())
    run.go(graph, Command(goto=["plan", Send("other", {"n": 3})]), run.thread())
    run.go(graph, {"n": 0}, run.thread("pending"), interrupt_before=["work"])
    run.go(graph, two, run.thread("pending"))


def siblings(run: Run) -> None:
    """A router, and one that sends, which decide on what the node beside theirs changes."""
    routed = StateGraph(State)
    for name in ("a", "p", "c_main", "c_alt"):
        routed.add_node(name, step(name))
    routed.add_node("q", step("q", path="alt"))
    routed.add_conditional_edges("p", lambda s: f"c_{s['path']}", ["c_main", "c_alt"])
    sent = StateGraph(State)
    for name in ("a", "p", "work"):
        sent.add_node(name, step(name))
    sent.add_node("q", step("q", n=7))
    sent.add_conditional_edges("p", lambda s: [Send("work", {"n": s["n"]})], ["work"])
    for suffix, g in (("routed", routed), ("sent", sent)):
        for pair in ((START, "a"), ("a", "p"), ("a", "q")):
            g.add_edge(*pair)
        run.go(g.compile(), {"path": "main", "n": 1}, run.thread(suffix))


def commands(run: Run) -> None:
    def lead(state: State) -> Command[Any]:
        n = state["n"]
        goto: Any = ["left", "right"] if n == 1 else [Send("left", {"n": 9}), "right"]
        return Command(update={"n": n + 1, "log": ["lead"]}, goto=goto if n else "right")

    def right(state: State) -> Command[Any]:
        return Command(goto="lead" if state["n"] < 3 else END)

    g = StateGraph(State)
    g.add_node("lead", lead, destinations=("left", "right"))
    g.add_node("left", step("left"))
    g.add_node("right", right, destinations=("lead", END))
    g.add_edge(START, "lead")
    run.go(g.compile(), {"n": 0}, run.thread())


def ends(run: Run) -> None:
    """No edges after the first node; a router to END; a router that leaves START; one edge a
    Command adds to."""
    bare = StateGraph(State)
    bare.add_node("only", step("only"))
    bare.set_entry_point("only")
    run.go(bare.compile(), {"n": 0}, run.thread("no-edges"))

    over = StateGraph(State)
    over.add_node("a", step("a"))
    over.add_edge(START, "a")
    over.add_conditional_edges("a", lambda s: END)
    run.go(over.compile(), {"n": 0}, run.thread("router-to-end"))

    start = StateGraph(State)
    for name in ("one", "two"):
        start.add_node(name, step(name))
        start.add_edge(name, END)
    start.add_conditional_edges(START, lambda s: s["path"], {"1": "one", "2": "two", "0": END})
    for path in "120":
        run.go(start.compile(), {"path": path}, run.thread(f"start-{path}"))

    both = StateGraph(State)
    both.add_node("a", lambda s: Command(goto="b", update={"log": ["a"]}), destinations=("b",))
    both.add_node("b", step("b"))
    both.add_node("c", lambda s: None)
    both.add_edge(START, "a")
    both.add_edge("a", "c")
    run.go(both.compile(), {"n": 0}, run.thread("command-and-edge"))


def limit(run: Run) -> None:
    """A recursion limit is hit, then the thread goes on, then it gets new input in the middle."""
    g = StateGraph(State)
    g.add_node("a", counter)
    g.add_node("b", step("b"))
    g.add_edge(START, "a")
    g.add_edge("a", "b")
    g.add_conditional_edges("b", lambda s: "a" if s["n"] % 5 else END)
    graph = g.compile()
    few = {**run.thread(), "recursion_limit": 3}
    run.go(graph, {"n": 0}, few, fails=GraphRecursionError)
    run.go(graph, None, few, fails=GraphRecursionError)
    run.go(graph, {"n": 3}, few, fails=GraphRecursionError)
    run.go(graph, None, run.thread())
