"""The columns of a layered graph: each item as near below and above its neighbours as it can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from retrograph.engine.diagram.layers import Item, Layers

GAP = 3
"""Columns between two items of a layer."""
_SWEEPS = 6


def ports(layers: Layers, widths: Mapping[Item, int]) -> dict[Item, int]:
    """The column of each item's middle, where wires meet it; the leftmost item begins at 0.

    `widths`: columns of the nodes; a bend has one.
    """
    at: dict[Item, float] = {}
    for row in layers.rows:
        apart = _apart(row, widths)
        at.update(zip(row, apart, strict=True))
    ways = (layers.up, layers.down) * (_SWEEPS // 2) + (layers.up,)
    for near in ways:
        rows = layers.rows if near is layers.up else layers.rows[::-1]
        for row in rows:
            wanted = [_wanted(item, near.get(item, ()), at) for item in row]
            stiff = [_stiffness(item, near.get(item, ())) for item in row]
            at.update(zip(row, _spread(wanted, stiff, _apart(row, widths)), strict=True))
    left = min((at[item] - left_of(widths.get(item, 1)) for item in at), default=0)
    return {item: round(x - left) for item, x in at.items()}


def left_of(width: int) -> int:
    """The columns of an item that stand at the left of its middle."""
    return (width - 1) // 2


def _apart(row: Sequence[Item], widths: Mapping[Item, int]) -> list[int]:
    """Where the middles are when the row is set as close as it may be."""
    found: list[int] = []
    at = 0
    for item in row:
        width = widths.get(item, 1)
        found.append(at + left_of(width))
        at += width + GAP
    return found


def _wanted(item: Item, near: Sequence[Item], at: Mapping[Item, float]) -> float:
    """In the middle of its neighbours; of those that are nodes, where it is one and has some."""
    nodes = [other for other in near if isinstance(other, str)]
    among = nodes if nodes and isinstance(item, str) else near
    return median(at[other] for other in among) if among else at[item]


def _stiffness(item: Item, near: Sequence[Item]) -> int:
    """How much it counts that an item stands where it wants to: an edge over several layers is
    best straight."""
    if isinstance(item, tuple):
        return 16 if any(isinstance(other, tuple) for other in near) else 4
    return 1


def _spread(wanted: Sequence[float], stiff: Sequence[int], apart: Sequence[int]) -> list[int]:
    """The columns nearest to the wanted ones that leave as much room between them as `apart` has.

    Isotonic regression by pooling adjacent violators (Ayer et al. 1955), on what is left when the
    room is taken out.
    """
    pools: list[tuple[float, int, int]] = []
    """(mean, weight, items) of each."""
    for want, weight, room in zip(wanted, stiff, apart, strict=True):
        mean, count = want - room, 1
        while pools and pools[-1][0] > mean:
            before, heavy, many = pools.pop()
            mean = (mean * weight + before * heavy) / (weight + heavy)
            weight += heavy
            count += many
        pools.append((mean, weight, count))
    shifts = [round(mean) for mean, _, count in pools for _ in range(count)]
    return [shift + room for shift, room in zip(shifts, apart, strict=True)]
