"""Heads of many threads in one reading: what a page of a thread list asks for."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from retrograph.engine.model import CheckpointKey, Typed, WriteRow
from retrograph.engine.serde.ends import END_LENGTH, START_LENGTH
from retrograph.loaders.sqlite import queries
from retrograph.loaders.sqlite.faults import ERRORS, Fault, fault
from retrograph.loaders.sqlite.rows import Body, Row, body_of, in_order, with_head, write_row
from retrograph.loaders.sqlite.store import Reading

_LONGEST = 1 << 17
"""Bytes of a checkpoint that is read together with others: 64 of them are 8 MB."""
_HUGE = 1 << 20
"""Bytes of a checkpoint of which only the ends are read."""


class Head(NamedTuple):
    body: Body
    writes: list[WriteRow]


class Ends(NamedTuple):
    """A huge checkpoint's row, with the first and the last bytes of the checkpoint."""

    key: CheckpointKey
    parent_id: str | None
    kind: str | None
    start: bytes
    end: bytes
    metadata: Typed


def heads_together(reading: Reading, keys: Sequence[CheckpointKey]) -> dict[CheckpointKey, Head]:
    """Those checkpoints that are small and undamaged, with their writes. The others are left out
    and to be read one by one."""
    layout = reading.layout
    table, writes, early = layout.checkpoints, layout.writes, layout.early

    def work(connection: sqlite3.Connection) -> tuple[list[Row], list[Row]]:
        try:
            select = queries.head_bodies(table, keys, _LONGEST)
            bodies = connection.execute(select.sql, select.parameters).fetchall()
            if writes is None:
                return bodies, []
            select = queries.head_writes(writes, keys)
            rows = connection.execute(select.sql, select.parameters).fetchall()
            return bodies, [
                (row[0], *with_head(reading, connection, writes, row[1:], heads=True))
                for row in rows
            ]
        except ERRORS as error:
            if fault(error) is not Fault.DAMAGED:
                raise
            return [], []

    found, rows = reading.page(work)
    by_key: dict[CheckpointKey, list[WriteRow]] = defaultdict(list)
    for thread_id, *row in rows:
        write = write_row(tuple(row), early)
        by_key[CheckpointKey(str(thread_id), write.ns, write.checkpoint_id)].append(write)
    heads = {}
    for thread_id, *row in found:
        body = body_of(tuple(row), early)
        key = CheckpointKey(str(thread_id), body.ns, body.id)
        heads[key] = Head(body, sorted(by_key[key], key=in_order))
    return heads


def ends_of(reading: Reading, keys: Sequence[CheckpointKey]) -> list[Ends]:
    """The ends of those checkpoints that are huge and undamaged. What lies between them is passed
    over page by page, which takes a third of the time that reading it takes."""
    table = reading.layout.checkpoints
    if table.rowid is None or reading.layout.early:
        return []

    def work(connection: sqlite3.Connection) -> list[Ends]:
        select = queries.huge_heads(table, keys, _HUGE)
        found = []
        connection.execute("BEGIN")
        try:
            for row in connection.execute(select.sql, select.parameters).fetchall():
                thread_id, rowid, size, *shown = row
                with connection.blobopen(
                    table.name, table.column("checkpoint"), rowid, readonly=True, name="main"
                ) as blob:
                    start = blob.read(START_LENGTH)
                    blob.seek(max(0, size - END_LENGTH))
                    end = blob.read()
                body = body_of(tuple(shown), False, checkpoint=False)
                key = CheckpointKey(str(thread_id), body.ns, body.id)
                found.append(Ends(key, body.parent_id, shown[3], start, end, body.metadata))
        except ERRORS as error:
            if fault(error) is not Fault.DAMAGED:
                raise
            return []
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        return found

    return reading.page(work)
