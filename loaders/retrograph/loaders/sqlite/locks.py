"""One descriptor a database file, and the shared lock that SQLite's own readers take.

Two traps are the reason. A process that closes *any* descriptor of a file loses all its POSIX
locks on that file, those of SQLite's connections too: so the header is read through one
descriptor that stays open as long as anybody in the process reads the file. And between the look
at the files and SQLite's own lock the last writer may close, whereupon SQLite, finding no -wal,
would make one: so the shared lock is taken before the look. It is the very range that SQLite
locks (https://www.sqlite.org/src/file/src/os_unix.c, SHARED_FIRST and SHARED_SIZE); no writer
waits for it but one that must have the file to itself, as for any reader.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from retrograph.engine.errors import SourceError

_SHARED_FIRST = 0x40000002
_SHARED_SIZE = 510

_open: dict[tuple[int, int], _File] = {}
_guard = threading.Lock()


class BusyError(Exception):
    """A writer has the file to itself at this moment."""


class _File:
    """One inode that this process reads."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.users = 0
        self.holders = 0


class Handle:
    """A share in the one descriptor of a database file."""

    def __init__(self, path: str) -> None:
        """Raises `OSError` where the file cannot be opened."""
        with _guard:
            found = Path(path).stat()
            self.inode = (found.st_dev, found.st_ino)
            file = _open.get(self.inode)
            if file is None:
                # O_NONBLOCK: a FIFO put in the place of the file must not block.
                descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
                found = os.fstat(descriptor)
                self.inode = (found.st_dev, found.st_ino)
                file = _open[self.inode] = _File(descriptor)
            file.users += 1
            self._file: _File | None = file

    @property
    def descriptor(self) -> int:
        """Open for reading until `close`."""
        if self._file is None:
            raise SourceError("The source has been closed.")
        return self._file.descriptor

    def header(self) -> bytes:
        """The first 20 bytes, fewer where the file is shorter."""
        return os.pread(self.descriptor, 20, 0)

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Hold SQLite's shared lock. Raises `BusyError` when a writer excludes readers now."""
        file = self._file
        if file is None:
            raise SourceError("The source has been closed.")
        with _guard:
            _lock(file.descriptor)
            file.holders += 1
        try:
            yield
        finally:
            with _guard:
                file.holders -= 1
                if file.holders == 0:
                    _unlock(file.descriptor)
                    if file.users == 0:
                        os.close(file.descriptor)

    def close(self) -> None:
        """Give the share up; the last one closes the descriptor."""
        with _guard:
            file, self._file = self._file, None
            if file is None:
                return
            file.users -= 1
            if file.users == 0:
                del _open[self.inode]
                if file.holders == 0:
                    os.close(file.descriptor)


def _lock(descriptor: int) -> None:
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, _SHARED_SIZE, _SHARED_FIRST)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN):
            raise BusyError from None
        # A file system without locks: SQLite will say what it thinks of that.


def _unlock(descriptor: int) -> None:
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_UN, _SHARED_SIZE, _SHARED_FIRST)
    except OSError:
        pass
