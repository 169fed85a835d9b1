"""The Postgres loader: the tables of LangGraph and LangGraph.js, read through SELECTs alone."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

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
    Typed,
    WriteRow,
)
from retrograph.engine.serde import Serde
from retrograph.loaders.postgres import address, layout, listing, queries
from retrograph.loaders.postgres.bodies import parse_metadata
from retrograph.loaders.postgres.envelopes import in_order, read_envelopes, read_heads
from retrograph.loaders.postgres.session import Row, Session
from retrograph.loaders.postgres.watch import Watch
from retrograph.loaders.postgres.whole import as_json, read_bodies

_BATCH: Final = 2000
_WRITES: Final = 5000
_BYTES: Final = 8 << 20
_KEYS: Final = 500
_LONG: Final = 1.0
"""Seconds of a listing that are explained, …"""
_MANY: Final = 1_000_000
"""… where there are so many checkpoints."""
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")


class PostgresLoader:
    """One database, by one connection. Any thread may call; statements run one after the other."""

    name: str
    location: str
    read_only = True
    warnings: list[str]

    def __init__(self, url: str, *, serde: Serde | None = None) -> None:
        """`url` as psql takes it, and `?schema=…`. Raises `SourceError`."""
        self._serde = serde or Serde.from_env()
        target = address.parse(url)
        self._session = Session(target)
        try:
            where = self._session.location
            self._layout = layout.find(self._session.reading(), target.schemas, where)
        except BaseException:
            self._session.close()
            raise
        self.warnings = self._session.warnings
        self._explained = False
        self._watch = Watch(self._layout)
        self.location = f"{where}?schema={self._layout.schema}"
        if self._layout.schema == "public":
            self.location = where
        self.name = _name(self._session.server_version, self._layout)
        for option in target.ignored:
            self._session.warn(f"The startup option {option!r} was not sent to {where}.")
        if self._layout.filtered:
            self._session.warn(
                f"Row-level security of {where} hides rows from this role; it is not known which."
            )

    def threads(self, query: ThreadQuery) -> Iterator[ThreadRow]:
        if not _storable(query.search, query.prefix, query.since_id):
            return
        reading = self._session.reading()
        self._watch.listed(None, reading.several(*self._watch.before(None)))
        began = time.monotonic()
        found = listing.find(reading, self._layout, query)
        self._took(time.monotonic() - began)
        yield from listing.thread_rows(reading, self._layout, found, query.sizes)

    def thread(self, thread_id: str) -> ThreadRow | None:
        if not _storable(thread_id):
            return None
        reading = self._session.reading()
        return listing.describe(reading, self._layout, [thread_id], False).get(thread_id)

    def rows(self, thread_id: str, ns: str | None = None) -> Iterator[Sequence[IndexRow]]:
        if not _storable(thread_id, ns):
            return
        reading = self._session.reading()
        *answers, rows = reading.several(
            *self._watch.before(thread_id), queries.index(self._layout, thread_id, ns)
        )
        self._watch.listed(thread_id, answers)
        for start in range(0, len(rows), _BATCH):
            reading.go_on()
            yield rows[start : start + _BATCH]  # type: ignore[misc]

    def newer(self, thread_id: str, than: str, limit: int) -> list[IndexRow]:
        if not _storable(thread_id, than):
            return []
        statement = queries.newer(self._layout, thread_id, than, limit)
        return [IndexRow(*row) for row in self._session.reading().all(statement)]

    def writes(
        self, thread_id: str, ns: str | None = None, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[WriteRow]]:
        chosen = _chosen(ids)
        if not _storable(thread_id, ns) or chosen == []:
            return
        reading = self._session.reading()
        index = reading.all(queries.writes_index(self._layout, thread_id, ns, chosen))
        for part_ns, part in _write_pages(index):
            rows: list[Any] = reading.all(
                queries.write_rows(self._layout, thread_id, part_ns, part)
            )
            rows.sort(key=in_order)
            yield rows

    def envelopes(
        self, thread_id: str, ns: str | None = None, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[Envelope]]:
        chosen = _chosen(ids)
        if not _storable(thread_id, ns) or chosen == []:
            return
        reading = self._session.reading()
        yield from read_envelopes(reading, self._layout, self._serde, thread_id, ns, chosen)

    def heads(
        self, keys: Sequence[CheckpointKey]
    ) -> Mapping[CheckpointKey, tuple[Envelope, Sequence[WriteRow]]]:
        chosen = [key for key in dict.fromkeys(keys) if _storable(*key)]
        return read_heads(self._session.reading(), self._layout, self._serde, chosen)

    def bodies(
        self, thread_id: str, ns: str, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[RawCheckpoint]]:
        chosen = _chosen(ids)
        if not _storable(thread_id, ns) or chosen == []:
            return
        yield from read_bodies(self._session.reading(), self._layout, thread_id, ns, chosen)

    def sizes(self, thread_id: str, ns: str) -> Mapping[str, int]:
        if not _storable(thread_id, ns):
            return {}
        rows = self._session.reading().all(queries.sizes(self._layout, thread_id, ns))
        return {row[0]: row[1] for row in rows}

    def details(self, keys: Sequence[CheckpointKey]) -> list[Detail]:
        reading = self._session.reading()
        wanted = [key for key in dict.fromkeys(keys) if _storable(*key)]
        found: dict[CheckpointKey, Detail] = {}
        for start in range(0, len(wanted), _KEYS):
            chunk = wanted[start : start + _KEYS]
            rows = reading.all(queries.details(self._layout, chunk))
            metadata = parse_metadata([row[3] for row in rows], self._serde)
            for (thread_id, ns, id_, _), said in zip(rows, metadata, strict=True):
                key = CheckpointKey(thread_id, ns, id_)
                found[key] = Detail(key, said)
        return [found[key] for key in keys if key in found]

    def read(self, key: CheckpointKey) -> RawCheckpoint:
        reading = self._session.reading()
        found: list[Row] = []
        if _storable(*key):
            found, blobs, writes = reading.several(
                queries.whole_checkpoint(self._layout, *key),
                queries.whole_blobs(self._layout, *key),
                queries.whole_writes(self._layout, key.thread_id, key.ns, [key.id]),
            )
        if not found:
            where = f" in namespace {key.ns}" if key.ns else ""
            raise RefError(f"Thread {key.thread_id!r} has no checkpoint {key.id}{where}.")
        parent, body, metadata = found[0]
        return RawCheckpoint(
            key=key,
            parent_id=parent,
            checkpoint=as_json(body),
            metadata=as_json(metadata),
            blobs={channel: Typed(kind, value or b"") for channel, kind, value in blobs},
            writes=_raw_writes(writes).get(key.id, ()),
        )

    def read_writes(
        self, thread_id: str, ns: str, ids: Sequence[str], channels: Sequence[str] | None = None
    ) -> Mapping[str, tuple[RawWrite, ...]]:
        reading = self._session.reading()
        found: dict[str, tuple[RawWrite, ...]] = {}
        chosen = _chosen(ids) or []
        names = None if channels is None else [name for name in channels if _storable(name)]
        for start in range(0, len(chosen) if _storable(thread_id, ns) else 0, _KEYS):
            chunk = chosen[start : start + _KEYS]
            statement = queries.whole_writes(self._layout, thread_id, ns, chunk, names)
            found |= _raw_writes(reading.all(statement))
        return found

    def changed(self) -> bool:
        """Whether what was listed last has been written to: a thread, exactly; the threads of a
        large store, as far as the server has counted."""
        return self._watch.changed(self._session.reading())

    def _took(self, seconds: float) -> None:
        """Explains a list of threads that took long."""
        self._watch.took(seconds)
        if seconds > _LONG and self._layout.estimate >= _MANY and not self._explained:
            self._explained = True
            self._session.warn(
                f"Finding the newest threads took {seconds:.1f} s: none of LangGraph's indexes is "
                "by time, so the keys of all checkpoints, about "
                f"{self._layout.estimate:,.0f}, were read; a thread given by its id opens at once."
            )

    def interrupt(self) -> None:
        self._session.interrupt()

    def close(self) -> None:
        self._session.close()


def _name(version: int, found: layout.Layout) -> str:
    standby = " standby" if found.standby else ""
    shallow = " (shallow: no history kept)" if found.shallow else ""
    return f"Postgres {version // 10_000}{standby}{shallow}"


def _storable(*texts: str | None) -> bool:
    """Whether Postgres can hold these texts at all; no row has one that it cannot."""
    return not any(text is not None and _UNSTORABLE.search(text) for text in texts)


def _chosen(ids: Sequence[str] | None) -> list[str] | None:
    """Distinct ids that can be there."""
    return None if ids is None else sorted({id_ for id_ in ids if _storable(id_)})


def _write_pages(index: Sequence[Row]) -> Iterator[tuple[str, list[str]]]:
    """Checkpoints of one namespace whose writes are read together."""
    page: list[str] = []
    page_ns, rows, bytes_ = "", 0, 0
    for ns, id_, count, size in index:
        if page and (ns != page_ns or rows + count > _WRITES or bytes_ + size > _BYTES):
            yield page_ns, page
            page, rows, bytes_ = [], 0, 0
        page_ns = ns
        page.append(id_)
        rows += count
        bytes_ += size
    if page:
        yield page_ns, page


def _raw_writes(rows: Sequence[Row]) -> dict[str, tuple[RawWrite, ...]]:
    found: dict[str, list[RawWrite]] = defaultdict(list)
    for checkpoint_id, task, path, idx, channel, kind, value in rows:
        found[checkpoint_id].append(RawWrite(task, path, idx, channel, Typed(kind, value or b"")))
    return {
        checkpoint_id: tuple(sorted(writes, key=lambda w: (w.task_path, w.task_id, w.idx)))
        for checkpoint_id, writes in found.items()
    }
