"""From SQL rows to the model, blobs that are partly lost included.

A value that lies on overflow pages may be cut off by one damaged page while the row itself is
well. Then the row is given without it, or with what comes before the damage.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

from retrograph.engine.model import RawWrite, Typed, WriteRow
from retrograph.loaders.sqlite import queries
from retrograph.loaders.sqlite.faults import ERRORS, Fault, fault
from retrograph.loaders.sqlite.layout import Table
from retrograph.loaders.sqlite.queries import After
from retrograph.loaders.sqlite.store import Reading

_STEP = 1 << 16
_LARGE = 1 << 20
_PICKLE = b"\x80"

Row = tuple[object, ...]

in_order = itemgetter(0, 1, 3, 2, 4)
"""Sort key of write rows: namespace, checkpoint, then as LangGraph applies them
(`writes_sort_key` in langgraph-checkpoint)."""

# The types of nearly every row; what differs is made what it should be, column by column.
_USUAL_WRITE = (str, str, str, str, int, str, str, type(None), int)
_USUAL_BODIES = {
    (str, str, str, str, bytes, bytes),
    (str, str, type(None), str, bytes, bytes),
}


class Body(NamedTuple):
    """A checkpoint row with its values, encoded. `checkpoint` is empty where not asked for."""

    ns: str
    id: str
    parent_id: str | None
    checkpoint: Typed
    metadata: Typed


def bodies(
    reading: Reading, thread_id: str, ns: str, ids: Sequence[str], *, checkpoint: bool = True
) -> list[Body]:
    """Checkpoints of one namespace, in order; those that are not there are left out."""
    layout = reading.layout
    table, early = layout.checkpoints, layout.early
    blobs = ("checkpoint", "metadata") if checkpoint else ("metadata",)

    def work(connection: sqlite3.Connection) -> list[Row]:
        try:
            if checkpoint and table.rowid is not None:
                return _with_large(connection, table, thread_id, ns, ids)
            select = queries.bodies(table, thread_id, ns, ids, ("type", *blobs))
            return connection.execute(select.sql, select.parameters).fetchall()
        except ERRORS as error:
            if table.rowid is None or fault(error) is not Fault.DAMAGED:
                raise
        select = queries.bodies(table, thread_id, ns, ids, ("type",), rowid=True)
        light = connection.execute(select.sql, select.parameters).fetchall()
        return [
            (*row[:4], *(_blob(reading, connection, table, name, row[4], row[1]) for name in blobs))
            for row in light
        ]

    return [body_of(row, early, checkpoint=checkpoint) for row in reading.page(work)]


def _with_large(
    connection: sqlite3.Connection, table: Table, thread_id: str, ns: str, ids: Sequence[str]
) -> list[Row]:
    """Large checkpoints are read as streams: a SELECT holds each twice, and takes half as long
    again. All of one moment, since a row may be gone in the next."""
    columns = ("type", "checkpoint", "metadata")
    select = queries.bodies(table, thread_id, ns, ids, columns, longest=_LARGE)
    found: list[Row] = []
    connection.execute("BEGIN")
    try:
        for *row, rowid, is_large in connection.execute(select.sql, select.parameters).fetchall():
            if is_large:
                with connection.blobopen(
                    table.name, table.column("checkpoint"), rowid, readonly=True, name="main"
                ) as blob:
                    row[4] = blob.read()
            found.append(tuple(row))
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return found


def body_of(row: Row, early: bool, *, checkpoint: bool = True) -> Body:
    """(ns, id, parent, type[, checkpoint], metadata)."""
    if tuple(map(type, row)) in _USUAL_BODIES and not early:
        ns, id_, parent_id, kind, blob, metadata_ = row
        return Body._make((ns, id_, parent_id, Typed(kind, blob), Typed("json", metadata_)))  # type: ignore[arg-type]
    ns, id_, parent_id, kind, *values = row
    body = typed(kind, values[0], early) if checkpoint else Typed(None, b"")
    metadata = typed("json" if not early else None, values[-1], early)
    return Body(_text(ns), _text(id_), _optional(parent_id) or None, body, metadata)


def raw_writes(
    reading: Reading,
    thread_id: str,
    ns: str,
    ids: Sequence[str],
    channels: Sequence[str] | None,
) -> dict[str, tuple[RawWrite, ...]]:
    """Whole writes by checkpoint id, each sorted as LangGraph applies them."""
    layout = reading.layout
    table, early = layout.writes, layout.early
    if table is None:
        return {}

    def work(connection: sqlite3.Connection) -> list[Row]:
        try:
            select = queries.whole_writes(table, thread_id, ns, ids, channels)
            return connection.execute(select.sql, select.parameters).fetchall()
        except ERRORS as error:
            if table.rowid is None or fault(error) is not Fault.DAMAGED:
                raise
        select = queries.whole_writes(table, thread_id, ns, ids, channels, values=False)
        light = connection.execute(select.sql, select.parameters).fetchall()
        return [
            (*row[:6], _blob(reading, connection, table, "value", row[7], row[0]), row[7])
            for row in light
        ]

    found: dict[str, list[RawWrite]] = defaultdict(list)
    for row_id, task, path, idx, channel, kind, value, _ in reading.page(work):
        found[_text(row_id)].append(
            RawWrite(_text(task), _text(path), _int(idx), _text(channel), typed(kind, value, early))
        )
    return {
        row_id: tuple(sorted(writes, key=lambda w: (w.task_path, w.task_id, w.idx)))
        for row_id, writes in found.items()
    }


def write_page(
    reading: Reading,
    table: Table,
    thread_id: str,
    ns: str | None,
    ids: Sequence[str] | None,
    after: After | None,
    limit: int,
) -> list[WriteRow]:
    """A page of writes in order of the primary key."""
    early = reading.layout.early

    def work(connection: sqlite3.Connection) -> list[Row]:
        heads = True
        try:
            select = queries.write_heads(table, thread_id, ns, ids, after, limit)
            page = connection.execute(select.sql, select.parameters).fetchall()
        except ERRORS as error:
            if table.rowid is None or fault(error) is not Fault.DAMAGED:
                raise
            heads = False
            select = queries.write_heads(table, thread_id, ns, ids, after, limit, heads=False)
            page = connection.execute(select.sql, select.parameters).fetchall()
        return [with_head(reading, connection, table, row, heads) for row in page]

    return [write_row(row, early) for row in reading.page(work)]


def write_row(row: Row, early: bool) -> WriteRow:
    if tuple(map(type, row[:9])) == _USUAL_WRITE:
        return WriteRow._make(row[:9])
    ns, checkpoint_id, task, path, idx, channel, kind, head, size, _ = row
    given = None if head is None else typed(kind, head, early)
    return WriteRow(
        _text(ns),
        _text(checkpoint_id),
        _text(task),
        _text(path),
        _int(idx),
        _text(channel),
        _optional(kind) if given is None else given.type,
        None if given is None else given.data,
        None if size is None else _int(size),
    )


def typed(kind: object, value: object, early: bool) -> Typed:
    """A stored value; early stores have no type column, and hold JSON or a pickle."""
    if value is None:
        data = b""
    elif isinstance(value, bytes):
        data = value
    else:
        data = str(value).encode("utf-8", "surrogateescape")
    if kind is None and early and data[:1] == _PICKLE:
        return Typed("pickle", data)
    return Typed(_optional(kind), data)


def with_head(
    reading: Reading, connection: sqlite3.Connection, table: Table, row: Row, heads: bool
) -> Row:
    """The row; its head is streamed where the statement left out a value too large for it."""
    channel, head, size, rowid = row[5], row[7], row[8], row[9]
    if head is not None or rowid is None or not size:
        return row
    if channel == queries.SENDS:
        limit = queries.SEND_HEAD
    elif channel in queries.CONTROL:
        limit = queries.HEAD_LIMIT
    else:
        return row
    data, _ = _prefix(connection, table, "value", rowid, limit)
    if not heads and len(data) < min(limit, _int(size)):
        reading.store.warn(_cut(reading, "a write", row[1]))
    return (*row[:7], data, *row[8:])


def _blob(
    reading: Reading,
    connection: sqlite3.Connection,
    table: Table,
    column: str,
    rowid: object,
    checkpoint_id: object,
) -> bytes | None:
    """A value whose pages may be damaged: as much of it as there is."""
    data, whole = _prefix(connection, table, column, rowid, None)
    if not whole:
        what = {"value": "a write", "metadata": "the metadata"}.get(column, "the values")
        reading.store.warn(_cut(reading, what, checkpoint_id))
    return data


def _cut(reading: Reading, what: str, checkpoint_id: object) -> str:
    return (
        f"{reading.store.path} is damaged: of {what} of checkpoint {checkpoint_id} only the "
        "beginning can be read."
    )


def _prefix(
    connection: sqlite3.Connection, table: Table, column: str, rowid: object, limit: int | None
) -> tuple[bytes, bool]:
    """The beginning of a value, read as a stream, and whether no damage ended it."""
    parts: list[bytes] = []
    left = limit
    try:
        with connection.blobopen(
            table.name, table.column(column), _int(rowid), readonly=True, name="main"
        ) as blob:
            while left is None or left > 0:
                part = blob.read(_STEP if left is None else min(_STEP, left))
                if not part:
                    break
                parts.append(part)
                left = None if left is None else left - len(part)
    except ERRORS as error:
        kind = fault(error)
        if kind not in (Fault.DAMAGED, Fault.TABLES):
            raise
        # A value that is NULL or a number has no stream; that is no damage.
        return b"".join(parts), kind is Fault.TABLES
    return b"".join(parts), True


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value if isinstance(value, str) else "" if value is None else str(value)


def _optional(value: object) -> str | None:
    return None if value is None else _text(value)


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0
