"""The SQLite loader: LangGraph's checkpoint stores of all generations, and LangGraph.js's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

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
from retrograph.loaders.sqlite import queries
from retrograph.loaders.sqlite.heads import heads_together
from retrograph.loaders.sqlite.queries import After
from retrograph.loaders.sqlite.rows import Body, bodies, in_order, raw_writes, write_page
from retrograph.loaders.sqlite.store import Reading, Store

_ROWS = 2000
_IDS = 200
_BYTES = 8 << 20
_THREADS = 200

R = TypeVar("R")


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

    def threads(self, query: ThreadQuery) -> Iterator[ThreadRow]:
        with self._store.reading() as reading:
            found = self._found(reading, query)
            for start in range(0, len(found), _THREADS):
                chunk = found[start : start + _THREADS]
                described = _thread_rows(reading, chunk, query.sizes)
                yield from (described[t] for t in chunk if t in described)

    def thread(self, thread_id: str) -> ThreadRow | None:
        with self._store.reading() as reading:
            return _thread_rows(reading, [thread_id], sizes=False).get(thread_id)

    def rows(self, thread_id: str, ns: str | None = None) -> Iterator[Sequence[IndexRow]]:
        with self._store.reading() as reading:
            yield from _index(reading, thread_id, ns, None)

    def writes(
        self, thread_id: str, ns: str | None = None, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[WriteRow]]:
        with self._store.reading() as reading:
            if reading.layout.writes is None:
                return
            if ids is None:
                yield from _writes(reading, thread_id, ns, None)
                return
            chosen = [
                row
                for chunk in _chunks(ids)
                for page in _writes(reading, thread_id, ns, chunk)
                for row in page
            ]
            if chosen:
                yield sorted(chosen, key=in_order)

    def envelopes(
        self, thread_id: str, ns: str | None = None, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[Envelope]]:
        with self._store.reading() as reading:
            for page in self._index_of(reading, thread_id, ns, ids):
                for part_ns, part in _parts(page):
                    # Not kept in a name: these may be 80 MB while the next are read.
                    yield [self._envelope(b) for b in bodies(reading, thread_id, part_ns, part)]

    def heads(
        self, keys: Sequence[CheckpointKey]
    ) -> Mapping[CheckpointKey, tuple[Envelope, Sequence[WriteRow]]]:
        found: dict[CheckpointKey, tuple[Envelope, Sequence[WriteRow]]] = {}
        with self._store.reading() as reading:
            for start in range(0, len(keys), _IDS):
                for key, head in heads_together(reading, keys[start : start + _IDS]).items():
                    found[key] = (self._envelope(head.body), head.writes)
            for key in keys:
                if key not in found:
                    for body in bodies(reading, key.thread_id, key.ns, [key.id]):
                        pages = self.writes(key.thread_id, key.ns, [key.id])
                        found[key] = (self._envelope(body), [row for page in pages for row in page])
        return found

    def details(self, keys: Sequence[CheckpointKey]) -> list[Detail]:
        groups: dict[tuple[str, str], list[str]] = defaultdict(list)
        for key in keys:
            groups[key.thread_id, key.ns].append(key.id)
        found: dict[CheckpointKey, Detail] = {}
        with self._store.reading() as reading:
            for (thread_id, ns), ids in groups.items():
                for start in range(0, len(ids), _IDS):
                    chunk = ids[start : start + _IDS]
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
            for page in self._index_of(reading, thread_id, ns, ids):
                for _, part in _parts(page):
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
            for start in range(0, len(ids), _IDS):
                chunk = ids[start : start + _IDS]
                found |= raw_writes(reading, thread_id, ns, chunk, channels)
        return found

    def changed(self) -> bool:
        return self._store.changed()

    def interrupt(self) -> None:
        self._store.interrupt()

    def close(self) -> None:
        self._store.close()

    def _found(self, reading: Reading, query: ThreadQuery) -> list[str]:
        """Thread ids that a query asks for, newest first."""
        table = reading.layout.checkpoints
        search = query.search
        if not search or search.isascii():
            select = queries.threads(table, query)
            return [str(row[0]) for row in reading.all(select.sql, select.parameters)]
        # SQLite's LIKE ignores the case of ASCII letters only.
        rest = ThreadQuery(limit=None, since_id=query.since_id, prefix=query.prefix)
        select = queries.threads(table, rest)
        wanted = search.casefold()
        found = [str(row[0]) for row in reading.all(select.sql, select.parameters)]
        found = [thread_id for thread_id in found if wanted in thread_id.casefold()]
        end = None if query.limit is None else query.offset + query.limit
        return found[query.offset : end]

    def _index_of(
        self, reading: Reading, thread_id: str, ns: str | None, ids: Sequence[str] | None
    ) -> Iterator[list[IndexRow]]:
        """The index page by page; of chosen ids as one page, since it is in order."""
        if ids is None:
            yield from _index(reading, thread_id, ns, None)
            return
        chosen = [
            row
            for chunk in _chunks(ids)
            for page in _index(reading, thread_id, ns, chunk)
            for row in page
        ]
        yield sorted(chosen, key=lambda row: row[:2])

    def _envelope(self, body: Body) -> Envelope:
        return envelope(
            body.ns, body.id, body.parent_id, body.checkpoint, body.metadata, self._serde
        )


def _thread_rows(reading: Reading, thread_ids: Sequence[str], sizes: bool) -> dict[str, ThreadRow]:
    """What the index says of some threads; those that are not there are left out."""
    layout = reading.layout
    select = queries.namespaces(layout.checkpoints, thread_ids)
    by_thread: dict[str, list[tuple[str, int, str, str]]] = defaultdict(list)
    for thread_id, ns, count, first, last in reading.all(select.sql, select.parameters):
        by_thread[str(thread_id)].append((str(ns), int(str(count)), str(first), str(last)))
    size = _sizes(reading, thread_ids) if sizes else {}
    rows = {}
    for thread_id, found in by_thread.items():
        head_ns, head = max(
            ((ns, last) for ns, _, _, last in found), key=lambda f: (f[0] == "", f[1])
        )
        rows[thread_id] = ThreadRow(
            thread_id=thread_id,
            checkpoints=sum(count for _, count, _, _ in found),
            namespaces=len(found),
            first_id=min(first for _, _, first, _ in found),
            last_id=max(last for _, _, _, last in found),
            head=head,
            head_ns=head_ns,
            size=size.get(thread_id),
        )
    return rows


def _sizes(reading: Reading, thread_ids: Sequence[str]) -> dict[str, int]:
    layout = reading.layout
    totals: dict[str, int] = defaultdict(int)
    selects = [queries.sizes(layout.checkpoints, thread_ids, ("checkpoint", "metadata"))]
    if layout.writes is not None:
        selects.append(queries.sizes(layout.writes, thread_ids, ("value",)))
    for select in selects:
        for thread_id, size in reading.all(select.sql, select.parameters):
            totals[str(thread_id)] += int(str(size or 0))
    return totals


def _index(
    reading: Reading, thread_id: str, ns: str | None, ids: Sequence[str] | None
) -> Iterator[list[IndexRow]]:
    """The index page by page, each from the last key of the one before."""
    table, blobs = reading.layout.checkpoints, reading.layout.blobs

    def read(after: After | None) -> list[IndexRow]:
        select = queries.rows(table, thread_id, ns, ids, after, _ROWS, blobs=blobs)
        page: list[IndexRow] = reading.all(select.sql, select.parameters)  # type: ignore[assignment]
        if "" in [row[2] for row in page]:
            return [IndexRow(row[0], row[1], row[2] or None, row[3]) for row in page]
        return page

    return _walk(read, lambda row: After(row[0], row[1]), ns is None and "ns" in table.stored)


def _writes(
    reading: Reading, thread_id: str, ns: str | None, ids: Sequence[str] | None
) -> Iterator[list[WriteRow]]:
    """Pages of writes; the last checkpoint of a page waits for its rest, to be sorted whole."""
    table = reading.layout.writes
    assert table is not None
    pages = _walk(
        lambda after: write_page(reading, table, thread_id, ns, ids, after, _ROWS),
        lambda row: After(row.ns, row.checkpoint_id, row.task_id, row.idx),
        ns is None and "ns" in table.stored,
    )
    waiting: list[WriteRow] = []
    for page in pages:
        waiting += page
        last = waiting[-1][:2]
        done = len(waiting)
        while done and waiting[done - 1][:2] == last:
            done -= 1
        if done:
            yield sorted(waiting[:done], key=in_order)
            del waiting[:done]
    if waiting:
        yield sorted(waiting, key=in_order)


def _walk(
    read: Callable[[After | None], list[R]], key: Callable[[R], After], namespaces: bool
) -> Iterator[list[R]]:
    """Page after page: where one is full, from its last key on to the end of that namespace, and
    then, with `namespaces`, behind it."""
    after: After | None = None
    while True:
        page = read(after)
        if page:
            yield page
        if len(page) == _ROWS:
            after = key(page[-1])
        elif namespaces and after is not None and after.id is not None:
            after = After(after.ns, None)
        else:
            return


def _parts(page: Sequence[IndexRow]) -> Iterator[tuple[str, list[str]]]:
    """An index page in pieces of one namespace, a few megabytes each."""
    part: list[str] = []
    ns, size = "", 0
    for row_ns, row_id, _, row_size in page:
        if part and (row_ns != ns or size + (row_size or 0) > _BYTES or len(part) == _IDS):
            yield ns, part
            part, size = [], 0
        ns = row_ns
        part.append(row_id)
        size += row_size or 0
    if part:
        yield ns, part


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Distinct ids, few enough for one statement."""
    ordered = sorted(set(ids))
    for start in range(0, len(ordered), _IDS):
        yield ordered[start : start + _IDS]


def _missing(key: CheckpointKey) -> str:
    where = f" in namespace {key.ns}" if key.ns else ""
    return f"Thread {key.thread_id!r} has no checkpoint {key.id}{where}."
