"""One channel along the line to a checkpoint: its versions without decoding, its values on demand.

A place in the line is a position: 0 is the root, the last one the checkpoint itself.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from retrograph.engine.model import CheckpointKey, Envelope, Version
from retrograph.engine.steps.channels import named
from retrograph.engine.steps.deltas import delta_gaps, delta_values
from retrograph.engine.thread import Thread
from retrograph.engine.values import ABSENT, Delta, Value, field

_TOGETHER: Final = 7
"""Checkpoints whose versions are read at once."""
_CHUNK: Final = 200
_KEPT_BYTES: Final = 64 << 20
"""Stored bytes of the checkpoints whose values are kept."""


class _Known(NamedTuple):
    """What an envelope says of the channel."""

    version: Version | None
    present: bool
    gap: Envelope | None
    """The envelope where the value is kept as writes."""


class Line:
    """The channel from the root of a line to one checkpoint."""

    def __init__(
        self, thread: Thread, checkpoint: int, channel: str, value: Value, envelope: Envelope
    ) -> None:
        """`value`, `envelope`: of the checkpoint, which the caller has decoded."""
        self.checkpoints = thread.history.line(checkpoint)
        self.decoded = 1
        """Checkpoints that were decoded, that one among them."""
        self._thread = thread
        self._ns = thread.history.ns(checkpoint)
        self._channel = channel
        self._known: dict[int, _Known] = {len(self) - 1: self._said(envelope)}
        self._values: OrderedDict[Any, tuple[Value, int]] = OrderedDict()
        self._bytes = 0
        self._keep(len(self) - 1, value, 0)

    def __len__(self) -> int:
        return len(self.checkpoints)

    def version(self, at: int) -> Version | None:
        """The channel's version; `None` where it has none, and where none can be read."""
        return self._at(at).version

    def known_absent(self, at: int) -> bool:
        """Whether the channel has no value there, told without decoding."""
        known = self._at(at)
        return not known.present and known.gap is None

    def value(self, at: int) -> Value:
        """What the channel holds, `ABSENT` where nothing is stored."""
        if self.known_absent(at):
            return ABSENT
        key = self._key(at)
        if key in self._values:
            self._values.move_to_end(key)
            return self._values[key][0]
        value, size = self._decode(at)
        self.decoded += 1
        self._keep(at, value, size)
        return value

    def same_version_since(self, at: int) -> int:
        """The first position from which on to `at` the version is the same."""
        version = self.version(at)
        if version is None:
            return at
        same, other = at, -1
        step = 1
        while same and other < 0:
            tried = sorted({max(same - step * 2**k, 0) for k in range(4)}, reverse=True)
            same, other = self._split(tried, version, same, other)
            step *= 16
        while same - other > 1:
            width = (same - other) / (_TOGETHER + 1)
            tried = sorted({other + max(1, round(width * k)) for k in range(1, _TOGETHER + 1)})
            same, other = self._split(tried[::-1], version, same, other)
        return same

    def know_all(self, at: int) -> None:
        """Read the versions of all positions up to one."""
        for end in range(at, -1, -_CHUNK):
            self._know(range(max(end - _CHUNK + 1, 0), end + 1))

    def changes(self, at: int) -> Iterator[int]:
        """Positions from `at` back at which the version is another than before; the last is 0."""
        while at > 0:
            if at - 1 not in self._known:
                self._know(range(max(at - _CHUNK, 0), at + 1))
            here = self.version(at)
            if here is None or self.version(at - 1) != here:
                yield at
            at -= 1
        yield 0

    def _split(
        self, tried: Sequence[int], version: Version, same: int, other: int
    ) -> tuple[int, int]:
        """The least position with the version, and the greatest without, of those tried."""
        tried = [at for at in tried if other < at < same]
        self._know(tried)
        for at in tried:
            if self._known[at].version != version:
                return same, at
            same = at
        return same, other

    def _at(self, at: int) -> _Known:
        if at not in self._known:
            self._know([at])
        return self._known[at]

    def _know(self, positions: Sequence[int]) -> None:
        wanted = {self.checkpoints[at]: at for at in positions if at not in self._known}
        if not wanted:
            return
        found = self._thread.envelopes_of(self._ns, list(wanted))
        for i, at in wanted.items():
            envelope = found.get(i)
            gone = _Known(None, False, None)
            self._known[at] = gone if envelope is None else self._said(envelope)

    def _said(self, envelope: Envelope) -> _Known:
        channel = self._channel
        gap = envelope if channel in delta_gaps(envelope) else None
        return _Known(envelope.versions.get(channel), channel in envelope.present, gap)

    def _key(self, at: int) -> Any:
        version = self._known[at].version
        return ("at", at) if version is None else version

    def _keep(self, at: int, value: Value, size: int) -> None:
        self._values[self._key(at)] = (value, size)
        self._bytes += size
        while self._bytes > _KEPT_BYTES and len(self._values) > 2:
            self._bytes -= self._values.popitem(last=False)[1][1]

    def _decode(self, at: int) -> tuple[Value, int]:
        """The value, and about how much of the store it holds in memory."""
        thread, i, channel = self._thread, self.checkpoints[at], self._channel
        gap = self._known[at].gap
        if gap is not None:
            return delta_values(thread, i, gap).get(channel, ABSENT), 0
        raw = thread.loader.read(CheckpointKey(thread.thread_id, self._ns, thread.history.ids[i]))
        blob = raw.blobs.get(channel)
        if blob is not None:
            value, size = thread.serde.decode(blob), len(blob.data)
        else:
            stored = named(field(thread.serde.decode(raw.checkpoint), "channel_values"))
            value, size = stored.get(channel, ABSENT), len(raw.checkpoint.data)
        return (value.snapshot if isinstance(value, Delta) else value), size
