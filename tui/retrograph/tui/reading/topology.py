"""The graph of a thread as its data shows it: which node led to which, how often, and here.

Told from the steps that have been read. A node or an edge that no stored step took is not in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from retrograph.engine.history import History
from retrograph.engine.steps.step import Step
from retrograph.tui.reading.known import Known

START, END = "START", "END"


@dataclass(frozen=True, slots=True)
class Node:
    """A node with where it went, the most taken way first."""

    name: str
    ran: int
    ways: tuple[tuple[tuple[str, ...], int], ...]
    """(destinations together, how often)."""


def topology(known: Known, history: History, ns: str) -> list[Node]:
    """The nodes of the graph that made a namespace, in the order in which a run meets them."""
    graph = _graph_of(ns)
    spans = [history.span(name) for name in history.namespaces() if _graph_of(name) == graph]
    ran: Counter[str] = Counter()
    ways: dict[str, Counter[tuple[str, ...]]] = {}
    for note, times in known.counted(spans):
        label = note.label
        if label.kind != "step" or not label.routes:
            continue
        taken: Mapping[str, tuple[str, ...]] = dict(label.parts) or dict.fromkeys(
            label.ran, label.routes[0]
        )
        for name, to in taken.items():
            ran[name] += times * max(label.ran.count(name), 1)
            distinct = tuple(dict.fromkeys(to)) or (END,)
            ways.setdefault(name, Counter())[distinct] += times
        if len(label.ran) == 1 and not label.parts:
            # Where a line was edited so that it took another route, that is one of the node's.
            for other in label.routes[1:]:
                ways[label.ran[0]][tuple(dict.fromkeys(other)) or (END,)] += times
    return [
        Node(name, ran[name], tuple(ways[name].most_common()) if name in ways else ())
        for name in _in_order(ways)
    ]


def _graph_of(ns: str) -> tuple[str, ...]:
    """A namespace without the ids of its tasks: runs of one sub-graph have it in common."""
    segments = (segment.partition(":")[0] for segment in ns.split("|"))
    return tuple(name for name in segments if not name.isdecimal())


def _in_order(ways: Mapping[str, Counter[tuple[str, ...]]]) -> list[str]:
    """Breadth first from START; what is not reached from there follows."""
    order: dict[str, None] = {}
    todo = [START, *ways]
    for name in todo:
        if name in order or name not in ways:
            continue
        level = [name]
        for at in level:
            if at in order or at not in ways:
                continue
            order[at] = None
            level += [to for way, _ in ways[at].most_common() for to in way]
    return list(order)


@dataclass(frozen=True, slots=True)
class Here:
    """Where a checkpoint stands in the graph."""

    came_by: frozenset[tuple[str, str]]
    """Edges that led here."""
    went: frozenset[tuple[str, str]]
    """Edges that were taken from here."""
    due: frozenset[str]


def here(step: Step) -> Here:
    """The edges of one step."""
    came = {(node, to) for node, way in step.came_by.items() for to in (way or (END,))}
    went = {(node, to) for node, way in step.route.items() for to in (way or (END,))}
    return Here(frozenset(came), frozenset(went), frozenset(step.next))
