"""The wires between two layers: what is drawn as one, and on which track it goes sideways.

Channel routing by constraints, after Hashimoto and Stevens ("Wire routing by optimizing channel
assignment", 1971). A *net* joins the items that lead to the same places with these places. Nets
meet nowhere but in crossings: whoever follows a wire forward comes where its edges lead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from retrograph.engine.diagram.layers import Item, Layers, Node
from retrograph.engine.diagram.places import left_of

Lane = tuple[Node, str]
"""(target, owner): a way back up; of `owner`'s alone, where it leads to others, too, else ""."""

End = Item | Lane


class TangledError(Exception):
    """Wires that cannot be told apart however they are drawn."""


@dataclass(slots=True)
class Net:
    """One wire with all its ends. Columns are given; `track` is its row in the gap."""

    above: dict[Item, int] = field(default_factory=dict)
    """Items that it comes from."""
    lanes_in: dict[Lane, int] = field(default_factory=dict)
    """Lanes that it comes from, from below."""
    below: dict[Item, int] = field(default_factory=dict)
    """Items that it leads to."""
    lanes_out: dict[Lane, int] = field(default_factory=dict)
    """Lanes that it leads to, upward."""
    track: int = 0

    @property
    def tops(self) -> set[int]:
        """Columns in which it stands from its track upward."""
        return {*self.above.values(), *self.lanes_out.values()}

    @property
    def bottoms(self) -> set[int]:
        """Columns in which it stands from its track downward."""
        return {*self.below.values(), *self.lanes_in.values()}

    @property
    def straight(self) -> bool:
        """Whether it needs no track."""
        return self.tops == self.bottoms and len(self.tops) == 1

    @property
    def reach(self) -> tuple[int, int]:
        columns = self.tops | self.bottoms
        return min(columns), max(columns)


def nets_of(
    gap: int,
    layers: Layers,
    ports: Mapping[Item, int],
    widths: Mapping[Item, int],
    lanes: Mapping[Lane, int],
) -> list[Net]:
    """The nets of the gap above a layer (below the last one, with its number plus one), each with
    its track. Raises `TangledError`."""
    found: dict[Collection[object], Net] = {}
    if gap > 0:
        for item in layers.rows[gap - 1]:
            below = layers.down.get(item, ())
            out = [
                (target, layers.owner(source)) for source, target in layers.loops if source == item
            ]
            if below or out:
                net = found.setdefault((frozenset(below), frozenset(out)), Net())
                net.above[item] = ports[item]
                net.below.update((to, ports[to]) for to in below)
                net.lanes_out.update((lane, lanes[lane]) for lane in out)
    for lane, column in lanes.items():
        if layers.layer[lane[0]] == gap:
            ends = (frozenset([lane[0]]), frozenset[object]())
            net = found.setdefault(ends, Net())
            net.lanes_in[lane] = column
            net.below[lane[0]] = ports[lane[0]]
    nets = list(found.values())
    _part(nets, widths)
    _assign([net for net in nets if not net.straight], [net for net in nets if net.straight])
    return nets


def _part(nets: Sequence[Net], widths: Mapping[Item, int]) -> None:
    """Give nets that lead to one item columns of their own there, straight ones the middle."""
    wanting: dict[Item, list[Net]] = {}
    for net in nets:
        for item in net.below:
            wanting.setdefault(item, []).append(net)
    sources = {column for net in nets for column in net.above.values()}
    for item, several in wanting.items():
        middle = several[0].below[item]
        width = widths.get(item, 1)
        first = middle - left_of(width)
        room = sorted(
            range(first, first + width), key=lambda c: ((c - middle) % 2, abs(c - middle))
        )
        taken: set[int] = set()
        several.sort(key=lambda net: (middle not in net.above.values(), _side(net, middle)))
        for net in several:
            others = sources - set(net.above.values()) | taken
            free = [column for column in room if column not in others]
            near = [c for c in free if (c - middle) * _side(net, middle) >= 0]
            column = next(iter(near or free), middle)
            if column in taken:
                raise TangledError
            taken.add(column)
            net.below[item] = column


def _side(net: Net, middle: int) -> int:
    """From which side of a column a net comes: −1, 0 or 1."""
    columns = [*net.above.values(), *net.lanes_in.values()]
    mean = sum(columns) / len(columns)
    return (mean > middle) - (mean < middle)


def _assign(nets: list[Net], straight: Iterable[Net]) -> None:
    """Tracks from the top: nets that cross least first, none where it would meet another."""
    for line in straight:
        column = line.reach[0]
        if any(column in net.tops | net.bottoms for net in nets):
            raise TangledError
    left = list(nets)
    done: list[Net] = []
    while left:
        free = [net for net in left if not any(_first(other, net) for other in left)]
        if not free:
            raise TangledError
        best = min(free, key=lambda net: sum(_cost(net, m) - _cost(m, net) for m in left))
        meets = [other.track + 1 for other in done if _meets(other, best) or _first(other, best)]
        best.track = max(meets, default=0)
        left.remove(best)
        done.append(best)


def _first(a: Net, b: Net) -> bool:
    """Whether `a` must go above `b`: where one comes down and the other goes on down."""
    return a is not b and bool(a.tops & b.bottoms)


def _meets(a: Net, b: Net) -> bool:
    return max(a.reach[0], b.reach[0]) <= min(a.reach[1], b.reach[1])


def _cost(a: Net, b: Net) -> int:
    """Crossings of two nets where `a` is above `b`."""
    return sum(a.reach[0] < c < a.reach[1] for c in b.tops) + sum(
        b.reach[0] < c < b.reach[1] for c in a.bottoms
    )
