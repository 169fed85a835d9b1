"""A directed graph drawn in cells: nodes in layers, edges as wires, loops as lanes at the right.

  START
    ├───────╮
    ▼       │
  agent     │
 ╭──┴───╮   │
 ▼      ▼   │
END   tools │
        ╰───╯
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from retrograph.engine.diagram.cells import NORTH, SOUTH, UNICODE, Sheet, Signs
from retrograph.engine.diagram.layers import Item, Layers, Node, layered
from retrograph.engine.diagram.places import left_of, ports
from retrograph.engine.diagram.wires import Lane, Net, TangledError, nets_of

MANY_NODES, MANY_EDGES = 60, 150
"""Larger graphs are not drawn."""

_BESIDE = 2
"""Columns between a lane and what stands beside it."""


class Edge(NamedTuple):
    """An edge, and how much it stands out: 1 a light line, 2 and more a heavy one."""

    source: Node
    target: Node
    weight: int = 1


class Piece(NamedTuple):
    """A part of a row."""

    text: str
    """Of a wire or a blank; "" of a node, whose label the caller has."""
    node: Node | None = None
    weight: int = 0
    """Of the edge that is seen there; 0 where there is none."""


class Diagram(NamedTuple):
    """The rows of a drawn graph, and the columns that the widest takes."""

    rows: list[list[Piece]]
    width: int


def draw(
    widths: Mapping[Node, int], edges: Sequence[Edge], signs: Signs = UNICODE
) -> Diagram | None:
    """The diagram of a graph; `None` where it is too large, or its wires cannot be told apart.

    `widths`: the columns that the label of each node takes, in the order in which nodes are best
    met. Every end of an edge must be among them.
    """
    if not widths or len(widths) > MANY_NODES or len(edges) > MANY_EDGES:
        return None
    layers = layered(tuple(widths), [(edge.source, edge.target) for edge in edges])
    into = Counter(target for _, target in dict.fromkeys((e.source, e.target) for e in edges))
    own: dict[Item, int] = {
        # Room for as many arrows as may come.
        node: max(width, 2 * into[node] - 1)
        for node, width in widths.items()
    }
    at = ports(layers, own)
    lanes = _lanes(layers, at, own)
    try:
        gaps = [nets_of(k, layers, at, own, lanes) for k in range(len(layers.rows) + 1)]
    except TangledError:
        return None
    return _Drawing(layers, at, own, lanes, gaps).drawn(widths, edges, signs)


def _lanes(layers: Layers, at: Mapping[Item, int], widths: Mapping[Item, int]) -> dict[Lane, int]:
    """The column of each way back up: beside everything between its ends."""
    right = [
        max(at[item] - left_of(widths.get(item, 1)) + widths.get(item, 1) for item in row)
        for row in layers.rows
    ]
    spans: dict[Lane, tuple[int, int]] = {}
    for source, target in layers.loops:
        lane = (target, layers.owner(source))
        first, last = spans.get(lane, (layers.layer[target], 0))
        spans[lane] = (first, max(last, layers.layer[source]))
    found: dict[Lane, int] = {}
    for lane, (first, last) in sorted(spans.items(), key=lambda one: one[1][1] - one[1][0]):
        column = max(right[max(first - 1, 0) : last + 2]) + _BESIDE - 1
        beside = [
            found[other]
            for other, (top, end) in spans.items()
            if other in found and top - 1 <= last + 1 and first - 1 <= end + 1
        ]
        while any(abs(column - taken) < _BESIDE for taken in beside):
            column += 1
        found[lane] = column
    return found


class _Drawing:
    """One diagram while it is drawn."""

    def __init__(
        self,
        layers: Layers,
        at: Mapping[Item, int],
        widths: Mapping[Item, int],
        lanes: Mapping[Lane, int],
        gaps: Sequence[Sequence[Net]],
    ) -> None:
        self._layers = layers
        self._at = at
        self._widths = widths
        self._lanes = lanes
        self._gaps = gaps
        self._sheet = Sheet()
        self._top: list[int] = []
        """The first row of each gap."""
        row = 0
        for k, nets in enumerate(gaps):
            self._top.append(row)
            tracks = max((net.track + 1 for net in nets if not net.straight), default=0)
            heads = 1 if k < len(layers.rows) and nets else 0
            row += tracks + heads + 1
        self._height = row - 1

    def _row(self, layer: int) -> int:
        """Of the nodes of a layer."""
        return self._top[layer + 1] - 1

    def _net(self, gap: int, item: Item) -> Net:
        return next(net for net in self._gaps[gap] if item in net.above)

    def drawn(self, labels: Mapping[Node, int], edges: Sequence[Edge], signs: Signs) -> Diagram:
        loops = set(self._layers.loops)
        for edge in edges:
            if (edge.source, edge.target) in loops:
                self._loop(edge)
            else:
                for above, below in self._layers.path(edge.source, edge.target):
                    self._piece(above, below, edge.weight)
        wires = self._sheet.width
        rows = [self._cells(y, wires, labels, signs) for y in range(self._height)]
        nodes = max(at + self._widths.get(item, 1) for item, at in self._at.items())
        return Diagram(rows, max(wires, nodes))

    def _piece(self, above: Item, below: Item, weight: int) -> None:
        """A part of an edge, from a layer to the next."""
        gap = _layer(self._layers, above) + 1
        net = self._net(gap, above)
        self._down(gap, self._at[above], net, below, weight)

    def _down(self, gap: int, start: int, net: Net, below: Item, weight: int) -> None:
        """From an item above, through the net's track, to an item below."""
        end, layer_row = net.below[below], self._row(gap)
        first = self._top[gap]
        track = first + net.track
        bend = isinstance(below, tuple)
        last = layer_row if bend else layer_row - 1
        corners = [(start, first)]
        if start != end:
            corners += [(start, track), (end, track)]
        corners.append((end, last))
        self._sheet.stub((start, first), NORTH, weight)
        self._sheet.wire(corners, weight)
        if not net.straight:
            self._joint(start, track)
            self._joint(end, track)
        if bend:
            self._sheet.stub((end, last), SOUTH, weight)
        else:
            self._sheet.arrow((end, last), weight)

    def _loop(self, edge: Edge) -> None:
        """Down from the source to its track, over to the lane, up, and over to the target."""
        layers = self._layers
        lane = (edge.target, layers.owner(edge.source))
        column = self._lanes[lane]
        low, high = layers.layer[edge.source] + 1, layers.layer[edge.target]
        leaving = self._net(low, edge.source)
        entering = next(net for net in self._gaps[high] if lane in net.lanes_in)
        start, end = self._at[edge.source], entering.below[edge.target]
        bottom = self._top[low] + leaving.track
        top = self._top[high] + entering.track
        last = self._row(high) - 1
        self._sheet.stub((start, self._top[low]), NORTH, edge.weight)
        self._sheet.wire(
            [(start, self._top[low]), (start, bottom), (column, bottom), (column, top),
             (end, top), (end, last)],
            edge.weight,
        )  # fmt: skip
        self._sheet.arrow((end, last), edge.weight)
        for point in ((start, bottom), (column, bottom), (column, top), (end, top)):
            self._joint(*point)

    def _joint(self, x: int, y: int) -> None:
        self._sheet.joint((x, y))

    def _cells(self, y: int, wide: int, labels: Mapping[Node, int], signs: Signs) -> list[Piece]:
        """A row of `wide` columns of wires as pieces, without blanks at its end."""
        starts: dict[int, Node] = {}
        for k, row in enumerate(self._layers.rows):
            if self._row(k) == y:
                for item in row:
                    if isinstance(item, str):
                        starts[self._at[item] - left_of(labels[item])] = item
        pieces: list[Piece] = []
        end = max([wide, *(start + 1 for start in starts)])
        x = 0
        blanks = 0
        while x < end:
            if x in starts:
                piece, taken = Piece("", starts[x]), labels[starts[x]]
            else:
                text, weight = self._sheet.at((x, y), signs)
                piece, taken = Piece(text, None, weight), 1
            x += taken
            if piece.node is None and not piece.weight:
                blanks += 1
                continue
            if blanks:
                pieces.append(Piece(" " * blanks))
                blanks = 0
            before = pieces[-1] if pieces else None
            if (
                before
                and before.node is None
                and piece.node is None
                and (before.weight == piece.weight)
            ):
                pieces[-1] = Piece(before.text + piece.text, None, piece.weight)
            else:
                pieces.append(piece)
        return pieces


def _layer(layers: Layers, item: Item) -> int:
    return item[1] if isinstance(item, tuple) else layers.layer[item]
