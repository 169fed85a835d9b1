"""Sandboxes: what a fork costs on a long thread, and a copy of all ancestors."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from tests.bench.measure import Timing, compare, once
from tests.bench.report import Row, at_most, seconds, times_faster
from tests.bench.stores import cached, in_postgres
from tests.bench.stores.growing import THREAD, growing

from retrograph.engine.model import ROOT
from retrograph.engine.sandbox.closure import for_replay
from retrograph.engine.sandbox.make import make_sandbox
from retrograph.engine.thread import Thread
from retrograph.loaders.registry import open_source

KEPT = 10
"""Checkpoints of the short thread: the newest of the long one."""


def rows(quick: bool) -> Iterator[Row]:
    count = 1_000 if quick else 10_000
    long = growing(count)
    short = cached(f"growing-{count}-last-{KEPT}.db", lambda path: _shorten(long, path))
    megabytes = long.stat().st_size / 1e6
    timing = compare(forking, forking_short, long, short, rounds=7, calls=9, clock="cpu")
    yield at_most(
        f"a sandbox at the head of an open thread of {count:,} checkpoints, {megabytes:.0f} MB; "
        f"of one of its last {KEPT}",
        timing,
        1.5,
    )
    timing = compare(opening, opening_short, long, short, rounds=7, calls=9, clock="cpu")
    yield Row(
        "the same, with the thread's index read first",
        seconds(timing.ours),
        seconds(timing.baseline),
        f"{timing.ratio:.2f} ×",
        "",
        None,
    )
    timing = compare(whole, inserted, long, rounds=3, calls=1, clock="cpu")
    yield at_most("--full of that thread; plain INSERT … SELECT of its rows", timing, 2)
    with in_postgres.server() as server, server.database() as database:
        in_postgres.growing_thread(database.uri, count)
        taken, _ = once(through_savers, database.uri)
        ours, _ = once(whole, database.uri)
    yield times_faster(
        f"--full of {count:,} checkpoints, Postgres to SQLite; put and put_writes of the savers",
        Timing(ours, taken, ours / taken),
        10,
    )


def _shorten(long: Path, short: Path) -> None:
    """The same tables with the newest checkpoints and their writes only."""
    with closing(sqlite3.connect(short)) as db:
        db.execute("ATTACH ? AS long", (str(long),))
        for (statement,) in db.execute("SELECT sql FROM long.sqlite_master WHERE type = 'table'"):
            db.execute(statement)
        newest = "SELECT checkpoint_id FROM long.checkpoints WHERE thread_id = ? "
        newest += f"ORDER BY checkpoint_id DESC LIMIT {KEPT}"
        for table in ("checkpoints", "writes"):
            db.execute(
                f"INSERT INTO {table} SELECT * FROM long.{table} "
                f"WHERE thread_id = ? AND checkpoint_id IN ({newest})",
                (THREAD, THREAD),
            )
        db.commit()
        db.execute("PRAGMA journal_mode = WAL")


def _made(thread: Thread, folder: Path, full: bool = False) -> None:
    history = thread.history
    key = history.ids[history.head()]
    made = make_sandbox(thread, for_replay(thread, ROOT, key), "bench", full=full, folder=folder)
    made.path.unlink()


def _forking(store: str) -> Callable[[], object]:
    folder = Path(tempfile.mkdtemp())
    thread = Thread(open_source(store), THREAD)
    assert len(thread.history.ids)
    return lambda: _made(thread, folder)


def forking(long: str, short: str) -> Callable[[], object]:
    return _forking(long)


def forking_short(long: str, short: str) -> Callable[[], object]:
    return _forking(short)


def _opening(store: str) -> Callable[[], object]:
    folder = Path(tempfile.mkdtemp())

    def call() -> object:
        with closing(open_source(store)) as loader:
            return _made(Thread(loader, THREAD), folder)

    return call


def opening(long: str, short: str) -> Callable[[], object]:
    return _opening(long)


def opening_short(long: str, short: str) -> Callable[[], object]:
    return _opening(short)


def whole(store: str) -> Callable[[], object]:
    folder = Path(tempfile.mkdtemp())

    def call() -> object:
        with closing(open_source(store)) as loader:
            return _made(Thread(loader, THREAD), folder, full=True)

    return call


def inserted(store: str) -> Callable[[], object]:
    folder = Path(tempfile.mkdtemp())

    def call() -> None:
        path = folder / "copy.db"
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(f"file:{path}", isolation_level=None, uri=True)) as db:
            for pragma in ("journal_mode = OFF", "synchronous = OFF"):
                db.execute(f"PRAGMA {pragma}")
            db.execute("ATTACH ? AS source", (f"file:{store}?mode=ro",))
            for (sql,) in db.execute("SELECT sql FROM source.sqlite_master WHERE type = 'table'"):
                db.execute(sql)
            db.execute("BEGIN")
            for table in ("checkpoints", "writes"):
                db.execute(
                    f"INSERT INTO {table} SELECT * FROM source.{table} WHERE thread_id = ?",
                    (THREAD,),
                )
            db.execute("COMMIT")
            (count,) = db.execute("SELECT count(*) FROM checkpoints").fetchone()
            assert count > KEPT

    return call


def through_savers(uri: str) -> Callable[[], object]:
    """The thread through the public methods of the two savers, oldest first."""
    from langgraph.checkpoint.postgres import PostgresSaver
    from langgraph.checkpoint.sqlite import SqliteSaver

    folder = Path(tempfile.mkdtemp())

    def call() -> None:
        path = folder / "copy.db"
        shutil.rmtree(path, ignore_errors=True)
        with (
            PostgresSaver.from_conn_string(uri) as source,
            SqliteSaver.from_conn_string(str(path)) as target,
        ):
            every = list(source.list({"configurable": {"thread_id": THREAD}}))
            for found in reversed(every):
                config = found.parent_config or {
                    "configurable": {"thread_id": THREAD, "checkpoint_ns": ""}
                }
                versions = found.checkpoint["channel_versions"]
                made = target.put(config, found.checkpoint, found.metadata, versions)
                for task, channel, value in found.pending_writes or ():
                    target.put_writes(made, [(channel, value)], task)

    return call
