"""Who last set a value, and what it was before: along the line of one checkpoint.

A channel's value is the same as long as its version is, and versions only grow along a line: where
the newest one begins is found by doubling and halving steps, without decoding. If the value was
the same before that too (something else in the channel changed), values are looked at, again by
doubling and halving. That takes at most 2 log₂ n + 2 decoded checkpoints where the value, once
set, stayed; a value that changed and changed back between two looks is missed, so `certain` says
whether there is such a gap, and `exact` looks at each version.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from retrograph.engine.errors import RefError, UsageError
from retrograph.engine.lineage import Line
from retrograph.engine.paths import resolve
from retrograph.engine.redact import Redactor
from retrograph.engine.sameness import same
from retrograph.engine.setters import Setter, setter
from retrograph.engine.shown import shown_at, shown_path
from retrograph.engine.thread import Thread
from retrograph.engine.tracking import Track
from retrograph.engine.values import ABSENT, Value

_FIRST_STEP = 4
"""Checkpoints of the first leap back. With fewer, a value set long ago would take more looks."""


@dataclass(frozen=True, slots=True)
class Set:
    """A value being set: by whom, at which checkpoint it is first seen, where it stood there."""

    checkpoint: int
    by: Setter
    path: tuple[object, ...]
    value: Value
    """Redacted; `ABSENT` where it was removed."""


class Blame:
    """The history of one value, newest first. Iterate for the settings; each is looked for when
    it is asked for."""

    def __init__(
        self,
        thread: Thread,
        checkpoint: int,
        path: str,
        redactor: Redactor | None = None,
        exact: bool = False,
    ) -> None:
        """Reads the checkpoint. Raises `RefError` where nothing stands at the path there, and
        `UsageError` where it names the whole state."""
        history = thread.history
        snapshot = thread.snapshot(history.ns(checkpoint), history.ids[checkpoint])
        values = dict(snapshot.values)
        if not values:
            raise RefError(f"Checkpoint {snapshot.key.id} holds no values.")
        keys, value = resolve(values, path)
        if not keys:
            raise UsageError("Say which value is meant: a channel, or a place in one.")
        self.path = keys
        self._thread = thread
        self._redactor = redactor or Redactor()
        self._exact = exact
        self._channel = str(keys[0])
        whole = values[self._channel]
        self._line = Line(thread, checkpoint, self._channel, whole, snapshot.envelope)
        self._value = value
        self.certain = True
        """Whether no change can have been missed, as far as it was looked."""

    @property
    def length(self) -> int:
        """Checkpoints of the line."""
        return len(self._line)

    @property
    def decoded(self) -> int:
        """Checkpoints that were decoded so far."""
        return self._line.decoded

    def __iter__(self) -> Iterator[Set]:
        line = self._line
        end, target = len(line) - 1, self._value
        track = Track(line.value(end), self.path[1:])
        while True:
            begin = self._begin(track, target, end)
            if begin == 0 and target is ABSENT:
                return
            yield self._set(track, target, begin)
            if begin == 0:
                return
            end = begin - 1
            path, target = track.find(line.value(end))
            if target is not ABSENT:
                track = Track(line.value(end), path)
            elif not self._was_there(track, end):
                return

    def _set(self, track: Track, target: Value, at: int) -> Set:
        line, channel = self._line, self._channel
        whole = line.value(at)
        path = (channel, *track.find(whole)[0])
        by = setter(self._thread, line.checkpoints[at], channel, track, target, whole)
        shown = ABSENT
        if target is not ABSENT:
            shown = shown_at({channel: whole}, path, self._redactor)
        return Set(line.checkpoints[at], by, shown_path(path, self._redactor), shown)

    def _was_there(self, track: Track, end: int) -> bool:
        """Whether a value that is not there at `end` had been there before."""
        if self._exact:
            return any(self._is(track, k, None) for k in self._line.changes(end))
        if end and not self._line.known_absent(0):
            self.certain = False
        return not self._line.known_absent(0) and self._is(track, 0, None)

    def _is(self, track: Track, at: int, target: Value | None) -> bool:
        """Whether the value at a checkpoint is `target`; with `None`: whether it is there."""
        found = track.find(self._line.value(at))[1]
        if target is None:
            return found is not ABSENT
        return found is target or (
            found is not ABSENT and target is not ABSENT and same(found, target)
        )

    def _begin(self, track: Track, target: Value, end: int) -> int:
        """Since when the value has been the same."""
        line = self._line
        if self._exact:
            changes = line.changes(end)
            return next(at for at in changes if not at or not self._is(track, at - 1, target))
        begin = line.same_version_since(end)
        if begin == 0 or not self._is(track, begin - 1, target):
            return begin
        there, step, other = begin - 1, _FIRST_STEP, -1
        while there and other < 0:
            at = max(there - step, 0)
            if self._is(track, at, target):
                there, step = self._leapt(there, at), step * 2
            else:
                other = at
        while there and there - other > 1:
            at = (there + other) // 2
            if self._is(track, at, target):
                there = self._leapt(there, at)
            else:
                other = at
        return there

    def _leapt(self, there: int, at: int) -> int:
        if at < there - 1 and self._line.version(at) != self._line.version(there):
            self.certain = False
        return at
