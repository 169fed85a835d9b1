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

from retrograph.engine.diff.sameness import same
from retrograph.engine.errors import RefError, UsageError
from retrograph.engine.paths import resolve
from retrograph.engine.search.lineage import Line
from retrograph.engine.search.setters import Setter, setter
from retrograph.engine.search.tracking import Track, earlier
from retrograph.engine.thread import Thread
from retrograph.engine.values import ABSENT, Value
from retrograph.engine.views.redact import Redactor
from retrograph.engine.views.shown import shown_at, shown_path

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
        line, end, target = self._line, len(self._line) - 1, self._value
        track = Track(line.value(end), self.path[1:])
        while True:
            begin, track = self._begin(track, target, end)
            if begin == 0 and target is ABSENT:
                return
            yield self._set(track, target, begin)
            if begin == 0:
                return
            end = begin - 1
            path, target = self._before(track, begin)
            if target is not ABSENT:
                track = Track(line.value(end), path)
            elif not self._was_there(track, end):
                return

    def _set(self, track: Track, target: Value, at: int) -> Set:
        channel, whole = self._channel, self._line.value(at)
        checkpoint = self._line.checkpoints[at]
        path = (channel, *track.find(whole)[0])
        by = setter(self._thread, checkpoint, channel, track, target, whole)
        shown = ABSENT
        if target is not ABSENT:
            shown = shown_at({channel: whole}, path, self._redactor)
        return Set(checkpoint, by, shown_path(path, self._redactor), shown)

    def _begin(self, track: Track, target: Value, end: int) -> tuple[int, Track]:
        """Since when the value has been the same, and the place as it is there."""
        line, at = self._line, end
        if self._exact:
            line.know_all(end)
        while True:
            at = line.same_version_since(at)
            if at == 0:
                return at, track
            path, before = self._before(track, at)
            if not _same(before, target):
                return at, track
            at -= 1
            if target is not ABSENT:
                track = Track(line.value(at), path)
            if not self._exact:
                at = self._leap(track, target, at)

    def _before(self, track: Track, at: int) -> tuple[tuple[object, ...], Value]:
        """Where the place stood one checkpoint before, and what stood there."""
        now, before = self._line.value(at), self._line.value(at - 1)
        path, value = track.find(now)
        return track.find(before) if value is ABSENT else earlier(now, before, path)

    def _leap(self, track: Track, target: Value, at: int) -> int:
        """The first checkpoint with the value, or one after it, told by a few looks."""
        step, other = _FIRST_STEP, -1
        while at and other < 0:
            tried = max(at - step, 0)
            if self._is(track, tried, target):
                at, step = self._leapt(at, tried), step * 2
            else:
                other = tried
        while at and at - other > 1:
            tried = (at + other) // 2
            if self._is(track, tried, target):
                at = self._leapt(at, tried)
            else:
                other = tried
        return at

    def _leapt(self, at: int, to: int) -> int:
        if to < at - 1 and self._line.version(to) != self._line.version(at):
            self.certain = False
        return to

    def _is(self, track: Track, at: int, target: Value) -> bool:
        return _same(track.find(self._line.value(at))[1], target)

    def _was_there(self, track: Track, end: int) -> bool:
        """Whether a value that is not there at `end` had been there before."""
        line = self._line
        if self._exact:
            return any(not self._is(track, at, ABSENT) for at in line.changes(end))
        if not end or (line.version(end) is None and line.known_absent(end)):
            return False  # a channel that has been written once keeps a version
        self.certain = False
        return not self._is(track, 0, ABSENT)


def _same(a: Value, b: Value) -> bool:
    return a is b or (a is not ABSENT and b is not ABSENT and same(a, b))
