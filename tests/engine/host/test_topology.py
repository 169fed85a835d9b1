"""The edges of graphs whose routers do not state where they lead, which LangGraph does not draw."""

from __future__ import annotations

from pathlib import Path

import pytest

from hosting import hosted
from retrograph.engine.host.requests import topology

GRAPHS = """
import functools
from typing import Literal, TypedDict
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

class State(TypedDict, total=False):
    n: int

def made(router, **stated):
    graph = StateGraph(State)
    for name in ("ask", "left", "right", "far"):
        graph.add_node(name, lambda state: {})
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", router, **stated)
    graph.add_edge("left", "far")
    graph.add_edge("far", END)
    return graph.compile()

def constants(state):
    "Goes right, says its text."
    return "left" if state["n"] else END

async def asynchronous(state):
    return [name for name in ("left", "right")]

def sends(state):
    return [Send("right", state) for _ in range(3)]

TARGETS = ["left"]
FAR = "far"

def by_global(state):
    return FAR

class Router:
    def __call__(self, state):
        return "right"

    def method(self, state):
        return "left"

def second(first, state):
    return "right"

def decorated(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)
    return inner

def closed(where):
    return lambda state: where

def annotated(state) -> Literal["left", "right"]:
    return "left"

named = made(constants)
sent = made(sends)
later = made(asynchronous)
held = made(by_global)
called = made(Router())
method = made(Router().method)
partial = made(functools.partial(second, 1))
wrapped = made(decorated(by_global))
closure = made(closed("left"))
dynamic = made(lambda state: TARGETS[state["n"]])
builtin = made({}.get)
stated = made(annotated)
mapped = made(lambda state: "on" if state["n"] else "off", path_map={"on": "right", "off": END})

outer = StateGraph(State)
outer.add_node("begin", lambda state: {})
outer.add_node("inner", made(lambda state: ["left", "right", "far"][state["n"]]))
outer.add_edge(START, "begin")
outer.add_conditional_edges("begin", lambda state: "inner" if state["n"] else END)
outer.add_edge("inner", END)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("topology")
    (made / "routers.py").write_text(GRAPHS)
    return made


ANYWHERE = {"ask", "left", "right", "far", "END"}


@pytest.mark.parametrize(
    ("name", "ends", "known"),
    [
        ("named", {"left", "END"}, True),
        ("sent", {"right"}, True),
        ("later", {"left", "right"}, True),
        ("held", {"far"}, True),
        ("called", {"right"}, True),
        ("method", {"left"}, True),
        ("partial", {"right"}, True),
        ("wrapped", {"far"}, True),
        ("closure", {"left"}, True),
        ("dynamic", ANYWHERE, False),
        ("builtin", ANYWHERE, False),
        ("stated", {"left", "right"}, None),
        ("mapped", {"right", "END"}, None),
    ],
)
def test_where_a_router_leads(folder: Path, name: str, ends: set[str], known: bool | None) -> None:
    with hosted(folder, f"routers.py:{name}") as (host, _):
        found = topology(host)
    leads = {
        edge.target.replace("__end__", "END"): edge.conditional
        for edge in found.edges
        if edge.source == "ask"
    }
    assert leads == dict.fromkeys(ends, True)
    assert found.routers == ({} if known is None else {"ask": known})
    # What only the router leads to has its own edges.
    edges = [(edge.source, edge.target, edge.conditional) for edge in found.edges]
    assert ("far", "__end__", False) in edges or not {"left", "far"} & ends
    assert (("left", "far", False) in edges) or "left" not in ends
    assert (("right", "__end__", False) in edges) == ("right" in ends)
    assert len(edges) == len(set(edges))


def test_on_every_langgraph(folder: Path, python: str) -> None:
    with hosted(folder, "routers.py:outer", python) as (host, _):
        closed, opened = topology(host), topology(host, xray=True)
    assert {(edge.source, edge.target, edge.conditional) for edge in closed.edges} == {
        ("__start__", "begin", False),
        ("begin", "inner", True),
        ("begin", "__end__", True),
        ("inner", "__end__", False),
    }
    assert closed.routers == {"begin": True}
    assert opened.routers == {"begin": True, "inner:ask": True}
    leads = {edge.target for edge in opened.edges if edge.source == "inner:ask"}
    assert leads == {"inner:left", "inner:right", "inner:far"}
    assert {edge.source for edge in opened.edges if edge.target == "inner:ask"} == {"begin"}
    assert "inner:ask -.-> inner:left" in opened.mermaid.replace("\\3a", ":")
