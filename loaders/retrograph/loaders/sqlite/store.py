"""One SQLite file, read in short pages, each under the state that the files are in just then.

Between pages nothing is held: no read transaction, no lock, so no writer ever waits for a reader
that stopped to think, and its checkpoints pass.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

from retrograph.engine.errors import Cancelled, SourceError
from retrograph.loaders.sqlite.connect import connect, guard, tolerate
from retrograph.loaders.sqlite.copies import open_copy
from retrograph.loaders.sqlite.faults import Fault, fault, sentence
from retrograph.loaders.sqlite.files import Kind, Stamp, State, checked, inspect, sidecar, stamp
from retrograph.loaders.sqlite.layout import Layout, find_layout
from retrograph.loaders.sqlite.locks import BusyError, Handle
from retrograph.loaders.sqlite.salvage import salvage, verify
from retrograph.loaders.sqlite.watch import Watch, young

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

_COOKIE = "PRAGMA main.schema_version"
_VERIFIED = 8 << 20
"""Up to this size of the file, the indexes are counted against their tables once."""
_LONG_LOG = 16 << 20


class _TornError(BusyError):
    """The files changed under a page that nothing protected."""


class _Kept(NamedTuple):
    """The one connection, shared by all readings, to what is dear to open: a private copy, a
    damaged database, or one with a long log."""

    state: State
    connection: sqlite3.Connection
    salvaged: bool


class _Known(NamedTuple):
    """The tables as they were found."""

    key: tuple[int, ...]
    """Of which file, and of which state of its schema."""
    database: Stamp | None
    """The file just before, where it proves that nothing came in force since."""
    layout: Layout


class Store:
    """A database file and how it can be read now. Any thread may use it."""

    def __init__(self, path: Path, *, patience: float = 5.0) -> None:
        """`patience`: seconds to wait for a writer that excludes readers.

        Raises `SourceError` where the file cannot be read at all.
        """
        self.path = checked(path)
        self.patience = patience
        self.warnings: list[str] = []
        self.tolerant = False
        """Whether text that is not UTF-8 was met."""
        self.epoch = 0
        """Counts the interruptions: a reading that began in an earlier one stops."""
        self._handle = self._open_handle()
        self._layout: _Known | None = None
        self._kept: _Kept | None = None
        self._kept_lock = threading.RLock()
        self._lock = threading.Lock()
        self._running: set[sqlite3.Connection] = set()
        self._watch = Watch(self.path)

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """One operation: some pages, each of its own moment."""
        reading = Reading(self)
        try:
            yield reading
        finally:
            reading.close()

    def changed(self) -> bool:
        """Whether anything was written, replaced, or came in force since the last call."""
        return self._watch.changed()

    def interrupt(self) -> None:
        """Stop the readings under way."""
        with self._lock:
            self.epoch += 1
            for connection in self._running:
                connection.interrupt()

    def close(self) -> None:
        """Stop the readings, close everything and remove copies. Harmless when repeated."""
        self.interrupt()
        with self._kept_lock:
            self._drop_kept()
        self._handle.close()
        self._watch.close()

    def check(self, epoch: int) -> None:
        """Raises `Cancelled` where an interruption came after `epoch`."""
        if epoch != self.epoch:
            raise Cancelled(f"Reading {self.path} was stopped.")

    def warn(self, text: str) -> None:
        """Remember one sentence about what could not be read, once."""
        with self._lock:
            if text not in self.warnings:
                self.warnings.append(text)

    def handle(self) -> Handle:
        """The descriptor of the file that the path names now."""
        found = stamp(self.path)
        with self._lock:
            if found is not None and found[:2] != self._handle.inode:
                fresh = self._open_handle()
                self._handle.close()
                self._handle = fresh
            return self._handle

    def layout(self, reading: Reading) -> Layout:
        """The tables; looked up again where the file was replaced or its schema changed."""
        proof = self._proof()
        if proof is not None and self._layout is not None and self._layout.database == proof:
            return self._layout.layout
        cookie = reading.page(lambda connection: connection.execute(_COOKIE).fetchone()[0])
        key = (*self.handle().inode, cookie)
        known = self._layout
        if known is not None and known.key == key:
            self._layout = known._replace(database=proof)
            return known.layout
        layout = reading.page(lambda connection: find_layout(connection, self.path))
        for text in layout.remarks:
            self.warn(f"{self.path}: {text}")
        if Path(self.path).stat().st_size <= _VERIFIED:
            reading.page(lambda connection: verify(connection, layout))
        self._layout = _Known(key, proof, layout)
        return layout

    def _proof(self) -> Stamp | None:
        """The file's stamp, where as long as it stays nothing comes in force: there is no log, and
        the stamp's time is over."""
        log, database = stamp(sidecar(self.path, "-wal")), stamp(self.path)
        if database is None or (log is not None and log.size) or young(database):
            return None
        return database

    def forget_layout(self) -> None:
        self._layout = None

    @contextmanager
    def running(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Make `connection` one that `interrupt` reaches."""
        with self._lock:
            self._running.add(connection)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(connection)

    def connect(self, state: State) -> sqlite3.Connection:
        """A connection of its own, for a state that needs no copy."""
        if state.kind is Kind.WAL:
            self._watch.hold_index()
        return connect(self.path, state)

    def is_kept(self, state: State) -> bool:
        kept = self._kept
        return kept is not None and kept.state[1:] == state[1:]

    def with_kept(
        self, state: State, epoch: int, work: Work[T], *, copy: bool = False, damaged: bool = False
    ) -> T:
        """Run `work` on the shared connection, which is made anew where the files changed.

        `copy`: from a copy, even where the state asks for none; `damaged`: after a salvage.
        """
        with self._kept_lock:
            self.check(epoch)
            if not self.is_kept(state):
                self._drop_kept()
                self._kept = self._keep(state, epoch, copy=copy)
            assert self._kept is not None
            connection = self._kept.connection
            if self.tolerant:
                tolerate(connection)
            if damaged and not self._kept.salvaged:
                with self.running(connection):
                    for text in salvage(connection, self.path, lambda: self.check(epoch)):
                        self.warn(f"{self.path} is damaged: {text}")
                self._kept = self._kept._replace(salvaged=True)
            with self.running(connection):
                return work(connection)

    def _keep(self, state: State, epoch: int, *, copy: bool) -> _Kept:
        if copy or state.kind is Kind.COPY:
            connection = guard(
                open_copy(self.path, self._handle.descriptor, state, lambda: self.check(epoch)),
                state,
            )
        else:
            connection = self.connect(state)
        return _Kept(state, connection, salvaged=False)

    def _drop_kept(self) -> None:
        if self._kept is not None:
            self._kept.connection.close()
            self._kept = None

    def _open_handle(self) -> Handle:
        try:
            return Handle(self.path)
        except OSError as error:
            raise SourceError(f"{self.path} cannot be opened: {error.strerror}.") from None


def _long_log(state: State) -> bool:
    """Whether opening takes long: where no writer lives to keep an index of the log, each
    connection reads all of the log to make its own."""
    return state.kind is Kind.WAL and state.wal is not None and state.wal.size > _LONG_LOG


class Reading:
    """One operation on a store: it keeps its connection from page to page while that is right."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._epoch = store.epoch
        self._connection: sqlite3.Connection | None = None
        self._layout: Layout | None = None
        self._log: tuple[object, ...] = ()

    @property
    def layout(self) -> Layout:
        if self._layout is None:
            self._layout = self.store.layout(self)
        return self._layout

    def all(self, sql: str, parameters: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        """All rows of one short SELECT."""
        return self.page(lambda connection: connection.execute(sql, parameters).fetchall())

    def page(self, work: Work[T]) -> T:
        """Run `work`, which reads to its end, on the files as they are now.

        Raises `SourceError` with a sentence where they cannot be read, `Cancelled` where the
        store was interrupted. `work` may be run more than once.
        """
        deadline = time.monotonic() + self.store.patience
        patient = deadline - self.store.patience * 0.8
        pause, tries = 0.001, {Fault.UNREADABLE: 0, Fault.DAMAGED: 0, Fault.TEXT: 0}
        while True:
            self.store.check(self._epoch)
            try:
                return self._attempt(work, tries, waited=time.monotonic() > patient)
            except (BusyError, sqlite3.Error, UnicodeDecodeError) as error:
                kind = Fault.BUSY if isinstance(error, BusyError) else fault(error)
                if kind is Fault.INTERRUPTED:
                    raise Cancelled(f"Reading {self.store.path} was stopped.") from None
                self.close()
                if kind is Fault.TEXT:
                    self.store.tolerant = True
                elif kind is Fault.TABLES:
                    self.store.forget_layout()
                given_up = (
                    time.monotonic() >= deadline
                    if kind is Fault.BUSY
                    else tries.get(kind, 9) >= (3 if kind is Fault.UNREADABLE else 2)
                )
                if given_up:
                    raise SourceError(sentence(self.store.path, kind, error)) from None
                if kind in tries:
                    tries[kind] += 1
            time.sleep(pause)
            pause = min(pause * 2, 0.05)

    def close(self) -> None:
        """Close the connection of this operation."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _attempt(self, work: Work[T], tries: dict[Fault, int], *, waited: bool) -> T:
        store = self.store
        handle = store.handle()
        damaged = tries[Fault.DAMAGED] > 1
        copy = tries[Fault.UNREADABLE] > 2
        try:
            with handle.shared():
                state = inspect(store.path, handle.header())
                shared = state.kind is Kind.COPY or _long_log(state) or store.is_kept(state)
                if copy or damaged or shared:
                    result = store.with_kept(state, self._epoch, work, copy=copy, damaged=damaged)
                else:
                    result = self._direct(state, work)
                if state.kind is Kind.STILL and inspect(store.path, handle.header()) != state:
                    raise _TornError
                return result
        except BusyError:
            # A writer with `locking_mode=EXCLUSIVE` never lets go, and has no -shm; one that
            # closes looks so for a moment.
            state = inspect(store.path, handle.header())
            if state.kind is not Kind.COPY or not (waited or store.is_kept(state)):
                raise
            return store.with_kept(state, self._epoch, work, damaged=damaged)

    def _direct(self, state: State, work: Work[T]) -> T:
        if self._connection is not None and self._log != state.log:
            self.close()
        if self._connection is None:
            self._connection, self._log = self.store.connect(state), state.log
        if self.store.tolerant:
            tolerate(self._connection)
        with self.store.running(self._connection):
            return work(self._connection)
