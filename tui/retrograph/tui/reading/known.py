"""What has been read of a thread's steps so far, a few bytes a checkpoint.

Rows of the tree repeat themselves: an agent's 100,000 steps are a handful of different labels. So
a checkpoint costs a number, and each different note is held once.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from threading import Lock
from typing import NamedTuple

from retrograph.engine.history import NONE, History
from retrograph.engine.model import Envelope
from retrograph.engine.steps.step import Step
from retrograph.engine.tree.labels import Kind, Label, Labels


class Note(NamedTuple):
    """What the row of a checkpoint says, without its place."""

    label: Label
    due: bool
    """Nodes are due."""
    repaired: bool

    def says(self) -> str:
        """Its words, for searching."""
        words = [self.label.text(), *self.label.changed]
        if self.label.trouble:
            words.append(self.label.trouble)
        if self.label.answered:
            words.append("answered")
        if self.repaired:
            words.append("repaired")
        return " ".join(words)


class Noted(NamedTuple):
    """One checkpoint's note, and its step as its metadata has it."""

    checkpoint: int
    note: Note
    step: int | None


class Known:
    """The notes of one history."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._which = array("I", [0]) * len(history)
        self._notes: list[Note] = []
        self._numbers: dict[Note, int] = {}
        self._steps: dict[int, int] = {}
        """Only where the metadata says another step than the id."""
        self.count = 0
        """Checkpoints that have a note."""
        self._taking = Lock()
        """Of all that share the notes: a later one takes off the screen's thread what is new, while
        the screen's takes what came in sight."""

    def take(self, found: Iterable[Noted]) -> None:
        with self._taking:
            self._take(found)

    def _take(self, found: Iterable[Noted]) -> None:
        which, numbers = self._which, self._numbers
        for i, note, step in found:
            number = numbers.get(note)
            if number is None:
                self._notes.append(note)
                number = numbers[note] = len(self._notes)
            if which[i] == 0:
                self.count += 1
            which[i] = number
            if step is not None and step != self._history.step(i):
                self._steps[i] = step

    def has(self, i: int) -> bool:
        return self._which[i] != 0

    @property
    def complete(self) -> bool:
        return self.count >= len(self._which)

    def note(self, i: int) -> Note | None:
        number = self._which[i]
        return self._notes[number - 1] if number else None

    def line(self, i: int) -> list[tuple[Note, Note | None]]:
        """What happened from a checkpoint up to its root, as far as it is read: each different
        note with the note of the step that ran next on this line (`None`: it is the last). Of a
        long thread these are few."""
        which, parents = self._which, self._history.parents()
        ran = [False, *(note.label.kind == "step" and bool(note.label.ran) for note in self._notes)]
        found: dict[tuple[int, int], None] = {}
        after = 0
        while i != NONE:
            number = which[i]
            found[number, after] = None
            if ran[number]:
                after = number
            i = parents[i]
        notes = (None, *self._notes)
        return [(note, notes[k]) for n, k in found if (note := notes[n]) is not None]

    def step(self, i: int) -> int | None:
        """The step of a checkpoint: from its metadata where that was read, else from its id."""
        return self._steps.get(i, self._history.step(i))

    def where(self, wanted: Callable[[Note], bool]) -> Iterator[int]:
        """The checkpoints whose note is wanted, in the order of the history."""
        numbers = {k for k, note in enumerate(self._notes, 1) if wanted(note)}
        if numbers:
            yield from (i for i, number in enumerate(self._which) if number in numbers)

    def counted(self, spans: Iterable[range]) -> list[tuple[Note, int]]:
        """Each different note of some stretches, with how many checkpoints have it."""
        counts: Counter[int] = Counter()
        for span in spans:
            counts.update(self._which[span.start : span.stop])
        return [(note, counts[k]) for k, note in enumerate(self._notes, 1) if counts[k]]

    def moved_to(self, history: History) -> Known:
        """The same for a later reading of the thread. Leaves are forgotten, since what is due
        there may have run meanwhile, and so is what has gained a child."""
        moved = Known(history)
        moved._notes, moved._numbers = self._notes, self._numbers
        moved._taking = self._taking
        steps = list(self._steps.items())
        old = self._history
        for ns in old.namespaces():
            before, now = old.span(ns), history.span(ns)
            count = len(before)
            if old.ids[before.start : before.stop] == history.ids[now.start : now.start + count]:
                which = self._which[before.start : before.stop]
                moved._which[now.start : now.start + count] = which
                shift = now.start - before.start
                moved._steps.update({i + shift: step for i, step in steps if i in before})
                for i in range(now.start + count, now.stop):
                    moved._forget(history.parent(i))
            else:
                self._move_singly(moved, before, ns)
            for leaf in history.leaves(ns):
                moved._forget(leaf)
        moved.count = len(history) - moved._which.count(0)
        return moved

    def _move_singly(self, moved: Known, before: range, ns: str) -> None:
        """Where checkpoints have gone or come in between."""
        old, history = self._history, moved._history
        for i in before:
            now = history.find(ns, old.ids[i]) if self._which[i] else NONE
            if now != NONE and len(history.children(now)) == len(old.children(i)):
                moved._which[now] = self._which[i]
                if i in self._steps:
                    moved._steps[now] = self._steps[i]

    def _forget(self, i: int) -> None:
        if i != NONE:
            self._which[i] = 0

    def forget_leaves(self) -> None:
        """What is due there may have run."""
        for ns in self._history.namespaces():
            for leaf in self._history.leaves(ns):
                self.count -= self._which[leaf] != 0
                self._which[leaf] = 0

    # What a `treerows.Painter` asks for.

    def slim_step(self, i: int) -> Step | None:
        """As much of a step as a row's marks need."""
        note = self.note(i)
        return _SLIM[note.due, note.repaired] if note is not None else None

    def slim_envelope(self, i: int) -> Envelope | None:
        """As much of an envelope as a row's number needs."""
        step = self._steps.get(i)
        return _envelope(step) if step is not None else None

    def labels(self) -> Labels:
        return _Labels(self)


class _Labels(Labels):
    """Labels out of the notes."""

    def __init__(self, known: Known) -> None:
        super().__init__(known._history, known.slim_step, known.slim_envelope)
        self._known = known

    def label(self, i: int) -> Label | None:
        note = self._known.note(i)
        return note.label if note is not None else None

    def kind(self, i: int) -> Kind:
        label = self.label(i)
        return label.kind if label is not None else super().kind(i)


def _slim(due: bool, repaired: bool) -> Step:
    return Step(
        next=("",) if due else (),
        next_exact=True,
        repaired="repaired" if repaired else None,
        tasks=(),
        ran=(),
        came_by={},
        route={},
        questions=(),
    )


_SLIM = {(d, r): _slim(d, r) for d in (False, True) for r in (False, True)}


def _envelope(step: int) -> Envelope:
    return Envelope("", "", None, 0, {}, {}, None, frozenset(), {}, (), {"step": step})
