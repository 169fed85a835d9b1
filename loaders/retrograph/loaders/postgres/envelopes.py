"""Checkpoints without their values: a thread page by page, and the heads of many threads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from retrograph.engine.model import CheckpointKey, Envelope, WriteRow
from retrograph.engine.serde import Serde
from retrograph.loaders.postgres import queries
from retrograph.loaders.postgres.blobs import Blobs
from retrograph.loaders.postgres.bodies import parse
from retrograph.loaders.postgres.layout import Layout
from retrograph.loaders.postgres.session import Reading

_ROWS: Final = 500
_BYTES: Final = 8 << 20
_HEADS: Final = 200

in_order: Final = itemgetter(0, 1, 3, 2, 4)
"""The key that sorts `WriteRow`s as LangGraph applies them."""


def read_envelopes(
    reading: Reading,
    layout: Layout,
    serde: Serde,
    thread_id: str,
    ns: str | None,
    ids: Sequence[str] | None,
) -> Iterator[list[Envelope]]:
    """In batches, ordered by namespace and id."""
    index = reading.all(queries.bodies_index(layout, thread_id, ns, ids))
    channels: dict[str, tuple[str, ...]] = {}
    blobs = Blobs(reading, layout, serde)
    for part_ns, part in pages(index):
        statements = [queries.bodies(layout, thread_id, part_ns, part)]
        if part_ns not in channels:
            statements.append(queries.blob_channels(layout, thread_id, part_ns))
        rows, *names = reading.several(*statements)
        if names:
            channels[part_ns] = tuple(row[0] for row in names[0])
        found = parse(in_sequence(rows, part), serde)
        bodies = [(thread_id, part_ns, body) for body in found]
        yield blobs.envelopes(bodies, channels[part_ns])
        reading.go_on()


def read_heads(
    reading: Reading, layout: Layout, serde: Serde, keys: Sequence[CheckpointKey]
) -> Mapping[CheckpointKey, tuple[Envelope, Sequence[WriteRow]]]:
    """Checkpoints of many threads, each with its writes; those that are gone are left out."""
    found: dict[CheckpointKey, tuple[Envelope, Sequence[WriteRow]]] = {}
    blobs = Blobs(reading, layout, serde)
    for start in range(0, len(keys), _HEADS):
        chunk = keys[start : start + _HEADS]
        rows, written = reading.several(
            queries.bodies_of(layout, chunk), queries.write_rows_of(layout, chunk)
        )
        writes: dict[CheckpointKey, list[Any]] = {CheckpointKey(*row[:3]): [] for row in rows}
        for row in written:
            key = CheckpointKey(row[0], row[1], row[2])
            if key in writes:
                writes[key].append(row[1:])
        bodies = parse([row[2:] for row in rows], serde)
        given = [(row[0], row[1], body) for row, body in zip(rows, bodies, strict=True)]
        for (thread_id, ns, body), envelope in zip(given, blobs.envelopes(given), strict=True):
            key = CheckpointKey(thread_id, ns, body.id)
            found[key] = (envelope, sorted(writes[key], key=in_order))
    return found


def pages(index: Iterable[tuple[Any, ...]]) -> Iterator[tuple[str, list[str]]]:
    """(ns, id, bytes) in order → ids of one namespace, some megabytes each."""
    page: list[str] = []
    page_ns, bytes_ = "", 0
    for ns, id_, size in index:
        if page and (ns != page_ns or len(page) == _ROWS or bytes_ + size > _BYTES):
            yield page_ns, page
            page, bytes_ = [], 0
        page_ns = ns
        page.append(id_)
        bytes_ += size
    if page:
        yield page_ns, page


def in_sequence(rows: Iterable[tuple[Any, ...]], ids: Sequence[str]) -> list[tuple[Any, ...]]:
    """Rows that begin with an id, in the order of the ids; those that are gone are left out."""
    by_id = {row[0]: row for row in rows}
    return [by_id[id_] for id_ in ids if id_ in by_id]
