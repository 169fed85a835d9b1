"""The diff that a tab shows: rows made off the screen's thread, and words where they are seen."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from retrograph.engine.diff.changes import Change, Path, diff
from retrograph.engine.diff.rows import DiffRow, diff_rows
from retrograph.engine.thread import Snapshot
from retrograph.engine.views.shown import shown_changes
from retrograph.tui.reading.inspected import Inspected, state_of

Against = Literal["parent", "mark"]

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

    def rows(self, everything: bool, unfold: Collection[Path]) -> list[DiffRow]:
        context = ALL if everything else 0
        return diff_rows(self.old, self.new, self.changes, context, unfold)


def compare(inspected: Inspected, against: Against) -> Comparison | None:
    """The checkpoint against its parent or the mark; `None` where there is no such."""
    other = inspected.mark if against == "mark" else inspected.parent
    if other is None:
        return None
    old, new = state_of(other), inspected.values
    stored = inspected.stored
    if stored is None:
        return Comparison(against, other, old, new, diff(old, new))
    # That something hidden changed is told.
    theirs = stored.mark if against == "mark" else stored.parent
    assert theirs is not None
    changes = diff(state_of(theirs), stored.values)
    found = shown_changes(state_of(theirs), stored.values, changes, inspected.redactor)
    return Comparison(against, other, *found)
