"""The diff that a tab shows: rows made off the screen's thread, and words where they are seen."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from retrograph.engine.diff.changes import Change, Path, diff
from retrograph.engine.diff.rows import DiffRow, diff_rows
from retrograph.engine.text import escape
from retrograph.engine.thread import Snapshot
from retrograph.engine.views.shown import shown_changes
from retrograph.tui.reading.inspected import Inspected, state_of

Against = Literal["parent", "mark", "chosen"]

ALL = 1_000_000_000
"""Context that leaves nothing folded."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two states, and what changed from the old to the new."""

    against: Against
    other: Snapshot
    old: dict[str, Any]
    new: dict[str, Any]
    changes: Sequence[Change]

    @property
    def unreadable(self) -> str:
        """Why the other one has no values to compare with, in a sentence; "" where it has."""
        why = self.other.envelope.unreadable
        if not why:
            return ""
        return f"{self.title[0].upper()}{self.title[1:]} cannot be read: {escape(why)}."

    @property
    def title(self) -> str:
        """The other one, in words: `the parent ef56a7`, `step 3 85d4f2`; safe to draw."""
        step = self.other.envelope.step
        said = "" if step is None else f"step {step} "
        if self.against != "chosen":
            said = f"the {self.against} "
        return f"{said}{escape(self.other.key.id[-6:])}"

    def rows(self, everything: bool, unfold: Collection[Path]) -> list[DiffRow]:
        context = ALL if everything else 0
        return diff_rows(self.old, self.new, self.changes, context, unfold)


def compare(inspected: Inspected, against: Against) -> Comparison | None:
    """The checkpoint against its parent, the mark or the chosen one; `None` where there is no
    such."""
    other = _other(inspected, against)
    if other is None:
        return None
    old, new = state_of(other), inspected.values
    stored = inspected.stored
    if stored is None:
        return Comparison(against, other, old, new, diff(old, new))
    # That something hidden changed is told.
    theirs = _other(stored, against)
    assert theirs is not None
    changes = diff(state_of(theirs), stored.values)
    found = shown_changes(state_of(theirs), stored.values, changes, inspected.redactor)
    return Comparison(against, other, *found)


def _other(inspected: Inspected, against: Against) -> Snapshot | None:
    if against == "mark":
        return inspected.mark
    return inspected.chosen if against == "chosen" else inspected.parent
