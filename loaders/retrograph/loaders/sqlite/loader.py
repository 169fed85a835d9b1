"""The SQLite loader: LangGraph's checkpoint stores of all generations, and LangGraph.js's."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from retrograph.engine.errors import RefError
from retrograph.engine.model import (
    CheckpointKey,
    Detail,
    Envelope,
    IndexRow,
    RawCheckpoint,
    RawWrite,
    ThreadQuery,
    ThreadRow,
    WriteRow,
)
from retrograph.engine.serde import Serde, decode_metadata, envelope
from retrograph.engine.serde.ends import envelope_of_ends
from retrograph.loaders.sqlite.heads import Ends, ends_of, heads_together
from retrograph.loaders.sqlite.rows import Body, bodies, raw_writes
from retrograph.loaders.sqlite.store import Store
from retrograph.loaders.sqlite.threads import found_threads, thread_rows
from retrograph.loaders.sqlite.walks import IDS, index_pages, newer_rows, parts, write_pages


class SQLiteLoader:
    """One database file, read without a trace. Any thread may call."""

    name: str
    location: str
    warnings: list[str]
    read_only = True

    def __init__(self, path: Path, *, serde: Serde | None = None, patience: float = 5.0) -> None:
        """`patience`: seconds to wait for a writer that has the file to itself.

        Raises `SourceError` where there is no checkpoint store to be read.
        """
        self._serde = serde or Serde.from_env()
        self._store = Store(path, patience=patience)
        self.location = self._store.path
        self.warnings = self._store.warnings
        try:
            with self._store.reading() as reading:
                self.name = "SQLite (2024 layout)" if reading.layout.early else "SQLite"
        except BaseException:
            self._store.close()
            raise

    @property
    def application_id(self) -> int:
        """The number with which a program marks its databases, 0 where none has."""
        return int.from_bytes(os.pread(self._store.handle().descriptor, 4, 68), "big")

    def pairs(self, table: str) -> dict[str, str]:
        """(name, value) of a small table of our own. Raises `SourceError`."""
        with self._store.reading() as reading:
            return {str(k): str(v) for k, v in reading.all(f"SELECT name, value FROM {table}")}

    def threads(self, query: ThreadQuery) -> Iterator[ThreadRow]:
        with self._store.reading() as reading:
            found = found_threads(reading, query)
            for start in range(0, len(found), IDS):
                chunk = found[start : start + IDS]
                described = thread_rows(reading, chunk, query.sizes)
                yield from (described[t] for t in chunk if t in described)

    def thread(self, thread_id: str) -> ThreadRow | None:
        with self._store.reading() as reading:
            return thread_rows(reading, [thread_id], sizes=False).get(thread_id)

    def rows(self, thread_id: str, ns: str | None = None) -> Iterator[Sequence[IndexRow]]:
        with self._store.reading() as reading:
            yield from index_pages(reading, thread_id, ns, None)

    def newer(self, thread_id: str, than: str, limit: int) -> list[IndexRow]:
        with self._store.reading() as reading:
            return newer_rows(reading, thread_id, than, limit)

    def writes(
        self, thread_id: str, ns: str | None = None, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[WriteRow]]:
        with self._store.reading() as reading:
            yield from write_pages(reading, thread_id, ns, ids)

    def envelopes(
        self, thread_id: str, ns: str | None = None, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[Envelope]]:
        with self._store.reading() as reading:
            for page in index_pages(reading, thread_id, ns, ids):
                for part_ns, part in parts(page):
                    # Not kept in a name: these may be 80 MB while the next are read.
                    yield [self._envelope(b) for b in bodies(reading, thread_id, part_ns, part)]

    def heads(
        self, keys: Sequence[CheckpointKey]
    ) -> Mapping[CheckpointKey, tuple[Envelope, Sequence[WriteRow]]]:
        found: dict[CheckpointKey, tuple[Envelope, Sequence[WriteRow]]] = {}
        keys = list(dict.fromkeys(keys))
        with self._store.reading() as reading:
            for start in range(0, len(keys), IDS):
                for key, head in heads_together(reading, keys[start : start + IDS]).items():
                    found[key] = (self._envelope(head.body), head.writes)
            large = [key for key in keys if key not in found]
            told = self._told_by_ends(large)
            for key in large:
                envelope = told.get(key)
                if envelope is None:
                    for body in bodies(reading, key.thread_id, key.ns, [key.id]):
                        envelope = self._envelope(body)
                if envelope is not None:
                    pages = self.writes(key.thread_id, key.ns, [key.id])
                    found[key] = (envelope, [row for page in pages for row in page])
        return found

    def _told_by_ends(self, keys: Sequence[CheckpointKey]) -> dict[CheckpointKey, Envelope]:
        """Of these checkpoints, those that need not be read whole. Two connections read, since
        SQLite waits for the pages that it passes over, and lets Python go meanwhile."""
        if not keys:
            return {}
        # With it comes `logging`: only huge checkpoints need either.
        from concurrent.futures import ThreadPoolExecutor

        def read(some: Sequence[CheckpointKey]) -> list[Ends]:
            with self._store.reading() as reading:
                return ends_of(reading, some) if some else []

        with ThreadPoolExecutor(2) as pool:
            halves = list(pool.map(read, (keys[::2], keys[1::2])))
        found = {}
        for key, parent_id, kind, start, end, metadata in (*halves[0], *halves[1]):
            envelope = envelope_of_ends(
                key.ns, key.id, parent_id, kind, start, end, metadata, self._serde
            )
            if envelope is not None:
                found[key] = envelope
        return found

    def details(self, keys: Sequence[CheckpointKey]) -> list[Detail]:
        groups: dict[tuple[str, str], list[str]] = defaultdict(list)
        for key in keys:
            groups[key.thread_id, key.ns].append(key.id)
        found: dict[CheckpointKey, Detail] = {}
        with self._store.reading() as reading:
            for (thread_id, ns), ids in groups.items():
                for start in range(0, len(ids), IDS):
                    chunk = ids[start : start + IDS]
                    for body in bodies(reading, thread_id, ns, chunk, checkpoint=False):
                        key = CheckpointKey(thread_id, ns, body.id)
                        found[key] = Detail(key, decode_metadata(body.metadata, self._serde))
        return [found[key] for key in keys if key in found]

    def read(self, key: CheckpointKey) -> RawCheckpoint:
        with self._store.reading() as reading:
            found = bodies(reading, key.thread_id, key.ns, [key.id])
            if not found:
                raise RefError(_missing(key))
            body = found[0]
            writes = raw_writes(reading, key.thread_id, key.ns, [key.id], None)
        return RawCheckpoint(
            key=key,
            parent_id=body.parent_id,
            checkpoint=body.checkpoint,
            metadata=body.metadata,
            writes=writes.get(key.id, ()),
        )

    def bodies(
        self, thread_id: str, ns: str, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[RawCheckpoint]]:
        with self._store.reading() as reading:
            for page in index_pages(reading, thread_id, ns, ids):
                for _, part in parts(page):
                    found = bodies(reading, thread_id, ns, part)
                    yield [
                        RawCheckpoint(
                            CheckpointKey(thread_id, ns, body.id),
                            body.parent_id,
                            body.checkpoint,
                            body.metadata,
                        )
                        for body in found
                    ]

    def read_writes(
        self, thread_id: str, ns: str, ids: Sequence[str], channels: Sequence[str] | None = None
    ) -> Mapping[str, tuple[RawWrite, ...]]:
        found: dict[str, tuple[RawWrite, ...]] = {}
        with self._store.reading() as reading:
            for start in range(0, len(ids), IDS):
                chunk = ids[start : start + IDS]
                found |= raw_writes(reading, thread_id, ns, chunk, channels)
        return found

    def changed(self) -> bool:
        return self._store.changed()

    def interrupt(self) -> None:
        self._store.interrupt()

    def close(self) -> None:
        self._store.close()

    def _envelope(self, body: Body) -> Envelope:
        return envelope(
            body.ns, body.id, body.parent_id, body.checkpoint, body.metadata, self._serde
        )


def _missing(key: CheckpointKey) -> str:
    where = f" in namespace {key.ns}" if key.ns else ""
    return f"Thread {key.thread_id!r} has no checkpoint {key.id}{where}."
