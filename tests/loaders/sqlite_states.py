"""Makes SQLite files in every state that a reader can meet, each by a process of its own.

A state is a function from a folder that holds nothing but `store.db` (WAL mode, closed) to the
folder in that state. `ROWS` rows more than in the store are in it afterwards.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

NAME = "store.db"
ADDED = 40

_WRITER = f"""
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for pragma in ("synchronous=OFF", *sys.argv[3:]):
    connection.execute("PRAGMA " + pragma).fetchall()
for n in range({ADDED}):
    parent = f"added-{{n-1:04}}" if n else None
    row = ("added", "", f"added-{{n:04}}", parent, "json", b"{{}}", b"{{}}")
    connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", row)
if sys.argv[2] == "dies":
    os._exit(0)
connection.close()
"""

_DIES_IN_TRANSACTION = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size=5")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE checkpoints SET metadata = zeroblob(3000)")
os._exit(0)
"""


def added(path: Path, how: str, *pragmas: str) -> None:
    """Add rows; `how`: "closes" or "dies" (leaving -wal and -shm behind)."""
    subprocess.run([sys.executable, "-c", _WRITER, str(path), how, *pragmas], check=True)


def rollback_mode(folder: Path) -> None:
    with closing(sqlite3.connect(folder / NAME)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")


def _wal_closed(folder: Path) -> None:
    added(folder / NAME, "closes")


def _wal_empty_log(folder: Path) -> None:
    added(folder / NAME, "closes")
    (folder / f"{NAME}-wal").touch()
    (folder / f"{NAME}-shm").write_bytes(bytes(32768))


def _wal_hot(folder: Path) -> None:
    added(folder / NAME, "dies")


def _wal_without_shm(folder: Path) -> None:
    added(folder / NAME, "dies")
    (folder / f"{NAME}-shm").unlink()


def _wal_empty_shm(folder: Path) -> None:
    added(folder / NAME, "dies")
    (folder / f"{NAME}-shm").write_bytes(b"")


def _wal_zeroed_shm(folder: Path) -> None:
    added(folder / NAME, "dies")
    (folder / f"{NAME}-shm").write_bytes(bytes(32768))


def _wal_stale_shm(folder: Path) -> None:
    """The index of an earlier log."""
    added(folder / NAME, "dies")
    stale = (folder / f"{NAME}-shm").read_bytes()
    with closing(sqlite3.connect(folder / NAME)) as connection:
        connection.execute("DELETE FROM checkpoints WHERE thread_id = 'added'")
        connection.commit()
    added(folder / NAME, "dies")
    (folder / f"{NAME}-shm").write_bytes(stale)


def _wal_header_of_rollback(folder: Path) -> None:
    """A log beside a database whose header says that there is none: SQLite uses it."""
    added(folder / NAME, "dies")
    with (folder / NAME).open("r+b") as file:
        file.seek(18)
        file.write(b"\1\1")


def _torn_log(folder: Path) -> None:
    """Half a frame at the end, as a crash leaves it."""
    added(folder / NAME, "dies")
    with (folder / f"{NAME}-wal").open("ab") as file:
        file.write(b"\x55" * 1000)


def _empty_beside_log(folder: Path) -> None:
    """A 0-byte database beside a log that holds all of it."""
    with closing(sqlite3.connect(folder / NAME)) as connection:
        statements = list(connection.iterdump())
    (folder / NAME).unlink()
    script = (
        "import os, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1])\n"
        "c.execute('PRAGMA journal_mode=WAL'); c.execute('PRAGMA wal_autocheckpoint=0')\n"
        "c.executescript(sys.stdin.read())\n"
        "os._exit(0)\n"
    )
    subprocess.run(
        [sys.executable, "-c", script, str(folder / NAME)],
        input="\n".join(statements), text=True, check=True,
    )  # fmt: skip
    added(folder / NAME, "dies", "wal_autocheckpoint=0")
    (folder / NAME).write_bytes(b"")


def _rollback(folder: Path) -> None:
    rollback_mode(folder)
    added(folder / NAME, "closes")


def _rollback_persistent(folder: Path) -> None:
    """A journal file that stays, with a header of zeros."""
    rollback_mode(folder)
    added(folder / NAME, "closes", "journal_mode=PERSIST")
    assert (folder / f"{NAME}-journal").stat().st_size


def _hot_journal(folder: Path) -> None:
    """A writer died within a transaction: half of it is in the database."""
    rollback_mode(folder)
    added(folder / NAME, "closes")
    subprocess.run([sys.executable, "-c", _DIES_IN_TRANSACTION, str(folder / NAME)], check=True)
    assert (folder / f"{NAME}-journal").stat().st_size


STATES: dict[str, Callable[[Path], None]] = {
    function.__name__.removeprefix("_"): function
    for function in (
        _wal_closed, _wal_empty_log, _wal_hot, _wal_without_shm, _wal_empty_shm, _wal_zeroed_shm,
        _wal_stale_shm, _wal_header_of_rollback, _torn_log, _empty_beside_log, _rollback,
        _rollback_persistent, _hot_journal,
    )
}  # fmt: skip


def make(state: str, store: Path, folder: Path) -> Path:
    """The store in that state, in `folder`; returns the database's path."""
    shutil.copy(store, folder / NAME)
    STATES[state](folder)
    return folder / NAME
