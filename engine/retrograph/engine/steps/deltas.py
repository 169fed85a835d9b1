"""DeltaChannels: a value that is mostly not stored, but is a fold of the writes since a snapshot.

LangGraph stores such a channel only now and then, and counts the updates in between in
`metadata.counters_since_delta_snapshot`. The value is the nearest stored one, folded with the
writes since along this line by the channel's reducer, which is the user's code: so without the
graph both are given, never an empty list. Source: `get_delta_channel_history` in
`langgraph/checkpoint/base`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrograph.engine.model import CheckpointKey, Envelope
from retrograph.engine.steps.channels import channel_values
from retrograph.engine.values import ABSENT, Delta

if TYPE_CHECKING:
    from retrograph.engine.thread import Thread

_CHUNK = 64
"""Ancestors read at a time; LangGraph snapshots every 1,000 updates or sooner."""


def delta_gaps(envelope: Envelope) -> set[str]:
    """Channels whose value is not stored at this checkpoint because it is kept as writes."""
    counters = envelope.metadata.get("counters_since_delta_snapshot")
    if not isinstance(counters, Mapping):
        return set()
    return {c for c in envelope.versions if c in counters and c not in envelope.present}


def delta_values(thread: Thread, i: int, envelope: Envelope) -> dict[str, Delta]:
    """The gaps of one checkpoint: the nearest snapshot on its line, and the writes since."""
    gaps = delta_gaps(envelope)
    history, loader, decode = thread.history, thread.loader, thread.serde.decode
    writes: dict[str, list[Any]] = {channel: [] for channel in gaps}
    seeds: dict[str, Any] = {}
    line = history.line(i)[:-1] if gaps else []
    while gaps and line:
        line, chunk = line[:-_CHUNK], line[-_CHUNK:]
        ids = [history.ids[k] for k in chunk]
        stored = thread.envelopes_of(envelope.ns, chunk)
        made = loader.read_writes(thread.thread_id, envelope.ns, ids, sorted(gaps))
        for k in reversed(chunk):
            for write in reversed(made.get(history.ids[k], ())):
                if write.channel in gaps:
                    writes[write.channel].append(decode(write.value))
            here = stored.get(k)
            found = gaps & here.present if here is not None else set()
            if found:
                key = CheckpointKey(thread.thread_id, envelope.ns, history.ids[k])
                held = channel_values(loader.read(key), thread.serde)
                seeds.update({channel: held.get(channel, ABSENT) for channel in found})
                gaps -= found
    return {
        channel: Delta(seeds.get(channel, ABSENT), reversed(since))
        for channel, since in writes.items()
    }
