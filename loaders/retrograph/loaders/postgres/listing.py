"""Lists of threads, newest first, among millions.

No index orders checkpoints by time, so the newest are found by reading the primary key's index
once. Grouping it by thread costs an aggregate for each thread; a page needs only the rows with the
greatest ids, which a bounded heap keeps while workers scan in parallel: half the time for a million
threads. A row that is not among them belongs to a thread that is not on the page, or to one that
is. Where few threads own the newest rows, those are left out and the next are asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from retrograph.engine.model import ThreadQuery, ThreadRow
from retrograph.loaders.postgres.layout import Layout
from retrograph.loaders.postgres.session import Reading, Statement

_FIRST: Final = 4
"""Rows asked for, for each thread of the page, at first."""
_LEAST: Final = 200
_GROWTH: Final = 8
_HEAP: Final = 10_000
"""Rows that the heap holds at most: beyond about 12,000 it outgrows the default `work_mem`, and
the server sorts everything on disk."""
_DETAILED: Final = 200
"""Threads that are described by one statement."""
_C: Final = 'COLLATE "C"'
_NEWEST: Final = f"max(checkpoint_id {_C})"


def thread_rows(
    reading: Reading, layout: Layout, thread_ids: Sequence[str], sizes: bool
) -> Iterator[ThreadRow]:
    """Threads in the given order; those that are gone meanwhile are left out."""
    for start in range(0, len(thread_ids), _DETAILED):
        chunk = thread_ids[start : start + _DETAILED]
        described = describe(reading, layout, chunk, sizes)
        yield from (described[t] for t in chunk if t in described)


def describe(
    reading: Reading, layout: Layout, thread_ids: Sequence[str], sizes: bool
) -> dict[str, ThreadRow]:
    """What the index says of some threads; those that are not there are left out."""
    statements = [_namespaces(layout, thread_ids)]
    if sizes:
        statements += _sizes(layout, thread_ids)
    namespaces, *totals = reading.several(*statements)
    size: dict[str, int] = defaultdict(int)
    for thread_id, stored in (row for total in totals for row in total):
        size[thread_id] += stored
    by_thread: dict[str, list[tuple[str, int, str, str]]] = defaultdict(list)
    for thread_id, ns, count, first, last in namespaces:
        by_thread[thread_id].append((ns, count, first, last))
    rows = {}
    for thread_id, found in by_thread.items():
        head_ns, _, _, head = max(found, key=lambda f: (f[0] == "", f[3]))
        rows[thread_id] = ThreadRow(
            thread_id=thread_id,
            checkpoints=sum(count for _, count, _, _ in found),
            namespaces=len(found),
            first_id=min(first for _, _, first, _ in found),
            last_id=max(last for _, _, _, last in found),
            head=head,
            head_ns=head_ns,
            size=size[thread_id] if sizes else None,
        )
    return rows


def find(reading: Reading, layout: Layout, query: ThreadQuery) -> list[str]:
    """The ids of the threads that a query asks for, newest first."""
    search = query.search
    if search and not search.isascii():
        # What the server takes for a letter's other case depends on its locale.
        wanted = search.casefold()
        every = [row[0] for row in reading.all(_grouped(layout, query, limited=False))]
        chosen = [thread_id for thread_id in every if wanted in thread_id.casefold()]
        end = None if query.limit is None else query.offset + query.limit
        return chosen[query.offset : end]
    if query.limit is None:
        return [row[0] for row in reading.all(_grouped(layout, query, limited=True))]
    needed = query.offset + query.limit
    found: dict[str, None] = {}
    rows = max(_LEAST, needed * _FIRST)
    while rows <= _HEAP:
        page = reading.all(_newest(layout, query, list(found), rows))
        found |= dict.fromkeys(row[0] for row in page)
        if len(page) < rows or len(found) >= needed:
            return list(found)[query.offset : needed]
        rows *= _GROWTH
    return [row[0] for row in reading.all(_grouped(layout, query, limited=True))]


def _newest(layout: Layout, query: ThreadQuery, without: list[str], rows: int) -> Statement:
    """(thread, id) of the greatest ids."""
    where, parameters = _wanted(query)
    if without:
        where = f"{where} AND thread_id <> ALL(%s::text[])"
        parameters.append(without)
    return (
        f"SELECT thread_id FROM {layout.checkpoints} AS c WHERE {where} "
        f"ORDER BY checkpoint_id {_C} DESC, thread_id {_C} LIMIT {rows}",
        parameters,
    )


def _grouped(layout: Layout, query: ThreadQuery, *, limited: bool) -> Statement:
    """(thread) of all threads, or of the page."""
    where, parameters = _wanted(query)
    limit = ""
    if limited:
        limit = " LIMIT %s OFFSET %s"
        parameters += [query.limit, query.offset]
    return (
        f"SELECT thread_id FROM {layout.checkpoints} AS c WHERE {where} GROUP BY thread_id "
        f"ORDER BY {_NEWEST} DESC, thread_id {_C}{limit}",
        parameters,
    )


def _wanted(query: ThreadQuery) -> tuple[str, list[object]]:
    where, parameters = ["true"], list[object]()
    if query.since_id is not None:
        where.append(f"checkpoint_id {_C} >= %s")
        parameters.append(query.since_id)
    if query.prefix:
        where.append("left(thread_id, %s) = %s")
        parameters += [len(query.prefix), query.prefix]
    if query.search and query.search.isascii():
        where.append(r"thread_id ILIKE %s ESCAPE '\'")
        escaped = query.search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        parameters.append(f"%{escaped}%")
    return " AND ".join(where), parameters


def _namespaces(layout: Layout, thread_ids: Sequence[str]) -> Statement:
    """(thread, namespace, checkpoints, first id, last id)."""
    return (
        "SELECT t.thread_id, c.ns, c.count, c.first, c.last "
        "FROM unnest(%s::text[]) AS t(thread_id) CROSS JOIN LATERAL "
        f"(SELECT checkpoint_ns AS ns, count(*) AS count, min(checkpoint_id {_C}) AS first, "
        f"{_NEWEST} AS last FROM {layout.checkpoints} AS c "
        "WHERE thread_id = t.thread_id GROUP BY checkpoint_ns) AS c",
        (list(thread_ids),),
    )


def _sizes(layout: Layout, thread_ids: Sequence[str]) -> list[Statement]:
    """(thread, bytes as they are stored, compressed) in each of the tables."""
    columns = {
        layout.checkpoints: "pg_column_size(checkpoint) + coalesce(pg_column_size(metadata), 0)",
        layout.blobs: "coalesce(pg_column_size(blob), 0)",
        layout.writes: "pg_column_size(blob)",
    }
    return [
        (
            "SELECT t.thread_id, c.bytes FROM unnest(%s::text[]) AS t(thread_id) CROSS JOIN "
            f"LATERAL (SELECT coalesce(sum({size}), 0)::bigint AS bytes FROM {table} AS c "
            "WHERE thread_id = t.thread_id) AS c",
            (list(thread_ids),),
        )
        for table, size in columns.items()
    ]
