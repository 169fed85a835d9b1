"""The edges of a graph as it is defined, also those that LangGraph's own drawing leaves out.

LangGraph draws what it reaches from the start (`pregel/_draw.py`, the same in 0.6 to 1.2). A router
that does not state its ends leads nowhere there: its node is drawn as if the graph ended with it,
and what only that router leads to has no edges at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

from langchain_core.runnables.graph import Edge

END = "__end__"
_CALL = "__call__"


class Way(NamedTuple):
    """From a node to another one of its graph."""

    source: str
    target: str
    conditional: bool
    label: str | None = None


def ways(graph: Any) -> Iterator[tuple[str, str]]:
    """Where nodes may go, in sub-graphs too (`sub:node`); ends are left out."""
    for around, builder in _builders(graph):
        nodes = getattr(builder, "nodes", None) or {}
        for way in _stated(builder):
            if way.target != END and not (around and way.source == "__start__"):
                yield around + way.source, around + way.target
        for source, _ in _open(builder):
            for target in nodes:
                yield around + source, around + target


def drawing(graph: Any, config: dict[str, Any], xray: bool) -> tuple[Any, dict[str, bool]]:
    """LangGraph's drawing with what is missing in it; `xray` opens sub-graphs. And the nodes with a
    router that does not state its ends, with whether the edges drawn for it are those that its code
    names; else it may lead to any node."""
    drawn = graph.get_graph(config)
    builder = getattr(graph, "builder", None)
    told = {} if builder is None else _complete(builder, drawn)
    for name, inner in graph.get_subgraphs() if xray else ():
        opened, inside = drawing(inner, config, xray)
        if _put_in(drawn, name, opened):
            told |= {f"{name}:{node}": named for node, named in inside.items()}
    return drawn, told


def _put_in(drawn: Any, name: str, opened: Any) -> bool:
    """A sub-graph in place of its node, as LangGraph does it: where it begins and ends with one."""
    if name not in drawn.nodes or len(opened.nodes) < 2:
        return False
    if not (opened.first_node() and opened.last_node()):
        return False
    opened.trim_first_node()
    opened.trim_last_node()
    drawn.nodes.pop(name)
    first, last = drawn.extend(opened, prefix=name)
    for at, edge in enumerate(drawn.edges):
        if edge.source == name:
            edge = edge.copy(source=last.id)
        if edge.target == name:
            edge = edge.copy(target=first.id)
        drawn.edges[at] = edge
    return True


def _complete(builder: Any, drawn: Any) -> dict[str, bool]:
    told: dict[str, bool] = {}
    nodes = getattr(builder, "nodes", None) or {}
    defined = list(_stated(builder))
    for source, router in _open(builder):
        named = _named(router, {*nodes, END})
        told[source] = bool(named) and told.get(source, True)
        defined += [Way(source, target, True) for target in named or (*nodes, END)]
    have = {(edge.source, edge.target) for edge in drawn.edges}
    mended = {way.source for way in defined if way[:2] not in have} | set(told)
    # What leads nowhere LangGraph has lead to the end: not true of nodes that were mended, but of
    # those that are reached only now.
    drawn.edges[:] = [e for e in drawn.edges if e.target != END or e.source not in mended]
    have = {(edge.source, edge.target) for edge in drawn.edges}
    missing = {way[:2]: way for way in defined if way[:2] not in have}
    reached = {way.target for way in missing.values()} - {way.source for way in defined} - {END}
    reached -= {edge.source for edge in drawn.edges}
    missing |= {(node, END): Way(node, END, False) for node in sorted(reached)}
    if END not in drawn.nodes and any(way.target == END for way in missing.values()):
        drawn.add_node(None, END)
    drawn.edges += [
        Edge(way.source, way.target, way.label, way.conditional) for way in missing.values()
    ]
    return told


def _builders(graph: Any) -> Iterator[tuple[str, Any]]:
    """(what stands before the names of its nodes, builder) of a graph and its sub-graphs."""
    for ns, one in (("", graph), *graph.get_subgraphs(recurse=True)):
        builder = getattr(one, "builder", None)
        if builder is not None:
            yield f"{ns.replace('|', ':')}:" if ns else "", builder


def _stated(builder: Any) -> Iterator[Way]:
    for source, target in sorted(getattr(builder, "edges", None) or ()):
        yield Way(source, target, False)
    for sources, target in sorted(getattr(builder, "waiting_edges", None) or ()):
        for source in sources:
            yield Way(source, target, False)
    for source, routers in (getattr(builder, "branches", None) or {}).items():
        for router in routers.values():
            for key, target in (getattr(router, "ends", None) or {}).items():
                yield Way(source, target, True, None if key == target else str(key))
    for source, node in (getattr(builder, "nodes", None) or {}).items():
        for target in getattr(node, "ends", None) or ():
            yield Way(source, target, True)


def _open(builder: Any) -> Iterator[tuple[str, Any]]:
    """(node, its router) of the routers that do not state their ends."""
    for source, routers in (getattr(builder, "branches", None) or {}).items():
        for router in routers.values():
            if getattr(router, "ends", None) is None:
                yield source, router


def _named(router: Any, nodes: set[str]) -> list[str]:
    """The nodes that the code of a router names, as texts or by a global that holds one."""
    path = getattr(router, "path", None)
    found: dict[str, None] = {}
    for function in (getattr(path, "func", None), getattr(path, "afunc", None)):
        function = _plain(function)
        code = getattr(function, "__code__", None)
        if code is None:
            continue
        held = getattr(function, "__globals__", {})
        cells = [cell.cell_contents for cell in function.__closure__ or () if _filled(cell)]
        for value in (*_values(code, held), *cells):
            if isinstance(value, str) and value in nodes:
                found[value] = None
    return sorted(found, key=lambda name: (name == END, name))


def _plain(function: Any) -> Any:
    """A function under its decorators, `partial`s and bound methods; of an object, its call."""
    for _ in range(10):
        inner = getattr(function, "__wrapped__", None) or getattr(function, "__func__", None)
        if inner is None and not hasattr(function, "__code__"):
            inner = getattr(function, "func", None)
            if inner is None and function is not None:
                inner = getattr(type(function), _CALL, None)
        if inner is None or inner is function:
            break
        function = inner
    return function


def _values(code: CodeType, held: dict[str, Any]) -> Iterator[Any]:
    """Constants of the code and of what is defined in it, and the globals that it names."""
    for name in code.co_names:
        yield held.get(name)
    todo: list[Any] = list(code.co_consts)
    while todo:
        value = todo.pop()
        if isinstance(value, (tuple, frozenset)):
            todo += value
        elif isinstance(value, CodeType):
            yield from _values(value, held)
        else:
            yield value


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
