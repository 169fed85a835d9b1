"""What the Graph tab shows of a checkpoint: the thread's graph, drawn, and the way here in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from retrograph.engine.diagram.cells import ASCII, UNICODE
from retrograph.engine.diagram.draw import Diagram, Edge, draw
from retrograph.engine.text import cut, escape
from retrograph.engine.tree.labels import Label
from retrograph.tui.reading.inspected import Inspected
from retrograph.tui.reading.known import Known
from retrograph.tui.reading.topology import END, START, Here, Node, here, topology
from retrograph.tui.spans import columns

LED_HERE, ON_THE_WAY, ELSEWHERE = 3, 2, 1
"""Weights of edges: taken by the step that led here, further up on this line, not on this line."""

_LONGEST = 28
"""Columns of a node's name in the drawing."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A graph as its thread's data shows it, seen from one checkpoint."""

    nodes: list[Node]
    at: Here
    taken: frozenset[tuple[str, str]]
    """The edges that were taken on the way from the root to here."""
    labels: Mapping[str, str]
    """Of the nodes in the drawing: a sign and the name, escaped."""
    diagram: Diagram | None
    """`None` where it cannot be drawn."""
    read: int
    """Checkpoints that have been read so far."""
    total: int

    def ran(self, node: str) -> bool:
        """Whether a node ran on the way here; of END, whether it was reached."""
        return any(node == (target if node == END else source) for source, target in self.taken)


def chart(inspected: Inspected, ascii: bool) -> Chart:
    """Read off and draw the graph of the checkpoint's namespace."""
    known, history = inspected.known, inspected.history
    nodes = topology(known, history, inspected.snapshot.key.ns)
    at = here(inspected.snapshot.step)
    taken = frozenset(way_here(known, inspected.checkpoint, at.due))
    edges = {
        (node.name, to): ELSEWHERE for node in nodes for way, _ in node.ways for to in way
    } | dict.fromkeys(taken, ON_THE_WAY)
    edges |= dict.fromkeys((edge for edge in at.came_by if edge in edges), LED_HERE)
    names = _names(nodes, edges, at.due)
    ran = {source for source, _ in taken}
    labels = {name: _label(name, name in at.due, name in ran, ascii) for name in names}
    drawn = draw(
        {name: columns(label) for name, label in labels.items()},
        [Edge(*edge, weight) for edge, weight in edges.items()],
        ASCII if ascii else UNICODE,
    )
    return Chart(nodes, at, taken, labels, drawn, known.count, len(history))


def _names(
    nodes: Iterable[Node], edges: Iterable[tuple[str, str]], due: Iterable[str]
) -> list[str]:
    """All nodes in the order in which a run meets them, END the last."""
    ends = [name for edge in edges for name in edge]
    names = dict.fromkeys([*(node.name for node in nodes), *ends, *sorted(due)])
    names.pop("__start__", None)
    if END in names:
        names.pop(END)
        names[END] = None
    return list(names)


def _label(name: str, due: bool, ran: bool, ascii: bool) -> str:
    if name in (START, END):
        return name
    sign = ("*" if ascii else "●") if due else ("v" if ascii else "✓") if ran else " "
    return f"{sign} {cut(escape(name), _LONGEST)}"


def way_here(known: Known, checkpoint: int, due: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The edges that were taken on the way from the root to a checkpoint, as far as it is read.

    At a fork point whose lines went different ways it is the one that leads to what ran next, or,
    at the end, to what is `due`.
    """
    for note, after in known.line(checkpoint):
        if note.label.kind == "step":
            yield from _edges(note.label, due if after is None else frozenset(after.label.ran))


def _edges(label: Label, after: frozenset[str]) -> Iterator[tuple[str, str]]:
    if not label.routes:
        return
    way = next((route for route in label.routes if after == frozenset(route)), label.routes[0])
    ways = dict(label.parts) or dict.fromkeys(label.ran, way)
    for node, to in ways.items():
        yield from ((node, target) for target in (to or (END,)))
