"""Names that trick parsers, gaps in the history, an asynchronous saver."""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph

from zoo.graphs.flow import State, counter, fan_in_loop, step
from zoo.graphs.nested import ask, line
from zoo.run import Run

NAMES = ("a+b", "c d", "ünï ☕", "to_branch", "join", "branch", "1", "x~y", "with, comma", "@at#%")


def names(run: Run) -> None:
    """Nodes whose names look like parts of channel names and task paths, all joined."""
    g = StateGraph(State)
    for name in NAMES:
        g.add_node(name, step(name))
        g.add_edge(START, name)
    g.add_node("all of them", step("all"))
    g.add_edge(list(NAMES), "all of them")
    g.add_node("sub+graph", line(("in+ner", step("in")), ("ask?", ask)))
    g.add_edge("all of them", "sub+graph")
    run.go(g.compile(), {"n": 0}, run.thread())


def prefixes(run: Run) -> None:
    """`p` and `p+q` joined: which names a join is made of is not told by splitting at `+`."""
    g = StateGraph(State)
    for name in ("p", "p+q", "q", "z", "y"):
        g.add_node(name, step(name))
    for name in ("p", "p+q", "q"):
        g.add_edge(START, name)
    g.add_edge(["p", "q"], "z")
    g.add_edge(["p+q", "z"], "y")
    run.go(g.compile(), {"n": 0}, run.thread())


def exit_only(run: Run) -> None:
    """`durability="exit"`: one checkpoint a run, and gaps between them."""
    graph = line(*((name, step(name)) for name in "abcd"))
    for _ in range(3):
        run.go(graph, {"n": 0}, run.thread(), durability="exit")
    asks = line(("a", step("a")), ("ask", ask))
    run.go(asks, {"n": 1}, run.thread("asks"), durability="exit")


def configured(run: Run) -> None:
    """Metadata from the config, credentials among it; thread ids of every shape."""
    graph = line(("a", counter))
    config: Any = run.thread(user_id="42", authorization="Bearer s3cret")
    run.go(graph, {"n": 0}, {**config, "metadata": {"git": "abc", "x-api-key": "k"}, "tags": ["t"]})
    for thread_id in ("user-42:conv@home", "線程", "1", "a::b|c", "x" * 500):
        run.go(graph, {"n": 0}, {"configurable": {"thread_id": thread_id}})


async def asynchronous(run: Run) -> None:
    """AsyncSqliteSaver and asynchronous nodes."""

    async def wait(state: State) -> dict[str, Any]:
        return {"log": ["waited"], "n": state["n"] + 1}

    g = StateGraph(State)
    g.add_node("wait", wait)
    g.add_node("beside", step("beside"))
    g.add_node("z", step("z"))
    g.add_edge(START, "wait")
    g.add_edge(START, "beside")
    g.add_edge(["wait", "beside"], "z")
    g.add_conditional_edges("z", lambda s: ["wait", "beside"] if s["n"] < 2 else END)
    graph = g.compile()
    await run.ago(graph, {"n": 0}, run.thread())
    await run.ago(fan_in_loop(3), {"n": 0}, run.thread("join"))
