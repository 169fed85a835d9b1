"""Whether a database was written to, told by its files alone.

In WAL mode a commit's rows are in the log before readers see them: in between the log is
synchronized, which takes as long as the disk likes. Who looks then reads what was there before, and
no file's time changes any more. So the head of the log's index, in the -shm, is looked at too: each
commit changes it when it comes in force (https://www.sqlite.org/walformat.html §2.1).
"""

from __future__ import annotations

import os
import threading
import time
from typing import NamedTuple

from retrograph.loaders.sqlite.files import Stamp, sidecar, stamp
from retrograph.loaders.sqlite.locks import Handle

_INDEX_HEAD = 48
_RACY_NS = 50_000_000
"""Files may be written twice within one tick of their clock: a stamp this young proves nothing."""


def young(stamp: Stamp) -> bool:
    """Whether the file may be written again and have the same stamp."""
    return abs(time.time_ns() - stamp.mtime_ns) < _RACY_NS


class _Looked(NamedTuple):
    """What tells that something was written."""

    database: Stamp | None
    log: Stamp | None
    in_force: bytes
    """How far the log is in force; empty where nothing says so."""

    def young(self) -> bool:
        return any(s is not None and young(s) for s in (self.database, self.log))


class Watch:
    """Compares the files with how they were. Any thread may call."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._index: Handle | None = None
        self._seen = self._look()
        self._racy = self._seen.young()

    def changed(self) -> bool:
        """Whether the database was written or replaced since the last call, or what had been
        written before has come in force."""
        now = self._look()
        with self._lock:
            changed = now != self._seen or self._racy
            self._seen, self._racy = now, now.young()
        return changed

    def hold_index(self) -> Handle | None:
        """The descriptor of the -shm that is there now; `None` without one. SQLite locks that file
        as it does the database, so it is held open before anything connects to it (`locks`)."""
        path = sidecar(self._path, "-shm")
        found = stamp(path)
        with self._lock:
            if self._index is not None and (found is None or found[:2] != self._index.inode):
                self._drop_index()  # deleted: nobody reads by it any more
            if self._index is None and found is not None:
                self._index = Handle(path)
            return self._index

    def close(self) -> None:
        """Harmless when repeated."""
        with self._lock:
            self._drop_index()

    def _drop_index(self) -> None:
        index, self._index = self._index, None
        if index is not None:
            index.close()

    def _look(self) -> _Looked:
        try:
            database, log = stamp(self._path), stamp(sidecar(self._path, "-wal"))
            index = self.hold_index() if log is not None and log.size else None
            in_force = b"" if index is None else os.pread(index.descriptor, _INDEX_HEAD, 0)
        except OSError:
            return _Looked(None, None, b"")
        return _Looked(database, log, in_force)
