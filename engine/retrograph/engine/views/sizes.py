"""What takes the room: stored bytes of a checkpoint by channel, and what grows along its line.

No value is decoded. MessagePack is walked at the top level of its map alone; JSON is measured as
it would be written. Along a line the sizes of checkpoints come from the index, those of channels
from some of its checkpoints.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from retrograph.engine.bulk import read_bodies
from retrograph.engine.history import History
from retrograph.engine.model import CheckpointKey, RawCheckpoint, ReadsSizes
from retrograph.engine.serde.codec import Serde, sniff
from retrograph.engine.serde.jsonplus import loads_plain
from retrograph.engine.serde.slices import VALUES, channel_slices
from retrograph.engine.thread import Thread
from retrograph.engine.values import Unreadable, field

LARGE: Final = 1_000_000
"""Bytes of a checkpoint from which on it is worth a warning."""

_SAMPLES: Final = 9
_SAMPLED_BYTES: Final = 128 << 20
"""Checkpoints of a line that are read for the sizes of their channels, and their bytes in sum."""


@dataclass(frozen=True, slots=True)
class ChannelSize:
    """One channel of a checkpoint."""

    channel: str
    size: int
    along: tuple[int, ...]
    """At checkpoints spread evenly over the line, oldest first, the last is `size`; 0: none."""
    growth: float
    """Bytes a checkpoint, over the whole line."""


@dataclass(frozen=True, slots=True)
class Growth:
    """A checkpoint that is larger than its parent."""

    checkpoint: int
    size: int
    more: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """Stored bytes, before compression by the backend."""

    checkpoint: int
    """All of it: values, versions, and what the backend stores outside the map."""
    values: int
    metadata: int
    writes: int
    """Of the step that began here."""
    channels: tuple[ChannelSize, ...]
    """The largest first; empty where the checkpoint cannot be walked (`unreadable` says why)."""
    line: tuple[int | None, ...]
    """Checkpoints from the root to this one, as the index says; `None` where it cannot."""
    grown: tuple[Growth, ...]
    """The largest steps of growth on the line, the largest first."""
    unreadable: str | None = None
    shared: bool = False
    """Whether checkpoints share stored values, so that their sizes do not add up."""

    @property
    def total(self) -> int | None:
        """Bytes of the line's checkpoints; `None` where the index does not say."""
        if self.shared:
            return None
        known = [size for size in self.line if size is not None]
        return sum(known) if len(known) == len(self.line) else None

    def to_json(self, history: History, channels: Sequence[str] | None = None) -> dict[str, Any]:
        """What `show --sizes --json` prints of it; `channels` limits it to some."""
        return {
            "checkpoint": self.checkpoint,
            "values": self.values,
            "metadata": self.metadata,
            "writes": self.writes,
            "unreadable": self.unreadable,
            "channels": [
                {
                    "channel": channel.channel,
                    "size": channel.size,
                    "along": list(channel.along),
                    "growth": round(channel.growth, 3),
                }
                for channel in self.channels
                if channels is None or channel.channel in channels
            ],
            "line": {
                "checkpoints": len(self.line),
                "size": self.total,
                "steps": [
                    {
                        "id": history.ids[growth.checkpoint],
                        "step": history.step(growth.checkpoint),
                        "size": growth.size,
                        "more": growth.more,
                    }
                    for growth in self.grown
                ],
            },
        }


def measure(thread: Thread, checkpoint: int, steps: int = 5) -> Sizes:
    """Sizes of one checkpoint and its line; of the line the `steps` largest steps of growth."""
    history = thread.history
    ns, id_ = history.ns(checkpoint), history.ids[checkpoint]
    line = history.line(checkpoint)
    raw = thread.loader.read(CheckpointKey(thread.thread_id, ns, id_))
    by_channel = channel_sizes(raw, thread.serde)
    own = by_channel if isinstance(by_channel, dict) else {}
    stored = _stored(thread, ns, line)
    along = _along(thread, ns, line, own, stored)
    return Sizes(
        checkpoint=len(raw.checkpoint.data) + sum(len(blob.data) for blob in raw.blobs.values()),
        values=sum(own.values()),
        metadata=len(raw.metadata.data),
        writes=sum(len(write.value.data) for write in raw.writes),
        channels=tuple(
            ChannelSize(channel, size, tuple(sizes), (size - sizes[0]) / max(len(line) - 1, 1))
            for channel, size in sorted(own.items(), key=lambda item: (-item[1], item[0]))
            for sizes in [[sample.get(channel, 0) for sample in along] or [size]]
        ),
        line=tuple(stored),
        grown=tuple(_grown(line, stored))[:steps],
        unreadable=by_channel if isinstance(by_channel, str) else None,
        shared=isinstance(thread.loader, ReadsSizes),
    )


def _stored(thread: Thread, ns: str, line: Sequence[int]) -> list[int | None]:
    """Bytes of each checkpoint of a line, as far as the source tells them."""
    history, loader = thread.history, thread.loader
    if isinstance(loader, ReadsSizes):
        sizes = loader.sizes(thread.thread_id, ns)
        return [sizes.get(history.ids[i]) for i in line]
    return [history.size(i) for i in line]


def channel_sizes(raw: RawCheckpoint, serde: Serde) -> dict[str, int] | str:
    """Bytes of each channel's value as it is stored; or why the checkpoint cannot be walked."""
    opened = serde.open(raw.checkpoint)
    if isinstance(opened, Unreadable):
        return opened.why
    kind, data = opened
    kind = sniff(data) if kind is None else kind
    found: dict[str, int] | str
    if kind == "msgpack":
        there = channel_slices(data)
        if there is None:
            return "it is broken, or not a checkpoint"
        found = {name: value.end - value.begin for name, value in there[1].items()}
    elif kind == "json":
        found = _json_sizes(data)
    else:
        return f"it is stored as {kind}"
    if isinstance(found, dict):
        found |= {channel: len(blob.data) for channel, blob in raw.blobs.items()}
    return found


def _json_sizes(data: bytes) -> dict[str, int] | str:
    body = loads_plain(data)
    values = body.get(VALUES) if isinstance(body, dict) else None
    if not isinstance(values, dict):
        return "it is broken, or not a checkpoint"
    return {str(name): _json_size(value) for name, value in values.items()}


def _json_size(value: Any) -> int:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return len(text.encode("utf-8", "surrogatepass"))


def _along(
    thread: Thread,
    ns: str,
    line: Sequence[int],
    own: Mapping[str, int],
    stored: Sequence[int | None],
) -> list[Mapping[str, int]]:
    """Sizes by channel at some checkpoints of a line; the last is the line's own end."""
    history = thread.history
    found = {line[-1]: own}
    unknown = sum(own.values())
    chosen = _spread(line, [unknown if size is None else size for size in stored])
    ids = [history.ids[i] for i in chosen]
    outside: dict[tuple[str, str], int] = {}
    for raw in read_bodies(thread.loader, thread.thread_id, ns, ids):
        sizes = channel_sizes(raw, thread.serde)
        if isinstance(sizes, dict):
            found[history.find(ns, raw.key.id)] = sizes | _left_out(raw, outside)
    return [found[i] for i in line if i in found]


def _left_out(raw: RawCheckpoint, outside: dict[tuple[str, str], int]) -> dict[str, int]:
    """Sizes of blobs that the reading leaves out since an earlier checkpoint had them; `outside`
    remembers those, by channel and version."""
    if raw.checkpoint.type != "json" or not (raw.blobs or outside):
        return {}
    versions = field(loads_plain(raw.checkpoint.data), "channel_versions")
    known = {}
    for channel, version in versions.items() if isinstance(versions, dict) else ():
        key = (channel, str(version))
        if channel in raw.blobs:
            outside[key] = len(raw.blobs[channel].data)
        elif key in outside:
            known[channel] = outside[key]
    return known


def _spread(line: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Checkpoints spread evenly over a line, its end left out, as many as may be read."""
    before = len(line) - 1
    for count in range(min(_SAMPLES - 1, before), 0, -1):
        places = [before * k // count for k in range(count)]
        if sum(sizes[at] for at in places) <= _SAMPLED_BYTES:
            return [line[at] for at in places]
    return []


def _grown(line: Sequence[int], stored: Sequence[int | None]) -> list[Growth]:
    found = []
    for k in range(1, len(line)):
        before, now = stored[k - 1], stored[k]
        if before is not None and now is not None and now > before:
            found.append(Growth(line[k], now, now - before))
    return sorted(found, key=lambda growth: (-growth.more, growth.checkpoint))
