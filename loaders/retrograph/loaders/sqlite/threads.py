"""Thread rows: which ones a query asks for, and what the index says of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from retrograph.engine.model import ThreadQuery, ThreadRow
from retrograph.loaders.sqlite import queries
from retrograph.loaders.sqlite.store import Reading


def found_threads(reading: Reading, query: ThreadQuery) -> list[str]:
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


def thread_rows(reading: Reading, thread_ids: Sequence[str], sizes: bool) -> dict[str, ThreadRow]:
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
