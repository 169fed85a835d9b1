"""What of a layout is on the screen: closed sub-graphs and folded runs of steps left out.

Rows are kept as segments (where a stretch of rows begins in the layout), so that closing a
sub-graph or opening a fold costs as many steps as things are closed, not as there are rows.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence

from retrograph.engine.history import NONE
from retrograph.engine.tree.lanes import Layout

FOLD_FROM = 6
"""Shorter runs are not folded: the one row that says it would save too little."""


def runs(layout: Layout, keep: Collection[int] = (), shortest: int = FOLD_FROM) -> list[range]:
    """Runs of entries that can be folded into one row each, in drawing order.

    A run has no fork point, sub-graph, root or leaf in it, and neither the first nor the last row
    of its stretch of the lane, so that what hangs off and where it leads stays in sight.
    `keep`: entries that must not disappear (edits, questions, errors, marks, the selected one).
    """
    kept = sorted(keep)
    found = []
    for stretch in layout.stretches():
        begin, end = stretch.start + 1, stretch.stop - 1
        if end - begin < shortest:
            continue
        inside = kept[bisect_left(kept, begin) : bisect_left(kept, end)]
        for stop in (*inside, end):
            if stop - begin >= shortest:
                found.append(range(begin, stop))
            begin = stop + 1
    return found


class View:
    """The visible rows of a layout. A row shows an entry, or a whole fold."""

    def __init__(
        self, layout: Layout, closed: Iterable[int] = (), folds: Sequence[range] = ()
    ) -> None:
        """`closed`: numbers of the groups of which only the header shows. `folds`: see `runs`."""
        self.layout = layout
        self.closed = frozenset(closed)
        self.folds = tuple(folds)
        # Segment k shows the entries from _entry[k] on, in the rows from _row[k] on; where _fold[k]
        # is not 0 it is one row for so many entries.
        self._entry = array("i")
        self._row = array("i")
        self._fold = array("i")
        self._rows = 0
        self._build()

    def _build(self) -> None:
        hidden = [(layout_range, False) for layout_range in map(self.layout.inside, self.closed)]
        hidden += [(fold, True) for fold in self.folds]
        at = 0
        for stretch, fold in sorted(hidden, key=lambda pair: (pair[0].start, pair[1])):
            if stretch.start < at or not stretch:
                continue
            self._add(at, stretch.start - at, 0)
            if fold:
                self._add(stretch.start, 1, len(stretch))
            at = stretch.stop
        self._add(at, len(self.layout) - at, 0)

    def _add(self, entry: int, rows: int, fold: int) -> None:
        if rows > 0:
            self._entry.append(entry)
            self._row.append(self._rows)
            self._fold.append(fold)
            self._rows += rows

    def __len__(self) -> int:
        return self._rows

    def entry(self, row: int) -> int:
        """The entry of a row; of a fold, its first."""
        if not 0 <= row < self._rows:
            raise IndexError(row)
        k = bisect_right(self._row, row) - 1
        return self._entry[k] + row - self._row[k]

    def fold(self, row: int) -> range | None:
        """The entries that a row stands for, where it is a fold."""
        if not 0 <= row < self._rows:
            raise IndexError(row)
        k = bisect_right(self._row, row) - 1
        if not self._fold[k]:
            return None
        return range(self._entry[k], self._entry[k] + self._fold[k])

    def row(self, entry: int) -> int:
        """The row in which an entry shows: its own, its fold's, or its closed group's header's."""
        k = bisect_right(self._entry, entry) - 1
        if k < 0:
            return NONE
        following = self._row[k + 1] if k + 1 < len(self._row) else self._rows
        return min(self._row[k] + entry - self._entry[k], following - 1)

    def visible(self, entry: int) -> bool:
        """Whether an entry has a row of its own."""
        row = self.row(entry)
        return row >= 0 and self.entry(row) == entry and self.fold(row) is None

    def close(self, group: int) -> View:
        """The same with one more group closed."""
        return View(self.layout, self.closed | {group}, self.folds)

    def open(self, group: int) -> View:
        """The same with a group open."""
        return View(self.layout, self.closed - {group}, self.folds)

    def unfold(self, fold: range) -> View:
        """The same with one fold open."""
        return View(self.layout, self.closed, [f for f in self.folds if f != fold])

    def reveal(self, entry: int) -> View:
        """The same with everything open that hides an entry."""
        if self.visible(entry):
            return self
        closed = self.closed.difference(self.layout.enclosing(entry))
        return View(self.layout, closed, [fold for fold in self.folds if entry not in fold])
