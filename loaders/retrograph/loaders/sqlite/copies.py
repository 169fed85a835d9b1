"""Private copies of databases that cannot be read where they are.

A -wal whose -shm is missing, a -wal beside an empty database, the hot journal of a writer that
died: SQLite reads these only by writing. So the files are copied, SQLite makes one plain database
of the copy, and that is opened and at once unlinked: no name is left for anybody, and the space
is free when the connection closes, however the process ends.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path

from retrograph.engine.errors import SourceError
from retrograph.loaders.sqlite.files import MAGIC, State, inspect, sidecar, uri

_CHUNK = 16 << 20
_ATTEMPTS = 5


def open_copy(
    path: str, descriptor: int, state: State, check: Callable[[], None]
) -> sqlite3.Connection:
    """A connection to a private copy of the database as it is now.

    `descriptor` is one of the database file; `check` is called between chunks, and what it raises
    ends the copying. Raises `SourceError` where there is no room, and where the files changed
    under every attempt.
    """
    folder = tempfile.mkdtemp(prefix="retrograph-")
    try:
        copy = str(Path(folder) / "copy.db")
        _room(path, folder, state)
        for _ in range(_ATTEMPTS):
            _copy_files(path, descriptor, copy, state, check)
            after = inspect(path, os.pread(descriptor, 20, 0))
            if _same(state, after):
                break
            state = after
        else:
            raise SourceError(f"{path} changes faster than it can be copied; try again.")
        _settle(path, copy)
        connection = sqlite3.connect(
            uri(copy, "mode=ro&immutable=1"),
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
    except OSError as error:
        raise SourceError(
            f"{path} can only be read through a temporary copy, which failed in {folder}: "
            f"{error.strerror or error}."
        ) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return connection


def _same(before: State, after: State) -> bool:
    """Whether what was copied in between is of one moment."""
    if before.wal_header:
        # What a writer added to the log does no harm: its frames carry checksums. A log begun
        # anew does, since pages may have reached the database half-way.
        return before.wal_header == after.wal_header
    return before[1:4] == after[1:4]


def _room(path: str, folder: str, state: State) -> None:
    need = sum(s.size for s in (state.database, state.wal, state.journal) if s is not None)
    free = shutil.disk_usage(folder).free
    if need * 2 > free:
        raise SourceError(
            f"{path} can only be read through a temporary copy, and {tempfile.gettempdir()} has "
            f"{free >> 20} MB free where {need * 2 >> 20} MB are needed; set TMPDIR."
        )


def _copy_files(
    path: str, descriptor: int, copy: str, state: State, check: Callable[[], None]
) -> None:
    for suffix in ("", "-wal", "-journal"):
        Path(sidecar(copy, suffix)).unlink(missing_ok=True)
    _copy_descriptor(descriptor, copy, check)
    if state.wal_header:
        _copy_file(sidecar(path, "-wal"), sidecar(copy, "-wal"), check)
        if state.database.size == 0:
            # SQLite would delete a log beside an empty database. One page of zeros keeps it: the
            # log holds page 1.
            page = int.from_bytes(state.wal_header[8:12], "big")
            Path(copy).write_bytes(bytes(page if 512 <= page <= 65536 else 4096))
    elif state.journal is not None:
        _copy_file(sidecar(path, "-journal"), sidecar(copy, "-journal"), check)


def _copy_file(source: str, target: str, check: Callable[[], None]) -> None:
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        _copy_descriptor(descriptor, target, check)
    finally:
        os.close(descriptor)


def _copy_descriptor(descriptor: int, target: str, check: Callable[[], None]) -> None:
    offset = 0
    with Path(target).open("wb") as out:
        while chunk := os.pread(descriptor, _CHUNK, offset):
            check()
            out.write(chunk)
            offset += len(chunk)


def _settle(path: str, copy: str) -> None:
    """Bring log or journal into the copy, so that it is one plain file."""
    connection = sqlite3.connect(copy, isolation_level=None)
    try:
        for pragma in ("synchronous=OFF", "wal_checkpoint(TRUNCATE)", "journal_mode=DELETE"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
    except sqlite3.DatabaseError:
        pass  # Damaged: what can be read of it is read from the file as it is.
    finally:
        connection.close()
    with Path(copy).open("rb") as file:
        if file.read(16) != MAGIC:
            raise SourceError(
                f"{path} is empty, and the -wal beside it does not hold the whole database."
            )
