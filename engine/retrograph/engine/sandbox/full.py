"""All ancestors with their writes, for a sandbox that stands alone (`--full`).

They are streamed, and copied as stored: what must be put right to run from one of them is put
right when somebody does. Values that a backend stores outside the checkpoint, once a version, are
put into each checkpoint that has them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from retrograph.engine.host.requests import CheckpointRow, StoredWrite
from retrograph.engine.model import CheckpointKey, RawCheckpoint, ReadsBodies, Typed
from retrograph.engine.sandbox.body import copied, copied_metadata
from retrograph.engine.sandbox.closure import Closure, led_here, parents_in, was_before, write_rows
from retrograph.engine.serde import envelope as read_envelope
from retrograph.engine.thread import Thread

_CHUNK: Final = 200

Add = Callable[[Sequence[CheckpointRow], Sequence[StoredWrite]], None]


def copy_ancestors(
    thread: Thread, closure: Closure, add: Add, done: Callable[[int], None] = lambda count: None
) -> None:
    """Give to `add` everything that led to where the closure begins, some megabytes at a time.

    `done` is told how many checkpoints have been copied. Raises `SourceError`.
    """
    count = 0
    for ns, ids in ancestors_of(thread, closure.levels):
        for start in range(0, len(ids), _CHUNK):
            chunk = ids[start : start + _CHUNK]
            writes = thread.loader.read_writes(thread.thread_id, ns, chunk)
            rows: list[StoredWrite] = []
            for id_ in chunk:
                key = CheckpointKey(thread.thread_id, ns, id_)
                rows += write_rows(key, iter(writes.get(id_, ())), thread.serde)
            add((), rows)
        for batch in _bodies(thread, ns, ids):
            add([_row(thread, raw) for raw in batch], ())
            count += len(batch)
            done(count)


def ancestors_of(
    thread: Thread, levels: Sequence[CheckpointKey]
) -> Iterator[tuple[str, list[str]]]:
    """By namespace the checkpoints that came before a checkpoint, in order; `levels`: those around
    it, and itself."""
    history = thread.history
    ids = history.ids
    lines: dict[str, list[str]] = {}
    for level in levels:
        lines[level.ns] = [ids[k] for k in history.line(history.find(level.ns, level.id))[:-1]]
    before = {level.ns: led_here(thread, level) for level in levels}
    yield from ((ns, sorted(line)) for ns, line in lines.items() if line)
    for ns in history.namespaces():
        if ns in lines:
            continue
        found: list[str] = []
        span = history.span(ns)
        for start in range(span.start, span.stop, _CHUNK):
            chunk = ids[start : min(start + _CHUNK, span.stop)]
            keys = [CheckpointKey(thread.thread_id, ns, id_) for id_ in chunk]
            found += [
                detail.key.id
                for detail in thread.loader.details(keys)
                if was_before(detail.key, parents_in(detail.metadata, ns), levels, before)
            ]
        if found:
            yield ns, found


def _bodies(thread: Thread, ns: str, ids: list[str]) -> Iterator[Sequence[RawCheckpoint]]:
    loader = thread.loader
    if not isinstance(loader, ReadsBodies):
        for id_ in ids:
            yield [loader.read(CheckpointKey(thread.thread_id, ns, id_))]
        return
    met: dict[str, dict[str, Typed]] = {}
    for batch in loader.bodies(thread.thread_id, ns, ids):
        yield [_with_blobs(raw, met) for raw in batch]


def _with_blobs(raw: RawCheckpoint, met: dict[str, dict[str, Typed]]) -> RawCheckpoint:
    """With the values too that an earlier checkpoint of the same versions has brought."""
    if raw.checkpoint.type != "json" or (not raw.blobs and not met):
        return raw
    versions = _versions(raw)
    for channel, blob in raw.blobs.items():
        met.setdefault(channel, {})[versions.get(channel, "")] = blob
    blobs = {
        channel: found[version]
        for channel, version in versions.items()
        if (found := met.get(channel)) is not None and version in found
    }
    return replace(raw, blobs=blobs)


def _versions(raw: RawCheckpoint) -> dict[str, str]:
    body: Any = json.loads(raw.checkpoint.data)
    return {channel: str(version) for channel, version in body["channel_versions"].items()}


def _row(thread: Thread, raw: RawCheckpoint) -> CheckpointRow:
    ns, id_ = raw.key.ns, raw.key.id
    known = read_envelope(ns, id_, raw.parent_id, raw.checkpoint, raw.metadata, thread.serde)
    if known.unreadable:
        # It is shown as broken there too.
        return CheckpointRow(ns, id_, raw.parent_id, raw.checkpoint, raw.metadata.data)
    step = thread.history.step(thread.history.find(ns, id_))
    body = copied(raw, known, thread.serde, {})
    return CheckpointRow(ns, id_, raw.parent_id, body, copied_metadata(raw, known, step))
