"""The graph's topology: nodes, edges, and the state's channels with their types and reducers."""

from __future__ import annotations

import sys
import typing
from collections.abc import Iterator
from typing import Any

_INTERNAL = ("branch:", "join:", "start:", "__")


def described(graph: Any, xray: bool, config: dict[str, Any]) -> dict[str, Any]:
    """Nodes, edges and channels as plain data, and the Mermaid text of LangGraph itself."""
    drawn = graph.get_graph(config, xray=xray)
    deferred = _deferred(graph)
    inside = {name.split("|")[0] for name, _ in graph.get_subgraphs()}
    nodes = [
        {"name": name, "kind": _kind(name, inside), "deferred": name in deferred}
        for name in drawn.nodes
    ]
    edges = [
        {
            "source": edge.source,
            "target": edge.target,
            "conditional": bool(edge.conditional),
            "label": None if edge.data is None else str(edge.data),
        }
        for edge in drawn.edges
    ]
    try:
        mermaid = drawn.draw_mermaid()
    except Exception:
        mermaid = ""
    return {
        "nodes": nodes,
        "edges": edges,
        "ways": sorted(set(_ways(graph))),
        "channels": channels(graph),
        "mermaid": mermaid,
    }


def _ways(graph: Any) -> Iterator[tuple[str, str]]:
    """Where nodes may go as the graphs are defined, in sub-graphs too (`sub:node`). LangGraph draws
    none of a router that does not state its ends, nor of the nodes that only such a one leads to.
    """
    for ns, one in (("", graph), *graph.get_subgraphs(recurse=True)):
        builder = getattr(one, "builder", None)
        if builder is None:
            continue
        around = f"{ns.replace('|', ':')}:" if ns else ""
        for source, target in _stated(builder):
            if target != "__end__" and not (around and source == "__start__"):
                yield around + source, around + target


def _stated(builder: Any) -> Iterator[tuple[str, str]]:
    """The same of one graph; a router without stated ends may lead to any node."""
    nodes = getattr(builder, "nodes", None) or {}
    yield from getattr(builder, "edges", None) or ()
    for sources, target in getattr(builder, "waiting_edges", None) or ():
        for source in sources:
            yield source, target
    for source, routers in (getattr(builder, "branches", None) or {}).items():
        for router in routers.values():
            ends = getattr(router, "ends", None)
            for target in nodes if ends is None else ends.values():
                yield source, target
    for source, node in nodes.items():
        for target in getattr(node, "ends", None) or ():
            yield source, target


def channels(graph: Any) -> list[dict[str, Any]]:
    """The channels of the state, without those that only LangGraph uses."""
    functional = "__previous__" in graph.channels
    inputs, outputs = _names(graph.input_channels), _names(graph.output_channels)
    schema = getattr(getattr(graph, "builder", None), "input_schema", None)
    inputs |= set(getattr(schema, "__annotations__", None) or ())
    nodes = set(graph.nodes)
    found = []
    for name, channel in graph.channels.items():
        if name in nodes or (name.startswith(_INTERNAL) and not functional):
            continue
        if name == "__pregel_tasks":
            continue
        found.append(
            {
                "name": name,
                "kind": type(channel).__name__,
                "type": _type(getattr(channel, "typ", None)),
                "reducer": _reducer(channel),
                "input": name in inputs,
                "output": name in outputs,
            }
        )
    return found


def _kind(name: str, subgraphs: set[str]) -> str:
    if name == "__start__":
        return "start"
    if name == "__end__":
        return "end"
    return "subgraph" if name in subgraphs else "node"


def _deferred(graph: Any) -> set[str]:
    nodes = getattr(getattr(graph, "builder", None), "nodes", None) or {}
    return {name for name, node in nodes.items() if getattr(node, "defer", False)}


def _names(stated: Any) -> set[str]:
    return {stated} if isinstance(stated, str) else set(stated or ())


def _type(annotated: Any) -> str:
    """A type as its author wrote it, without what `Annotated` adds."""
    if annotated is None or annotated is Any:
        return "Any"
    if annotated is type(None):
        return "None"
    if annotated is Ellipsis:
        return "..."
    messages = sys.modules.get("langchain_core.messages")
    if messages is not None and annotated == getattr(messages, "AnyMessage", None):
        return "AnyMessage"
    if hasattr(annotated, "__metadata__"):
        return _type(annotated.__origin__)
    origin, arguments = typing.get_origin(annotated), typing.get_args(annotated)
    if origin is None:
        return _class(annotated)
    if origin is typing.Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    if origin is typing.Union or getattr(origin, "__name__", "") in ("UnionType", "Union"):
        return " | ".join(map(_type, arguments))
    inside = [
        f"[{', '.join(map(_type, one))}]" if isinstance(one, list) else _type(one)
        for one in arguments
    ]
    return f"{_class(origin)}[{', '.join(inside)}]" if inside else _class(origin)


def _class(cls: Any) -> str:
    name = getattr(cls, "__qualname__", None)
    if name is None:
        return str(cls).replace("typing.", "")
    module = getattr(cls, "__module__", "builtins")
    return name if module in ("builtins", "typing") else f"{module}.{name}"


def _reducer(channel: Any) -> Any:
    function = getattr(channel, "operator", None) or getattr(channel, "reducer", None)
    if function is None:
        return None
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    if "<locals>." in name:  # what a decorator or a factory made, LangGraph's add_messages too
        made = name.rpartition(".")[2].lstrip("_")
        name = made if made.isidentifier() else name
    module = getattr(function, "__module__", None)
    return name if module in (None, "builtins") else f"{str(module).lstrip('_')}.{name}"
