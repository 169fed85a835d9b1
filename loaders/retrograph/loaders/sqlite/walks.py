"""Walks through a thread, page by page, each page a reading of its own moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from retrograph.engine.model import IndexRow, WriteRow
from retrograph.loaders.sqlite import queries
from retrograph.loaders.sqlite.queries import After, Select
from retrograph.loaders.sqlite.rows import in_order, write_page
from retrograph.loaders.sqlite.store import Reading

IDS = 200
"""Ids in one statement."""
_ROWS = 2000
_BYTES = 8 << 20

R = TypeVar("R")


def index_pages(
    reading: Reading, thread_id: str, ns: str | None, ids: Sequence[str] | None
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


def newer_rows(reading: Reading, thread_id: str, than: str, limit: int) -> list[IndexRow]:
    """The rows of the index with greater ids, at most so many."""
    layout = reading.layout
    select = queries.newer(layout.checkpoints, thread_id, than, limit, blobs=layout.blobs)
    return _index_rows(reading, select)


def write_pages(
    reading: Reading, thread_id: str, ns: str | None, ids: Sequence[str] | None
) -> Iterator[list[WriteRow]]:
    """Writes page by page; of chosen checkpoints as one page, since it is in order."""
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


def _index(
    reading: Reading, thread_id: str, ns: str | None, ids: Sequence[str] | None
) -> Iterator[list[IndexRow]]:
    """The index page by page, each from the last key of the one before."""
    table, blobs = reading.layout.checkpoints, reading.layout.blobs

    def read(after: After | None) -> list[IndexRow]:
        return _index_rows(
            reading, queries.rows(table, thread_id, ns, ids, after, _ROWS, blobs=blobs)
        )

    return _walk(read, lambda row: After(row[0], row[1]), ns is None and "ns" in table.stored)


def _index_rows(reading: Reading, select: Select) -> list[IndexRow]:
    page: list[IndexRow] = reading.all(select.sql, select.parameters)  # type: ignore[assignment]
    if "" in [row[2] for row in page]:
        return [IndexRow(row[0], row[1], row[2] or None, row[3]) for row in page]
    return page


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


def parts(page: Sequence[IndexRow]) -> Iterator[tuple[str, list[str]]]:
    """An index page in pieces of one namespace, a few megabytes each."""
    part: list[str] = []
    ns, size = "", 0
    for row_ns, row_id, _, row_size in page:
        if part and (row_ns != ns or size + (row_size or 0) > _BYTES or len(part) == IDS):
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
    for start in range(0, len(ordered), IDS):
        yield ordered[start : start + IDS]
