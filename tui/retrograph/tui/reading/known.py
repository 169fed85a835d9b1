"""What has been read of a thread's steps so far, a few bytes a checkpoint.

Rows of the tree repeat themselves: an agent's 100,000 steps are a handful of different labels. So
a checkpoint costs a number, and each different note is held once.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from retrograph.engine.history import History
from retrograph.engine.labels import Label, Labels
from retrograph.engine.model import Envelope
from retrograph.engine.steps import Step, Task


class Note(NamedTuple):
    """What the row of a checkpoint says, without its place."""

    label: Label
    waiting: bool
    """Nodes are due that have no output yet."""
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

    def take(self, found: Iterable[Noted]) -> None:
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
        """The same for a longer history of the same thread: what stands there now and stood in
        the old one keeps its note, but for heads and parents that have gained a child."""
        moved = Known(history)
        moved._notes, moved._numbers = self._notes, self._numbers
        old = self._history
        for ns in old.namespaces():
            for i in old.span(ns):
                number = self._which[i]
                if not number:
                    continue
                now = history.find(ns, old.ids[i])
                if now < 0 or len(history.children(now)) != len(old.children(i)):
                    continue
                moved._which[now] = number
                moved.count += 1
                if i in self._steps:
                    moved._steps[now] = self._steps[i]
        return moved

    # What a `treerows.Painter` asks for.

    def slim_step(self, i: int) -> Step | None:
        """As much of a step as a row's marks need."""
        note = self.note(i)
        return _SLIM[note.waiting, note.repaired] if note is not None else None

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


def _slim(waiting: bool, repaired: bool) -> Step:
    due = Task(None, "", "", False, None, (), (), None)
    return Step(
        next=(),
        next_exact=True,
        repaired="repaired" if repaired else None,
        tasks=(due,) if waiting else (),
        ran=(),
        came_by={},
        route={},
        questions=(),
    )


_SLIM = {(w, r): _slim(w, r) for w in (False, True) for r in (False, True)}


def _envelope(step: int) -> Envelope:
    return Envelope("", "", None, 0, {}, {}, None, frozenset(), {}, (), {"step": step})
