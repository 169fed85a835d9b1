"""Postgres: a page among a million threads, and the tree of a long thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

from tests.bench.measure import Timing, compare, once, peak
from tests.bench.report import Row, at_most, seconds, size, times_faster
from tests.bench.stores import in_postgres
from tests.bench.stores.growing import THREAD

PAGE = 50
PLAIN = f"""
    SELECT thread_id, count(*), max(checkpoint_id) AS newest FROM checkpoints
    GROUP BY thread_id ORDER BY newest DESC LIMIT {PAGE}
"""
"""The page in one statement; the primary key's index answers it."""
TIMES_FASTER = 60
TIMES_SMALLER = 50


def index(uri: str) -> Callable[[], object]:
    from retrograph.engine.model import ThreadQuery
    from retrograph.loaders.registry import open_source

    def call() -> object:
        with closing(open_source(uri)) as loader:
            return list(loader.threads(ThreadQuery(limit=PAGE)))

    return call


def page(uri: str) -> Callable[[], object]:
    from retrograph.engine.threads.listing import ThreadFilter, find_threads
    from retrograph.loaders.registry import open_source

    def call() -> object:
        with closing(open_source(uri)) as loader:
            return list(find_threads(loader, ThreadFilter(), PAGE))

    return call


def plain(uri: str) -> Callable[[], object]:
    import psycopg

    def call() -> object:
        with psycopg.connect(uri) as connection:
            return connection.execute(PLAIN).fetchall()

    return call


def tree(uri: str) -> Callable[[], object]:
    """What `retrograph tree` draws its rows from."""
    from retrograph.cli.draw.treedata import read_tree
    from retrograph.engine.thread import Thread
    from retrograph.loaders.registry import open_source

    def call() -> object:
        with closing(open_source(uri)) as loader:
            thread = Thread(loader, THREAD)
            return thread.history, read_tree(thread, None, None)

    return call


def json(uri: str) -> Callable[[], object]:
    """What `retrograph tree --json` prints: each checkpoint's metadata too."""
    from retrograph.engine.thread import Thread
    from retrograph.engine.views.shapes import tree_shape
    from retrograph.loaders.registry import open_source

    def call() -> object:
        with closing(open_source(uri)) as loader:
            return tree_shape(Thread(loader, THREAD))

    return call


def official(uri: str) -> Callable[[], object]:
    from langgraph.checkpoint.postgres import PostgresSaver
    from tests.bench.stores.growing import builder

    def call() -> object:
        with PostgresSaver.from_conn_string(uri) as saver:
            graph = builder.compile(checkpointer=saver)
            return list(graph.get_state_history({"configurable": {"thread_id": THREAD}}))

    return call


def rows(quick: bool) -> Iterator[Row]:
    with in_postgres.server() as server:
        with server.database() as database:
            count = 10_000 if quick else 1_000_000
            in_postgres.a_million_threads(database.uri, count)
            yield at_most(
                f"Postgres: newest {PAGE} of {count:,} threads of 3 checkpoints; GROUP BY",
                compare(index, plain, database.uri),
                1.5,
                f"{size(peak(index, database.uri))}, {size(peak(plain, database.uri))}",
            )
            timing = compare(page, index, database.uri)
            yield Row(
                "Postgres: that page with status and next; the index alone",
                seconds(timing.ours),
                seconds(timing.baseline),
                f"{timing.ratio:.2f} ×",
                "",
                None,
            )
        with server.database() as database:
            count = 1_000 if quick else 10_000
            in_postgres.growing_thread(database.uri, count)
            yield from _tree(database.uri, count)


def _tree(uri: str, count: int) -> Iterator[Row]:
    taken, memory = once(official, uri)
    our_memory = peak(tree, uri)
    timing = compare(tree, json, uri, rounds=3)
    yield times_faster(
        f"Postgres: tree with next, ran and route, {count:,} checkpoints; get_state_history",
        Timing(timing.ours, taken, timing.ours / taken),
        TIMES_FASTER,
    )
    yield times_faster(
        "Postgres: that tree as JSON, with metadata; get_state_history",
        Timing(timing.baseline, taken, timing.baseline / taken),
        TIMES_FASTER,
    )
    yield Row(
        "memory of the tree",
        size(our_memory),
        size(memory),
        f"1/{memory / our_memory:.3g}",
        f"≤ 1/{TIMES_SMALLER}",
        memory >= TIMES_SMALLER * our_memory,
    )
