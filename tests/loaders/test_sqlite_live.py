"""Reading while another process writes, replaces, locks or kills."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from loaders import content, sqlite_states
from loaders.contract import flat, thread_ids
from loaders.fill import TESTS
from loaders.sqlite_files import early_store, snapshot
from retrograph.engine.errors import Cancelled, SourceError
from retrograph.engine.model import CheckpointKey, ThreadQuery
from retrograph.loaders.sqlite import SQLiteLoader, store
from retrograph.loaders.sqlite.files import State
from retrograph.loaders.sqlite.store import Store

FORMATS = TESTS / "data" / "formats"
STORE = FORMATS / "langgraph-1.2.24.db"

WRITER = """
import os, sqlite3, sys
path, mode, count = sys.argv[1], sys.argv[2], int(sys.argv[3])

def connect():
    # timeout=0: a reader that is in the way is an error at once.
    connection = sqlite3.connect(path, isolation_level=None, timeout=float(sys.argv[4]))
    connection.execute("PRAGMA synchronous=OFF")
    return connection

connection = connect()
largest = 0
for n in range(count):
    parent = f"c{n-1:06}" if n else None
    row = ("live", "", f"c{n:06}", parent, "json", b"{}" * 2000, b"{}")
    connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    if mode == "churn":
        connection.close()
        connection = connect()
    elif os.path.exists(path + "-wal"):
        largest = max(largest, os.path.getsize(path + "-wal"))
connection.close()
print(largest)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    shutil.copy(STORE, tmp_path / "store.db")
    return tmp_path / "store.db"


@pytest.fixture
def loader(path: Path) -> Iterator[SQLiteLoader]:
    opened = SQLiteLoader(path)
    yield opened
    opened.close()


def run(script: str, *arguments: object) -> str:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def read_all_the_while(loader: SQLiteLoader, writer: subprocess.Popen[str]) -> int:
    """Read until the writer ends; what is seen must always be a whole line from the root."""
    seen = 0
    while writer.poll() is None:
        if not loader.changed():
            continue
        rows = flat(loader.rows("live"))
        ids = [row[1] for row in rows]
        assert ids == [f"c{n:06}" for n in range(len(rows))]
        assert [row[2] for row in rows] == [None, *ids[:-1]][: len(rows)]
        assert len(rows) >= seen
        seen = len(rows)
        newest = next(iter(loader.threads(ThreadQuery(limit=1))))
        if newest.thread_id == "live":
            loader.read(CheckpointKey("live", "", newest.head))
        # As an app that follows would, and not with a transaction open at every moment.
        time.sleep(0.01)
    return seen


@pytest.mark.parametrize(
    ("mode", "count", "timeout"), [("keep", 6000, 0), ("churn", 800, 0), ("rollback", 600, 5)]
)
def test_a_constant_writer(
    mode: str, count: int, timeout: float, path: Path, loader: SQLiteLoader
) -> None:
    if mode == "rollback":
        sqlite_states.rollback_mode(path.parent)
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), mode, str(count), str(timeout)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    read_all_the_while(loader, writer)
    out, err = writer.communicate()
    assert (writer.returncode, err) == (0, "")
    assert len(flat(loader.rows("live"))) == count
    # One read transaction held open all the while makes a log of 80 MB.
    assert int(out) < 40 << 20
    assert loader.warnings == []
    loader.close()
    sqlite_states.added(path, "closes")
    assert [p.name for p in path.parent.iterdir()] == ["store.db"]


CHECKPOINT = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
connection.execute("INSERT INTO checkpoints VALUES ('t', '', 'c', NULL, 'json', '{}', '{}')")
print(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])
"""


@pytest.mark.parametrize("journal", ["wal", "rollback"])
@pytest.mark.parametrize("method", ["rows", "writes", "envelopes"])
def test_a_reading_left_in_the_middle_holds_nothing(
    journal: str, method: str, path: Path, loader: SQLiteLoader
) -> None:
    if journal == "rollback":
        sqlite_states.rollback_mode(path.parent)
    else:
        sqlite_states.added(path, "dies")
    walk = getattr(loader, method)(thread_ids(loader, 1)[0])
    next(walk, None)
    assert run(CHECKPOINT, path).strip() in ("0", "-1")
    flat(walk)


EXCLUSIVE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    connection.execute(statement).fetchall()
print("ready", flush=True)
sys.stdin.readline()
"""


class Holder:
    """A process that holds a database in some way until told to stop."""

    def __init__(self, path: Path, *statements: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", EXCLUSIVE, str(path), *statements],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def stop(self) -> None:
        self.process.communicate("\n")


def test_a_writer_that_lets_no_one_read(path: Path) -> None:
    sqlite_states.rollback_mode(path.parent)
    loader = SQLiteLoader(path, patience=0.2)
    holder = Holder(path, "BEGIN EXCLUSIVE")
    before = snapshot(path.parent)
    with pytest.raises(SourceError, match="written by a process that lets no one read") as error:
        flat(loader.rows("loop"))
    assert "database is locked" not in str(error.value)
    assert snapshot(path.parent) == before
    holder.stop()
    assert flat(loader.rows("loop"))
    loader.close()


def test_a_writer_that_keeps_its_lock_in_wal_mode(path: Path) -> None:
    """It has no -shm: only a copy can be read."""
    insert = "INSERT INTO checkpoints VALUES ('mine', '', 'c{}', NULL, 'json', '{{}}', '{{}}')"
    holder = Holder(path, "PRAGMA locking_mode=EXCLUSIVE", insert.format(1))
    before = snapshot(path.parent)
    loader = SQLiteLoader(path, patience=0.2)
    assert [row[1] for row in flat(loader.rows("mine"))] == ["c1"]
    loader.close()
    assert snapshot(path.parent) == before
    holder.stop()


def test_an_open_transaction_is_not_seen(path: Path, loader: SQLiteLoader) -> None:
    before = thread_ids(loader)
    holder = Holder(path, "BEGIN", "DELETE FROM checkpoints")
    assert thread_ids(loader) == before
    holder.stop()
    assert thread_ids(loader) == before


def test_what_was_written_is_told_again_when_it_comes_in_force(
    path: Path, loader: SQLiteLoader
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        add = "INSERT INTO checkpoints VALUES ('live', '', ?, NULL, 'json', '{}', '{}')"
        writer.execute(add, ("c0",))
        # Closed last: closing it takes the locks of this process off the -shm.
        index = os.open(f"{path}-shm", os.O_RDWR)
        try:
            before = os.pread(index, 136, 0)
            writer.execute(add, ("c1",))
            after = os.pread(index, 136, 0)
            # As while the log is synchronized: the rows are in it, and readers pass them over.
            os.pwrite(index, before, 0)
            assert loader.changed()
            _until_quiet(loader)
            assert len(flat(loader.rows("live"))) == 1
            os.pwrite(index, after, 0)
            assert loader.changed()
            assert len(flat(loader.rows("live"))) == 2
            _until_quiet(loader)
        finally:
            writer.close()
            os.close(index)


def _until_quiet(loader: SQLiteLoader) -> None:
    deadline = time.monotonic() + 20
    while loader.changed():
        assert time.monotonic() < deadline
        time.sleep(0.06)


def _replace(path: Path) -> None:
    shutil.copy(FORMATS / "langgraphjs-1.7.3.db", path.parent / "new.db")
    (path.parent / "new.db").replace(path)


def _replace_by_early(path: Path) -> None:
    early_store(STORE, path.parent / "new.db", writes=True)
    (path.parent / "new.db").replace(path)


def _to_rollback(path: Path) -> None:
    run(
        "import sqlite3,sys;sqlite3.connect(sys.argv[1]).execute('PRAGMA journal_mode=DELETE')",
        path,
    )


def _migrate(path: Path) -> None:
    run(
        "import sqlite3,sys;c=sqlite3.connect(sys.argv[1]);c.execute('ALTER TABLE writes ADD x')",
        path,
    )


@pytest.mark.parametrize("change", [_replace, _replace_by_early, _to_rollback, _migrate])
def test_the_file_changes_under_an_open_loader(
    change: Callable[[Path], None], path: Path, loader: SQLiteLoader
) -> None:
    before = thread_ids(loader)
    _until_quiet(loader)
    walk = loader.rows(before[0])
    change(path)
    assert loader.changed()
    fresh = SQLiteLoader(path)
    after = thread_ids(fresh)
    fresh.close()
    assert thread_ids(loader) == after
    assert flat(loader.writes(after[0])) or flat(loader.writes(after[1]))
    walk.close()


@pytest.mark.parametrize("still", [False, True])
def test_a_column_that_is_added_while_open(tmp_path: Path, still: bool) -> None:
    path = tmp_path / "store.db"
    shutil.copy(FORMATS / "langgraph-0.6.0.db", path)
    loader = SQLiteLoader(path)
    if still:
        _until_quiet(loader)
    some = thread_ids(loader, 1)[0]
    assert {w[3] for w in flat(loader.writes(some))} == {""}
    run(
        "import sqlite3,sys\n"
        "with sqlite3.connect(sys.argv[1]) as c:\n"
        "  c.execute(\"ALTER TABLE writes ADD COLUMN task_path TEXT NOT NULL DEFAULT ''\")\n"
        "  c.execute(\"UPDATE writes SET task_path = 'here'\")",
        path,
    )
    assert {w[3] for w in flat(loader.writes(some))} == {"here"}
    loader.close()


def test_the_tables_of_a_still_file_are_known(
    path: Path, loader: SQLiteLoader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but what is wanted is asked for, on one connection."""
    _until_quiet(loader)
    flat(loader.rows("loop"))
    asked: list[list[str]] = []
    plainly = store.connect

    def connect(file: str, state: State) -> sqlite3.Connection:
        connection = plainly(file, state)
        asked.append([])
        connection.set_trace_callback(asked[-1].append)
        return connection

    monkeypatch.setattr(store, "connect", connect)
    flat(loader.rows("loop"))
    assert [[sql.split()[0] for sql in statements] for statements in asked] == [["SELECT"]]
    run(WRITER, path, "keep", 1, 5)
    flat(loader.rows("loop"))
    assert any("schema_version" in sql for sql in asked[-1])


def test_the_file_goes_away(path: Path, loader: SQLiteLoader) -> None:
    _until_quiet(loader)
    path.unlink()
    assert loader.changed()
    with pytest.raises(SourceError, match="is no longer there"):
        flat(loader.rows("loop"))


def test_a_hot_journal_that_appears_and_goes(path: Path) -> None:
    sqlite_states.rollback_mode(path.parent)
    loader = SQLiteLoader(path)
    before = [flat(loader.rows(t)) for t in thread_ids(loader)]
    run(sqlite_states._DIES_IN_TRANSACTION, path)
    during = snapshot(path.parent)
    assert [flat(loader.rows(t)) for t in thread_ids(loader)] == before
    assert snapshot(path.parent) == during
    # The next writer rolls it back.
    sqlite_states.added(path, "closes")
    assert thread_ids(loader)[0] == "added"
    loader.close()


LONG_LOG = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA synchronous=OFF")
connection.execute("PRAGMA wal_autocheckpoint=0")
for n in range(20):
    row = ("big", "", f"c{n:02}", None, "json", os.urandom(1 << 20), b"{}")
    connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", row)
os._exit(0)
"""


def test_a_long_log_is_followed(path: Path) -> None:
    """Its connection is kept, since each new one would read the whole log; a writer comes back."""
    run(LONG_LOG, path)
    before = snapshot(path.parent)
    loader = SQLiteLoader(path)
    assert len(flat(loader.rows("big"))) == 20
    assert len(flat(loader.rows("big"))) == 20
    assert snapshot(path.parent) == before
    holder = Holder(
        path, "PRAGMA wal_autocheckpoint=0", "DELETE FROM checkpoints WHERE checkpoint_id = 'c00'"
    )
    assert len(flat(loader.rows("big"))) == 19
    holder.stop()
    # The last writer closed: there is no log any more.
    assert [p.name for p in path.parent.iterdir()] == ["store.db"]
    assert len(flat(loader.rows("big"))) == 19
    loader.close()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL, None])
def test_copies_are_gone_however_the_reader_ends(end: int | None, tmp_path: Path) -> None:
    temporary, folder = tmp_path / "temporary", tmp_path / "folder"
    temporary.mkdir()
    folder.mkdir()
    path = sqlite_states.make("wal_without_shm", STORE, folder)
    reader = subprocess.Popen(
        [sys.executable, "-m", "loaders.probe", str(path)],
        cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(temporary), "PROBE_HOLD": "1"},
    )  # fmt: skip
    assert reader.stdout is not None
    assert reader.stdout.readline() == "holding\n"
    assert list(temporary.iterdir()) == []
    if end is not None:
        reader.send_signal(end)
    reader.communicate("\n")
    assert list(temporary.iterdir()) == []


def test_no_room_for_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sqlite_states.make("wal_without_shm", STORE, tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 1))
    with pytest.raises(SourceError, match=r"temporary copy, and .* has 0 MB free"):
        SQLiteLoader(path)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


def test_a_long_statement_is_interrupted(path: Path) -> None:
    store = Store(path)
    with store.reading() as reading:
        threading.Timer(0.2, store.interrupt).start()
        with pytest.raises(Cancelled):
            reading.all(ENDLESS)
    with store.reading() as reading:
        assert reading.all("SELECT 1") == [(1,)]
    store.close()


def test_a_walk_is_interrupted_between_pages(tmp_path: Path) -> None:
    path = tmp_path / "long.db"
    shutil.copy(STORE, path)
    run(WRITER, path, "keep", 4100, 5)
    loader = SQLiteLoader(path)
    walk = loader.rows("live")
    assert len(next(walk)) < 4100
    loader.interrupt()
    with pytest.raises(Cancelled):
        next(walk)
    assert len(flat(loader.rows("live"))) == 4100
    loader.close()


def test_other_descriptors_do_not_drop_the_lock_of_a_reading(path: Path) -> None:
    """Closing any descriptor of a file drops a process's POSIX locks on it, SQLite's too."""
    sqlite_states.rollback_mode(path.parent)
    store = Store(path)

    def work(connection: object) -> str:
        SQLiteLoader(path).close()
        return run(
            "import sqlite3,sys\n"
            "c=sqlite3.connect(sys.argv[1],timeout=0)\n"
            "try: c.execute('DELETE FROM writes'); c.commit(); print('written')\n"
            "except sqlite3.OperationalError as e: print(e)",
            path,
        )

    with store.reading() as reading:
        rows = reading.page(lambda c: (c.execute("SELECT 1 FROM writes"), work(c))[1])
    assert rows == "database is locked\n"
    store.close()


def test_ids_of_the_suite_are_as_langgraph_makes_them() -> None:
    from retrograph.engine.ids import step_of

    assert step_of(content.cid(5, -1)) == -1
    assert step_of(content.cid(5, 7)) == 7
