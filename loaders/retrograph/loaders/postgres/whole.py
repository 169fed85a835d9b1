"""Whole checkpoints of a namespace, byte for byte, each blob once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from retrograph.engine.model import CheckpointKey, RawCheckpoint, Typed
from retrograph.loaders.postgres import queries
from retrograph.loaders.postgres.blobs import as_stored
from retrograph.loaders.postgres.envelopes import in_sequence, pages
from retrograph.loaders.postgres.layout import Layout
from retrograph.loaders.postgres.queries import Place
from retrograph.loaders.postgres.session import Reading

_BYTES: Final = 8 << 20
"""Bytes of blobs that are fetched together."""


def read_bodies(
    reading: Reading, layout: Layout, thread_id: str, ns: str, ids: Sequence[str] | None
) -> Iterator[list[RawCheckpoint]]:
    """Without writes, in batches ordered by id. A value whose version an earlier checkpoint had
    is left out of `blobs`."""
    index, names = reading.several(
        queries.bodies_index(layout, thread_id, ns, ids),
        queries.blob_channels(layout, thread_id, ns),
    )
    channels = {row[0] for row in names}
    # By channel the versions met so far, of all of the thread: forks go back to old ones.
    met: set[tuple[str, str]] = set()
    for _, page in pages(index):
        found = reading.all(queries.full_bodies(layout, thread_id, ns, page))
        waiting: list[tuple[tuple[Any, ...], list[Place]]] = []
        for row in in_sequence(found, page):
            fresh = [
                (channel, version)
                for channel, version in _versions(row[4])
                if channel in channels and (channel, version) not in met
            ]
            met.update(fresh)
            waiting.append((row, [(thread_id, ns, *pair) for pair in fresh]))
        for part in _parts(reading, layout, waiting):
            yield _whole(reading, layout, thread_id, ns, part)
            reading.go_on()


def as_json(text: str | None) -> Typed:
    """JSONB as the JSON text that the server makes of it."""
    return Typed("json", (text or "{}").encode())


def _versions(text: str | None) -> Iterator[tuple[str, str]]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict):
        for channel, version in found.items():
            if isinstance(version, str | int | float):
                yield channel, as_stored(version)


def _parts(
    reading: Reading, layout: Layout, page: list[tuple[tuple[Any, ...], list[Place]]]
) -> Iterator[list[tuple[tuple[Any, ...], list[Place]]]]:
    """A page in pieces whose blobs have some megabytes together."""
    places = [place for _, some in page for place in some]
    sizes: dict[Place, int] = {}
    if places:
        for *where, _, _, size in reading.all(queries.blob_heads(layout, places, 0)):
            thread_id, ns, channel, version = where
            sizes[thread_id, ns, channel, version] = size or 0
    part: list[tuple[tuple[Any, ...], list[Place]]] = []
    bytes_ = 0
    for row, some in page:
        size = sum(sizes.get(place, 0) for place in some)
        if part and bytes_ + size > _BYTES:
            yield part
            part, bytes_ = [], 0
        part.append((row, [place for place in some if place in sizes]))
        bytes_ += size
    if part:
        yield part


def _whole(
    reading: Reading,
    layout: Layout,
    thread_id: str,
    ns: str,
    part: list[tuple[tuple[Any, ...], list[Place]]],
) -> list[RawCheckpoint]:
    places = [place for _, some in part for place in some]
    values: dict[tuple[str, str], Typed] = {}
    if places:
        for _, _, channel, version, kind, value in reading.all(queries.blobs(layout, places)):
            if kind != "empty":
                values[channel, version] = Typed(kind, value or b"")
    return [
        RawCheckpoint(
            key=CheckpointKey(thread_id, ns, row[0]),
            parent_id=row[1],
            checkpoint=as_json(row[2]),
            metadata=as_json(row[3]),
            blobs={place[2]: values[place[2:]] for place in some if place[2:] in values},
        )
        for row, some in part
    ]
