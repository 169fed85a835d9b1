"""The outline of a checkpoint of 80 MB, from opening the file to the rows of a first screen."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from tests.bench.measure import compare, peak
from tests.bench.report import Row, at_most, size
from tests.bench.stores.messages import THREAD, messages

SCREEN = 50
TIMES_SIZE = 2.5
PLAIN = """
    select checkpoint from checkpoints where thread_id = ? and checkpoint_ns = ''
    order by checkpoint_id desc limit 1
"""


def ours(store: str) -> Callable[[], object]:
    """The state's channels, and the messages opened: 40,000 rows, of which a screen is drawn."""
    from retrograph.engine.thread import Thread
    from retrograph.engine.views.outline import Outline
    from retrograph.loaders.registry import open_source

    def call() -> object:
        with closing(open_source(store)) as loader:
            thread = Thread(loader, THREAD)
            snapshot = thread.snapshot("", thread.history.ids[thread.history.head()])
        outline = Outline(dict(snapshot.values))
        for at in range(len(outline)):
            if outline.row(at).key == "messages":
                outline.expand(at)
                break
        return outline, [outline.row(at) for at in range(SCREEN)]

    return call


def baseline(store: str) -> Callable[[], object]:
    def call() -> Any:
        with closing(sqlite3.connect(f"file:{store}?mode=ro&immutable=1", uri=True)) as connection:
            return connection.execute(PLAIN, (THREAD,)).fetchone()

    return call


def rows(quick: bool) -> Iterator[Row]:
    count = 4_000 if quick else 40_000
    store = messages(count, 1_800)
    stored = len(baseline(str(store))()[0])
    yield at_most(
        f"outline of a checkpoint of {size(stored)}, {count:,} messages opened; a plain SELECT",
        compare(ours, baseline, store, clock="cpu"),
        2,
    )
    memory = peak(ours, store)
    yield Row(
        "memory of that; the size of the checkpoint",
        size(memory),
        size(stored),
        f"{memory / stored:.2f} ×",
        f"≤ {TIMES_SIZE:g} ×",
        memory <= TIMES_SIZE * stored,
    )
