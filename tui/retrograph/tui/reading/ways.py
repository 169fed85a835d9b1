"""Ways through a tree: the straight child, the line beside, the nearest of some rows."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from retrograph.engine.history import NONE, History
from retrograph.tui.reading.picture import Picture


def straight_child(picture: Picture, i: int) -> int:
    """The child that the line goes on to: the one that is drawn last. `NONE` at a leaf."""
    layout = picture.layout
    return max(picture.history.children(i), key=layout.entry, default=NONE)


def beside(picture: Picture, i: int, way: int) -> int:
    """The checkpoint at the same distance from the nearest fork point above, on the next line
    (`way` 1) or the one before (−1) in drawing order; `i` itself where there is none.

    A shorter line is followed to its end.
    """
    history, layout = picture.history, picture.layout
    distance, at = 0, i
    while (parent := history.parent(at)) != NONE:
        twins = history.children(parent)
        if len(twins) > 1:
            twins.sort(key=layout.entry)
            k = twins.index(at) + way
            if 0 <= k < len(twins):
                return _down(picture, twins[k], distance)
        at = parent
        distance += 1
    return _other_root(history, picture, at, i, way)


def _down(picture: Picture, i: int, steps: int) -> int:
    for _ in range(steps):
        child = straight_child(picture, i)
        if child == NONE:
            break
        i = child
    return i


def _other_root(history: History, picture: Picture, root: int, i: int, way: int) -> int:
    roots = sorted(history.roots(history.ns(root)), key=picture.layout.entry)
    k = roots.index(root) + way
    return roots[k] if 0 <= k < len(roots) else i


def nearest(rows: Sequence[int], row: int, way: int) -> int:
    """The nearest of some ascending rows below (`way` 1) or above (−1); `NONE` past the last."""
    if way > 0:
        k = bisect_right(rows, row)
        return rows[k] if k < len(rows) else NONE
    k = bisect_left(rows, row)
    return rows[k - 1] if k else NONE
