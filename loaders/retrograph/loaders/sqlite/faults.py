"""What SQLite's errors mean to a reader, and the sentence for each."""

from __future__ import annotations

import sqlite3
from enum import Enum


class Fault(Enum):
    BUSY = "busy"
    """A writer excludes readers: wait."""
    UNREADABLE = "unreadable"
    """The files changed between the look and the reading, or cannot be read where they are."""
    DAMAGED = "damaged"
    """Pages that make no sense (or that changed while they were read: then once more is right)."""
    TEXT = "text"
    """Text that is not UTF-8."""
    TABLES = "tables"
    """Tables or columns are no longer what they were."""
    INTERRUPTED = "interrupted"
    OTHER = "other"


_BY_CODE = {
    sqlite3.SQLITE_BUSY: Fault.BUSY,
    sqlite3.SQLITE_LOCKED: Fault.BUSY,
    sqlite3.SQLITE_PROTOCOL: Fault.BUSY,
    sqlite3.SQLITE_READONLY: Fault.UNREADABLE,
    sqlite3.SQLITE_CANTOPEN: Fault.UNREADABLE,
    sqlite3.SQLITE_IOERR: Fault.UNREADABLE,
    sqlite3.SQLITE_PERM: Fault.UNREADABLE,
    sqlite3.SQLITE_CORRUPT: Fault.DAMAGED,
    sqlite3.SQLITE_NOTADB: Fault.DAMAGED,
    sqlite3.SQLITE_ERROR: Fault.TABLES,
    sqlite3.SQLITE_SCHEMA: Fault.TABLES,
    sqlite3.SQLITE_INTERRUPT: Fault.INTERRUPTED,
}


def fault(error: sqlite3.Error | UnicodeDecodeError) -> Fault:
    """The kind of an error. Errors of our own making (`ProgrammingError`) are raised again."""
    if isinstance(error, UnicodeDecodeError):
        return Fault.DAMAGED  # SQLite's own message quotes the garbage that it met.
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        if isinstance(error, sqlite3.OperationalError) and "UTF-8" in str(error):
            return Fault.TEXT
        raise error
    return _BY_CODE.get(code & 0xFF, Fault.OTHER)


ERRORS = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What reading a damaged database raises."""


def sentence(path: str, kind: Fault, error: Exception) -> str:
    """What to tell the user when there is no way on."""
    match kind:
        case Fault.BUSY:
            return f"{path} is being written by a process that lets no one read; try again later."
        case Fault.DAMAGED:
            return f"{path} is damaged where nothing can be read around it ({error})."
        case Fault.TABLES:
            return f"The tables of {path} changed while they were read ({error}); try again."
        case _:
            return f"{path} cannot be read ({error})."
