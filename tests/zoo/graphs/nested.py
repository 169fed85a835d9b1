"""Graphs inside graphs."""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

from zoo.graphs.flow import State, counter, step
from zoo.run import Run


def ask(state: State) -> dict[str, Any]:
    return {"log": [f"answer {interrupt({'how many': state.get('n')})}"]}


def line(*nodes: tuple[str, Any], **compile_with: Any) -> Any:
    """A graph whose nodes run one after the other."""
    g = StateGraph(State)
    before = START
    for name, node in nodes:
        g.add_node(name, node)
        g.add_edge(before, name)
        before = name
    return g.compile(**compile_with)


def two_deep(run: Run) -> None:
    low = line(("ask", ask), ("low", step("low")))
    mid = line(("before", step("before")), ("inner", low), ("after", step("after")))
    top = line(("first", step("first")), ("mid", mid), ("last", step("last")))
    run.go(top, {"n": 2}, run.thread("pending"))
    run.go(top, {"n": 2}, run.thread())
    run.go(top, Command(resume="five"), run.thread())
    run.go(top, {"n": 3}, run.thread())
    run.go(top, Command(resume="six"), run.thread())


def called(run: Run) -> None:
    """A sub-graph called inside a node function, once and twice in one node."""
    low = line(("ask", ask), ("low", step("low")))
    plain = line(("x", step("x")), ("y", step("y")))

    def calls(state: State) -> dict[str, Any]:
        return {"log": low.invoke({"n": state["n"], "log": []})["log"]}

    def twice(state: State) -> dict[str, Any]:
        first = plain.invoke({"log": ["1"]})
        return {"log": first["log"] + plain.invoke({"log": ["2"]})["log"]}

    top = line(("calls", calls), ("twice", twice), ("last", step("last")))
    run.go(top, {"n": 1}, run.thread())
    run.go(top, Command(resume="yes"), run.thread())


def stateful(run: Run) -> None:
    """A sub-graph with a memory of its own (`checkpointer=True`), in a loop and over two turns."""
    inner = line(("count", counter), ("note", step("note")), checkpointer=True)
    g = StateGraph(State)
    g.add_node("sub", inner)
    g.add_node("check", step("check"))
    g.add_edge(START, "sub")
    g.add_edge("sub", "check")
    g.add_conditional_edges("check", lambda s: "sub" if s["n"] < 3 else END)
    graph = g.compile()
    run.go(graph, {"n": 0}, run.thread())
    run.go(graph, {"n": 2}, run.thread())


def to_parent(run: Run) -> None:
    def decide(state: State) -> Command[Any]:
        where = "left" if state["path"] == "l" else "right"
        return Command(graph=Command.PARENT, goto=where, update={"log": ["decide"]})

    inner = line(("before", step("before")), ("decide", decide))
    g = StateGraph(State)
    g.add_node("sub", inner, destinations=("left", "right"))
    for name in ("left", "right"):
        g.add_node(name, step(name))
    g.add_edge(START, "sub")
    g.add_edge("left", END)
    graph = g.compile()
    run.go(graph, {"path": "l"}, run.thread("left"))
    run.go(graph, {"path": "r"}, run.thread("right"))


def like_names(run: Run) -> None:
    """`parent` and `parent_two`, both with sub-graphs that ask (langgraph #6924)."""
    g = StateGraph(State)
    for name in ("parent", "parent_two"):
        g.add_node(name, line(("ask", ask), ("done", step(f"{name} done"))))
        g.add_edge(START, name)
    g.add_node("z", step("z"))
    g.add_edge(["parent", "parent_two"], "z")
    graph = g.compile()
    run.go(graph, {"log": ["in"]}, run.thread())
    first, second = run.questions(graph, run.thread())
    run.go(graph, Command(resume={second.id: "b"}), run.thread())
    run.go(graph, Command(resume={first.id: "a"}), run.thread())


def sent(run: Run) -> None:
    """One sub-graph, sent to three times at once."""
    inner = line(("x", step("x")), ("y", step("y")))
    g = StateGraph(State)
    g.add_node("plan", step("plan"))
    g.add_node("sub", inner)
    g.add_edge(START, "plan")
    g.add_conditional_edges(
        "plan", lambda s: [Send("sub", {"log": [f"{i}"]}) for i in range(3)], ["sub"]
    )
    run.go(g.compile(), {"n": 0}, run.thread())


def sub_fails(run: Run) -> None:
    """A sub-graph beside a finished node fails in its second node, then is mended."""
    broken = [True]

    def fail(state: State) -> dict[str, Any]:
        if broken:
            raise ValueError("inner trouble")
        return {"log": ["mended"]}

    inner = line(("ok", step("ok")), ("fail", fail))
    g = StateGraph(State)
    g.add_node("sub", inner)
    g.add_node("beside", step("beside"))
    g.add_edge(START, "sub")
    g.add_edge(START, "beside")
    graph = g.compile()
    run.go(graph, {"n": 0}, run.thread("left"), fails=ValueError)
    run.go(graph, {"n": 0}, run.thread(), fails=ValueError)
    broken.clear()
    run.go(graph, None, run.thread())
