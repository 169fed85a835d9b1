"""What stands in for a checkpoint's ancestors where its DeltaChannels need their writes.

LangGraph gives all writes since the nearest stored value to one call of the reducer, so it does
not matter which checkpoints they lie at: one row, with that value and those writes, is as good as
up to a thousand whole checkpoints (`get_delta_channel_history` in `langgraph/checkpoint/base`).
"""

from __future__ import annotations

import json
from typing import Final

from retrograph.engine.history import NONE
from retrograph.engine.host.requests import CheckpointRow, StoredWrite
from retrograph.engine.model import CheckpointKey, Envelope, Typed
from retrograph.engine.sandbox.body import Body, plain_write
from retrograph.engine.serde.packing import pack, pack_map
from retrograph.engine.steps.arrivals import STAND_IN
from retrograph.engine.steps.deltas import delta_gaps
from retrograph.engine.thread import Thread

_CHUNK: Final = 64


class Stub:
    """The stub of one checkpoint; `row` is `None` where it needs none."""

    def __init__(self, thread: Thread, i: int, envelope: Envelope) -> None:
        """Reads the ancestors of `i` from the nearest on, as far as needed."""
        self.row: CheckpointRow | None = None
        self.writes: list[StoredWrite] = []
        self.lost: set[str] = set()
        """Channels whose values cannot be told: an ancestor that they need is gone."""
        self._thread = thread
        self._ns = envelope.ns
        gaps = delta_gaps(envelope)
        if not gaps:
            return
        history = thread.history
        if history.parent(i) == NONE:
            self.lost = gaps if history.parent_id(i) else set()
            return
        seeds, found = self._collect(history.line(i)[:-1], set(gaps))
        self._make(envelope, history.ids[history.parent(i)], seeds, found)

    def _collect(
        self, line: list[int], gaps: set[str]
    ) -> tuple[dict[str, bytes], list[tuple[str, Typed]]]:
        """(stored values by channel, writes oldest first)."""
        thread, history = self._thread, self._thread.history
        root = line[0]
        seeds: dict[str, bytes] = {}
        found: list[tuple[str, Typed]] = []
        while gaps and line:
            line, chunk = line[:-_CHUNK], line[-_CHUNK:]
            ids = [history.ids[k] for k in chunk]
            stored = thread.envelopes_of(self._ns, chunk)
            made = thread.loader.read_writes(thread.thread_id, self._ns, ids, sorted(gaps))
            for k in reversed(chunk):
                key = CheckpointKey(thread.thread_id, self._ns, history.ids[k])
                for write in reversed(made.get(key.id, ())):
                    if write.channel in gaps:
                        value = plain_write(write.value, thread.serde, key, write.channel)
                        found.append((write.channel, value))
                here = stored.get(k)
                if here is not None and gaps & here.present:
                    values = Body.read(thread.loader.read(key), thread.serde).values
                    seeds.update({c: values[c] for c in gaps & values.keys()})
                    gaps -= values.keys()
                if not gaps:
                    break
        if history.parent_id(root) and gaps:
            self.lost = gaps
        found.reverse()
        return seeds, found

    def _make(
        self,
        envelope: Envelope,
        parent_id: str,
        seeds: dict[str, bytes],
        found: list[tuple[str, Typed]],
    ) -> None:
        versions = {c: version for c, version in envelope.versions.items() if c in seeds}
        entries = {
            "v": pack(envelope.v),
            "id": pack(parent_id),
            "ts": pack("1970-01-01T00:00:00+00:00"),
            "channel_versions": pack({c: str(version) for c, version in versions.items()}),
            "versions_seen": pack({}),
            "updated_channels": pack(None),
        }
        step = (envelope.step or 0) - 1
        parents = envelope.metadata.get("parents")
        metadata = {"source": "loop", "step": step, "parents": parents or {}, STAND_IN: True}
        body = Typed("msgpack", pack_map({**entries, "channel_values": pack_map(seeds)}))
        self.row = CheckpointRow(self._ns, parent_id, None, body, json.dumps(metadata).encode())
        # Never the task id of zeros: what it wrote counts as the checkpoint's own input.
        self.writes = [
            StoredWrite(
                self._ns,
                parent_id,
                f"00000000-0000-0000-0000-{n:012x}",
                f"~{n:08d}",
                0,
                channel,
                value,
            )
            for n, (channel, value) in enumerate(found, 1)
        ]
