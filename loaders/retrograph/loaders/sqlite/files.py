"""What a SQLite file and the files beside it say before anything is opened.

SQLite writes when it merely reads: it makes `-wal` and `-shm` files, rewrites `-shm`, rolls hot
journals back, and deletes a `-wal` beside an empty database. Which way of opening leaves
everything alone depends on the state of these files, so that is looked at first, with plain
`stat` and two bytes of the header (https://www.sqlite.org/fileformat2.html §1.3 and §4).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from retrograph.engine.errors import SourceError

MAGIC = b"SQLite format 3\0"
"""The first 16 bytes of every SQLite database."""

_WAL_HEADER = 32


class Kind(Enum):
    """How a database can be read without a trace."""

    ROLLBACK = "rollback"
    """Its journal mode is not WAL: `mode=ro` takes a shared lock while a statement runs."""
    STILL = "still"
    """WAL mode, nothing in the -wal: `immutable=1`, which opens no other file."""
    WAL = "wal"
    """There is something in the -wal: `readonly_shm=1`, which neither makes nor changes -shm."""
    COPY = "copy"
    """It cannot be read where it is: copied elsewhere, and the copy is read."""


class Stamp(NamedTuple):
    """A file as it was at one moment; `None` stands for a file that is not there."""

    device: int
    inode: int
    size: int
    mtime_ns: int


class State(NamedTuple):
    """The database, its -wal and its -journal at one moment, and how to read them."""

    kind: Kind
    database: Stamp
    wal: Stamp | None
    journal: Stamp | None
    wal_header: bytes
    """32 bytes with the salts: another header is another log, even in a file of the same inode."""

    @property
    def log(self) -> tuple[object, ...]:
        """What a connection must be opened again for when it differs."""
        wal = self.wal[:2] if self.wal is not None and self.wal.size else None
        return (self.kind, self.database[:2], wal, self.wal_header)


def sidecar(path: str, suffix: str) -> str:
    """The path of the -wal, -shm or -journal of a database; `path` has no symlinks."""
    return path + suffix


def stamp(path: str) -> Stamp | None:
    """A file's stamp, `None` where there is no such file. Other errors are raised."""
    return _stamp(_found(path))


def checked(path: Path) -> str:
    """The real path of a regular file that may be read, else one sentence."""
    try:
        found = path.stat()
        real = os.path.realpath(path)
    except FileNotFoundError:
        raise SourceError(f"{path} does not exist.") from None
    except PermissionError:
        raise SourceError(f"{path} cannot be reached: permission denied.") from None
    except OSError as error:
        raise SourceError(f"{path} cannot be opened: {_reason(error)}.") from None
    except ValueError:
        raise SourceError(f"{str(path)!r} cannot be the name of a file.") from None
    if stat.S_ISDIR(found.st_mode):
        raise SourceError(f"{path} is a folder; name the database file in it.")
    if not stat.S_ISREG(found.st_mode):
        raise SourceError(f"{path} is not a regular file, so it cannot be a SQLite database.")
    if not os.access(real, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
        raise SourceError(f"{path} cannot be read: permission denied.")
    return real


def inspect(path: str, header: bytes) -> State:
    """The state of a database, given its real path and its first 20 bytes.

    Raises `SourceError` for an empty file, and for one that is not a SQLite database.
    """
    found = [_found(path), *(_found(sidecar(path, suffix)) for suffix in ("-wal", "-journal"))]
    database, wal, journal = map(_stamp, found)
    if database is None:
        raise SourceError(f"{path} is no longer there.")
    log = _wal_header(sidecar(path, "-wal")) if wal is not None and wal.size else b""
    if database.size == 0 and not log:
        raise SourceError(f"{path} is empty (0 bytes): there is nothing in it to show.")
    if database.size and not header.startswith(MAGIC):
        raise SourceError(f"{path} is not a SQLite database (or it is an encrypted one).")
    if log:
        shm = sidecar(path, "-shm")
        usable = database.size > 0 and os.access(shm, os.R_OK)
        kind = Kind.WAL if usable else Kind.COPY
    else:
        # Byte 19 is the read version, 2 for WAL.
        kind = Kind.STILL if header[19:20] == b"\x02" else Kind.ROLLBACK
    if kind is not Kind.STILL and os.geteuid() == 0:
        found.append(_found(sidecar(path, "-shm")))
        if _would_be_chowned(found):
            kind = Kind.COPY
    return State(kind, database, wal, journal, log)


def uri(path: str, options: str) -> str:
    """A URI for SQLite, in which `?`, `#`, `%` and bytes that are not UTF-8 stay part of the name
    (https://www.sqlite.org/uri.html)."""
    safe = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/"
    quoted = "".join(chr(b) if b in safe else f"%{b:02X}" for b in os.fsencode(path))
    return f"file:{quoted}?{options}"


def _found(path: str) -> os.stat_result | None:
    # Several times for each page that is read: by name, since to make a `Path` takes longer than
    # to ask the system.
    try:
        return os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return None


def _stamp(found: os.stat_result | None) -> Stamp | None:
    if found is None:
        return None
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _would_be_chowned(found: Iterable[os.stat_result | None]) -> bool:
    """Whether SQLite, run by root, would give a file beside the database another owner: it gives
    them the database's when it opens them (os_unix.c, `robustFchown`)."""
    return len({(one.st_uid, one.st_gid) for one in found if one is not None}) > 1


def _wal_header(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(_WAL_HEADER)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise SourceError(
            f"{path} holds the newest rows and cannot be read: {_reason(error)}."
        ) from None


def _reason(error: OSError) -> str:
    text = error.strerror or type(error).__name__
    return text[:1].lower() + text[1:]
