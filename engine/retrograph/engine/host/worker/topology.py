"""The graph's topology: nodes, edges, and the state's channels with their types and reducers."""

from __future__ import annotations

import sys
import typing
from typing import Any

from . import edges

_INTERNAL = ("branch:", "join:", "start:", "__")


def described(graph: Any, xray: bool, config: dict[str, Any]) -> dict[str, Any]:
    """Nodes, edges and channels as plain data, and the Mermaid text of LangGraph itself."""
    drawn, routers = edges.drawing(graph, config, xray)
    deferred = _deferred(graph)
    inside = {name.split("|")[0] for name, _ in graph.get_subgraphs()}
    nodes = [
        {"name": name, "kind": _kind(name, inside), "deferred": name in deferred}
        for name in drawn.nodes
    ]
    leads = [
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
        "edges": leads,
        "ways": sorted(set(edges.ways(graph))),
        "routers": routers,
        "channels": channels(graph),
        "mermaid": mermaid,
    }


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
