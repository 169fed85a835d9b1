"""The index of many threads, and the default page of it with status and next."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from tests.bench.measure import compare, peak
from tests.bench.report import Row, at_most, size
from tests.bench.stores.huge_heads import huge_heads
from tests.bench.stores.many_threads import many_threads

PAGE = 50
PLAIN = """
    select thread_id, count(*), max(checkpoint_id) as newest from checkpoints
    group by thread_id order by newest desc
"""
"""The fastest statement that finds the newest threads: the primary key's index answers it."""


def index(store: str) -> Callable[[], object]:
    from retrograph.engine.model import ThreadQuery
    from retrograph.loaders.registry import open_source

    def call() -> object:
        with closing(open_source(store)) as loader:
            return list(loader.threads(ThreadQuery(limit=PAGE)))

    return call


def page(store: str) -> Callable[[], object]:
    from retrograph.engine.threads.listing import ThreadFilter, find_threads
    from retrograph.loaders.registry import open_source

    def call() -> object:
        with closing(open_source(store)) as loader:
            return list(find_threads(loader, ThreadFilter(), PAGE))

    return call


def baseline(store: str) -> Callable[[], object]:
    def call() -> list[Any]:
        with closing(sqlite3.connect(f"file:{store}?mode=ro&immutable=1", uri=True)) as connection:
            return connection.execute(f"{PLAIN} limit {PAGE}").fetchall()

    return call


def whole(store: str) -> Callable[[], object]:
    def call() -> list[Any]:
        with closing(sqlite3.connect(f"file:{store}?mode=ro&immutable=1", uri=True)) as connection:
            select = "select length(checkpoint || ''), metadata from checkpoints"
            return connection.execute(select).fetchall()

    return call


def rows(quick: bool) -> Iterator[Row]:
    count = 5_000 if quick else 100_000
    store = many_threads(count)
    yield at_most(
        f"newest {PAGE} of {count:,} threads of 3 checkpoints, from the index; the same in SQL",
        compare(index, baseline, store, clock="cpu"),
        1.5,
        f"{size(peak(index, store))}, {size(peak(baseline, store))}",
    )
    yield at_most(
        f"that page of {PAGE} with status and next; the index alone",
        compare(page, index, store, clock="cpu"),
        1.3,
        f"{size(peak(page, store))}, {size(peak(index, store))}",
    )
    each = 2_000 if quick else 20_000
    store = huge_heads(32, each, 1_800)
    yield at_most(
        f"a page of 32 threads of {each // 500} MB, with status; the same rows in SQL",
        compare(page, whole, store, rounds=3),
        1.0,
        f"{size(peak(page, store))}, {size(peak(whole, store))}",
    )
