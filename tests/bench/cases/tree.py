"""The tree of a long thread with who ran, what was next and each route."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

from tests.bench.measure import Timing, compare, once, peak
from tests.bench.report import Row, seconds, size, times_faster
from tests.bench.stores.growing import THREAD, growing

TIMES_FASTER = 100
TIMES_SMALLER = 20
PLAIN = """
    select checkpoint_id, parent_checkpoint_id, checkpoint, metadata from checkpoints
    where thread_id = ? order by checkpoint_ns, checkpoint_id
"""


def ours(store: str) -> Callable[[], object]:
    """What `retrograph tree` draws its rows from."""
    from retrograph.cli.draw.treedata import read_tree
    from retrograph.engine.thread import Thread
    from retrograph.loaders.registry import open_source

    def call() -> object:
        with closing(open_source(store)) as loader:
            thread = Thread(loader, THREAD)
            return thread.history, read_tree(thread, None, None)

    return call


def json(store: str) -> Callable[[], object]:
    """What `retrograph tree --json` prints: each checkpoint's metadata too."""
    from retrograph.engine.thread import Thread
    from retrograph.engine.views.shapes import tree_shape
    from retrograph.loaders.registry import open_source

    def call() -> object:
        with closing(open_source(store)) as loader:
            return tree_shape(Thread(loader, THREAD))

    return call


def official(store: str) -> Callable[[], object]:
    from langgraph.checkpoint.sqlite import SqliteSaver
    from tests.bench.stores.growing import builder

    connection = sqlite3.connect(store, check_same_thread=False)
    graph = builder.compile(checkpointer=SqliteSaver(connection))
    return lambda: list(graph.get_state_history({"configurable": {"thread_id": THREAD}}))


def plain(store: str) -> Callable[[], object]:
    """Reading the bodies, and nothing more."""

    def call() -> int:
        with closing(sqlite3.connect(f"file:{store}?mode=ro&immutable=1", uri=True)) as connection:
            return sum(len(row[2]) for row in connection.execute(PLAIN, (THREAD,)))

    return call


def rows(quick: bool) -> Iterator[Row]:
    count = 1_000 if quick else 10_000
    store = growing(count)
    taken, memory = once(official, store, clock="cpu")
    our_memory = peak(ours, store)
    drawn, printed = (
        compare(ours, plain, store, clock="cpu"),
        compare(json, plain, store, clock="cpu"),
    )
    yield times_faster(
        f"tree with next, ran and route, {count:,} checkpoints with growing messages; "
        "get_state_history",
        Timing(drawn.ours, taken, drawn.ours / taken),
        TIMES_FASTER,
    )
    yield Row(
        "memory of that",
        size(our_memory),
        size(memory),
        f"1/{memory / our_memory:.3g}",
        f"≤ 1/{TIMES_SMALLER}",
        memory >= TIMES_SMALLER * our_memory,
    )
    yield Row(
        "the whole JSON tree, with each checkpoint's metadata; get_state_history",
        seconds(printed.ours),
        seconds(taken),
        f"{taken / printed.ours:.3g} × faster",
        "",
        None,
        f"{size(peak(json, store))}, {size(memory)}",
    )
    for what, timing in (("that tree", drawn), ("that JSON tree", printed)):
        yield Row(
            f"{what}; a plain SELECT of all checkpoints and their metadata",
            seconds(timing.ours),
            seconds(timing.baseline),
            f"{timing.ratio:.2f} ×",
            "",
            None,
        )
