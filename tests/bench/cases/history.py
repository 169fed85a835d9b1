"""The index of a long thread, into a History."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from tests.bench.measure import compare, kept, peak
from tests.bench.report import Row, at_most, size
from tests.bench.stores.long_thread import THREAD, long_thread

PLAIN = """
    select checkpoint_id, parent_checkpoint_id from checkpoints
    where thread_id = ? order by checkpoint_ns, checkpoint_id
"""
BYTES_A_CHECKPOINT = 150


def ours(store: str) -> Callable[[], object]:
    from retrograph.engine.thread import Thread
    from retrograph.loaders.registry import open_source

    def call() -> object:
        with closing(open_source(store)) as loader:
            return Thread(loader, THREAD).history

    return call


def baseline(store: str) -> Callable[[], object]:
    def call() -> list[Any]:
        with closing(sqlite3.connect(f"file:{store}?mode=ro&immutable=1", uri=True)) as connection:
            return connection.execute(PLAIN, (THREAD,)).fetchall()

    return call


def rows(quick: bool) -> Iterator[Row]:
    count = 10_000 if quick else 100_000
    store = long_thread(count)
    memory = f"{size(peak(ours, store))}, {size(peak(baseline, store))}"
    yield at_most(
        f"index of a thread of {count:,} checkpoints into a History; plain SELECT of id and parent",
        compare(ours, baseline, store, clock="cpu"),
        2.5,
        memory,
    )
    each = kept(ours, store) / count
    yield Row(
        "bytes a checkpoint that this History holds",
        f"{each:.0f} B",
        "",
        "",
        f"≤ {BYTES_A_CHECKPOINT} B",
        each <= BYTES_A_CHECKPOINT,
    )
