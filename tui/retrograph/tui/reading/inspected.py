"""What the inspector shows: one checkpoint with its values, and what it is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from retrograph.engine.history import NONE, History
from retrograph.engine.text import escape
from retrograph.engine.thread import Snapshot, Thread
from retrograph.engine.values import equal
from retrograph.engine.views.redact import Redactor
from retrograph.engine.views.shown import shown_snapshot
from retrograph.tui.reading.known import Known


@dataclass(frozen=True)
class Inspected:
    """A checkpoint, read. Tabs are given it whole, and draw; they ask nobody else."""

    history: History
    known: Known
    """What has been read of the thread's steps; it grows."""
    checkpoint: int
    snapshot: Snapshot
    parent: Snapshot | None
    """`None` at a root, and where the parent is not stored."""
    mark: Snapshot | None
    """What the user marked last, if that is another checkpoint."""
    chosen: Snapshot | None
    """What the user chose to compare with, whatever it is."""
    redactor: Redactor
    stored: Inspected | None = None
    """All of it as it is stored, where something of it is hidden: for comparing, never to show."""

    @cached_property
    def values(self) -> dict[str, Any]:
        """The state's channels; at an input that has not run, the input itself."""
        return state_of(self.snapshot)

    @property
    def unreadable(self) -> str:
        """Why the checkpoint's values cannot be shown, in a sentence; "" where they can."""
        why = self.snapshot.envelope.unreadable
        return f"This checkpoint cannot be read: {escape(why)}." if why else ""

    @cached_property
    def changed(self) -> Mapping[str, str]:
        """Channels that are not as at the parent: "added" or "changed"."""
        if self.stored is not None:
            return self.stored.changed
        if self.parent is None:
            return {}
        before, versions = state_of(self.parent), self.parent.envelope.versions
        found = {}
        for channel, value in self.values.items():
            if channel not in before:
                found[channel] = "added"
            elif _moved(versions.get(channel), self.snapshot.envelope.versions.get(channel)) and (
                not equal(before[channel], value)
            ):
                found[channel] = "changed"
        return found

    @cached_property
    def removed(self) -> tuple[str, ...]:
        """Channels that the parent had and that are gone."""
        before = state_of(self.parent) if self.parent is not None else {}
        return tuple(channel for channel in before if channel not in self.values)


def _moved(before: object, now: object) -> bool:
    return before is None or now is None or before != now


def state_of(snapshot: Snapshot) -> dict[str, Any]:
    """The state's channels of a snapshot, an input that waits to be taken among them."""
    waiting = {
        name: snapshot.internal[name] for name in ("__start__",) if name in snapshot.internal
    }
    return {**snapshot.values, **waiting}


def read_inspected(
    thread: Thread,
    known: Known,
    checkpoint: int,
    mark: int,
    redactor: Redactor,
    chosen: int = NONE,
) -> Inspected:
    """Read a checkpoint, its parent, and the marked and the chosen one (`NONE`: none)."""
    history = thread.history

    def read(i: int) -> Snapshot | None:
        return thread.snapshot(history.ns(i), history.ids[i]) if i != NONE else None

    snapshot = read(checkpoint)
    assert snapshot is not None
    parent = history.parent(checkpoint)
    marked = mark if mark not in (checkpoint, parent) else NONE
    before = read(parent)
    inspected = Inspected(
        history=history,
        known=known,
        checkpoint=checkpoint,
        snapshot=snapshot,
        parent=before,
        mark=before if mark == parent and mark != NONE else read(marked),
        chosen=before if chosen == parent and chosen != NONE else read(chosen),
        redactor=redactor,
    )
    # Told here, where it may take its time.
    _ = inspected.changed
    if not redactor.hides_values:
        return inspected
    return replace(
        inspected,
        snapshot=shown_snapshot(snapshot, redactor),
        parent=_shown(inspected.parent, redactor),
        mark=_shown(inspected.mark, redactor),
        chosen=_shown(inspected.chosen, redactor),
        stored=inspected,
    )


def _shown(snapshot: Snapshot | None, redactor: Redactor) -> Snapshot | None:
    return None if snapshot is None else shown_snapshot(snapshot, redactor)
