"""A graph's topology: each node with where it leads, then the channels of the state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from retrograph.cli.output import Output
from retrograph.cli.paint import Column, Line, Span, spread, table
from retrograph.engine.host.requests import Edge, Loaded, Topology
from retrograph.engine.host.target import Launch
from retrograph.engine.text import escape

_ENDS = {"__start__": "START", "__end__": "END"}


def graph_shape(
    found: Topology, loaded: Loaded, versions: Mapping[str, Any], mermaid: bool
) -> dict[str, Any]:
    """What `graph --json` prints."""
    shape: dict[str, Any] = {
        "name": loaded.name,
        "nodes": [node._asdict() for node in found.nodes],
        "edges": [
            {
                "from": edge.source,
                "to": edge.target,
                "conditional": edge.conditional,
                "label": edge.label,
            }
            for edge in found.edges
        ],
        "channels": [channel._asdict() for channel in found.channels],
        "langgraph": versions["langgraph"],
        "python": versions["python"],
    }
    if mermaid:
        shape["mermaid"] = found.mermaid
    return shape


def mermaid_lines(found: Topology) -> Iterator[Line]:
    for text in found.mermaid.rstrip().splitlines():
        yield [Span(escape(text.expandtabs(4)))]  # a tab would be shown as one


def graph_lines(
    found: Topology, plan: Launch, versions: Mapping[str, Any], out: Output
) -> Iterator[Line]:
    """Everything that `graph` prints for people."""
    if out.terminal:
        yield spread(
            [Span(escape(plan.target.shown), "strong")],
            [Span(f"langgraph {versions['langgraph']} · python {versions['python']}", "dim")],
            out.page,
        )
        yield []
    kinds = {node.name: node for node in found.nodes}
    rows: list[list[Line]] = []
    for node in found.nodes:
        edges = [edge for edge in found.edges if edge.source == node.name]
        if node.kind == "end" or (node.kind == "start" and not edges):
            continue
        marks = ["sub-graph"] * (node.kind == "subgraph") + ["deferred"] * node.deferred
        rows.append(
            [
                [Span(_name(node.name), "strong")],
                _leads(edges),
                [Span(", ".join(marks), "dim")],
            ]
        )
    yield from table(
        [Column("node"), Column("leads to", flexible=True), Column("")], rows, out.width
    )
    yield from _guesses(found)
    known = [channel for channel in found.channels if channel.name not in kinds]
    if not known:
        return
    yield []
    yield from table(
        [Column("channel"), Column("type", flexible=True), Column("reducer", flexible=True)],
        [
            [
                [Span(escape(channel.name), "strong")],
                [Span(escape(channel.type), "class")],
                [Span(escape(channel.reducer or _plain(channel.kind)), "dim")],
            ]
            for channel in known
        ],
        out.width,
    )


def _guesses(found: Topology) -> Iterator[Line]:
    """What is said of routers that do not state their ends."""
    for named, said in (
        (True, "not stated; shown are those in its code"),
        (False, "not stated; it may be any node"),
    ):
        names = [_name(name) for name, known in found.routers.items() if known == named]
        if names:
            yield [Span(f"ends of {', '.join(names)}: {said}", "dim")]


def _leads(edges: list[Edge]) -> Line:
    """`a, b` for edges that are all taken, `c | d` for those of which a router chooses."""
    always = [_name(edge.target) for edge in edges if not edge.conditional]
    chosen = [
        _name(edge.target) + (f" ({escape(edge.label)})" if edge.label else "")
        for edge in edges
        if edge.conditional
    ]
    spans = [Span(", ".join(always))]
    if always and chosen:
        spans.append(Span(", "))
    spans.append(Span(" | ".join(chosen), "fork"))
    return spans


def _name(name: str) -> str:
    return _ENDS.get(name) or escape(name)


def _plain(kind: str) -> str:
    """The kind of a channel without a reducer, where it is not the usual one."""
    return "" if kind == "LastValue" else kind
