"""The tree as a cursor walks it: what is open, what is marked, and where each move leads.

No screen: a move takes the entry (a row of the whole layout) that is selected and returns the one
to select; what it opens or closes shows in `view`. Where there is nowhere to go it returns the
same entry.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Literal

from retrograph.engine.history import NONE
from retrograph.engine.tree.folding import View, runs
from retrograph.tui.reading.known import Known, Note
from retrograph.tui.reading.picture import Picture
from retrograph.tui.reading.ways import beside, nearest, straight_child

Way = Literal[1, -1]


class TreeModel:
    """A picture, what is known of its rows, and how it is looked at."""

    def __init__(
        self,
        picture: Picture,
        known: Known,
        opened: Iterable[tuple[str, int]] = (),
        marks: Iterable[int] = (),
    ) -> None:
        """`opened`: (namespace, owner) of the sub-graphs that are open; the others are closed."""
        self.picture = picture
        self.known = known
        groups, wanted = picture.layout.groups, frozenset(opened)
        closed = [k for k, group in enumerate(groups) if (group.ns, group.owner) not in wanted]
        self.view = View(picture.layout, closed)
        self.marks = list(marks)
        """Checkpoints that the user marked, the newest last."""
        self.matches = array("i")
        """Entries that the last search found, ascending."""

    @property
    def opened(self) -> set[tuple[str, int]]:
        groups = self.picture.layout.groups
        return {(g.ns, g.owner) for k, g in enumerate(groups) if k not in self.view.closed}

    def checkpoint(self, entry: int) -> int:
        """The checkpoint of an entry; of a sub-graph's header the one that it ran under."""
        if entry == NONE:
            return NONE
        layout = self.picture.layout
        i = layout.checkpoint(entry)
        return i if i != NONE else layout.groups[layout.group(entry)].owner

    def entry(self, checkpoint: int) -> int:
        return self.picture.layout.entry(checkpoint) if checkpoint != NONE else NONE

    def reveal(self, entry: int) -> None:
        """Open what hides an entry."""
        if not self.view.visible(entry):
            self.view = self.view.reveal(entry)

    # In and out.

    def left(self, entry: int) -> int:
        """Close an open sub-graph; else to the parent, or out of the sub-graph."""
        picture, layout = self.picture, self.picture.layout
        group = layout.group(entry)
        if group != NONE:
            if group not in self.view.closed:
                self.view = self.view.close(group)
                return entry
            return self._or(entry, self.entry(layout.groups[group].owner))
        parent = picture.history.parent(layout.checkpoint(entry))
        if parent != NONE:
            return self._or(entry, layout.entry(parent))
        enclosing = layout.enclosing(entry)
        return layout.header(enclosing[-1]) if enclosing else entry

    def right(self, entry: int) -> int:
        """Open what is closed; else to the child on the straight line."""
        if self.open(entry):
            return entry
        layout = self.picture.layout
        if layout.group(entry) != NONE:
            return entry + 1
        child = straight_child(self.picture, layout.checkpoint(entry))
        return self._or(entry, self.entry(child))

    def open(self, entry: int) -> bool:
        """Open a closed sub-graph or a fold; whether there was one."""
        fold = self.view.fold(self.view.row(entry))
        if fold is not None:
            self.view = self.view.unfold(fold)
            return True
        group = self.picture.layout.group(entry)
        if group != NONE and group in self.view.closed:
            self.view = self.view.open(group)
            return True
        return False

    def toggle(self, entry: int) -> int:
        """Open or close the sub-graph or the run of steps at an entry."""
        layout = self.picture.layout
        if self.open(entry):
            return entry
        group = layout.group(entry)
        if group != NONE:
            self.view = self.view.close(group)
            return entry
        for run in runs(layout, self._notable()):
            if entry in run:
                self.view = View(layout, self.view.closed, [*self.view.folds, run])
                return run.start
        enclosing = layout.enclosing(entry)
        if enclosing:
            self.view = self.view.close(enclosing[-1])
            return layout.header(enclosing[-1])
        return entry

    def toggle_runs(self, entry: int) -> int:
        """Fold every long run of steps, or unfold them all."""
        layout = self.picture.layout
        folds = [] if self.view.folds else runs(layout, [*self._notable(), entry])
        self.view = View(layout, self.view.closed, folds)
        return entry

    def _notable(self) -> list[int]:
        """Entries that a fold must not hide, as far as they are known."""
        entry = self.picture.layout.entry
        kept = [*map(entry, self.known.where(_is_notable)), *map(entry, self.marks)]
        return [e for e in kept if e != NONE]

    # Along the tree.

    def head(self) -> int:
        return self.entry(self.picture.history.head(self.picture.top))

    def beside(self, entry: int, way: Way) -> int:
        """The same place on the line beside."""
        i = self.checkpoint(entry)
        return self._or(entry, self.entry(beside(self.picture, i, way))) if i != NONE else entry

    def fork(self, entry: int, way: Way) -> int:
        return self._or(entry, nearest(self.picture.forks, entry, way))

    def mark(self, entry: int) -> None:
        """Mark a checkpoint, or take its mark off."""
        i = self.checkpoint(entry)
        if i in self.marks:
            self.marks.remove(i)
        elif i != NONE:
            self.marks.append(i)

    def next_mark(self, entry: int) -> int:
        return self._round(sorted(map(self.entry, self.marks)), entry, 1)

    def match(self, entry: int, way: Way) -> int:
        """The next match of the last search, round and round."""
        return self._round(self.matches, entry, way)

    def _round(self, rows: array[int] | list[int], entry: int, way: Way) -> int:
        if not len(rows):
            return entry
        found = nearest(rows, entry, way)
        return found if found != NONE else rows[0 if way > 0 else -1]

    @staticmethod
    def _or(entry: int, wanted: int) -> int:
        return wanted if wanted != NONE else entry


def _is_notable(note: Note) -> bool:
    label = note.label
    return bool(
        label.kind in ("edit", "copy") or label.trouble or label.answered or label.unreadable
    )
