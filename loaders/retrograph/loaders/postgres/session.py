"""One connection, on which every read is a transaction of its own that can change nothing:

    BEGIN READ ONLY; SET LOCAL statement_timeout = …; SET LOCAL lock_timeout = …; SELECT …; COMMIT

They go out together (libpq's pipeline), so a read costs one round trip and the server never waits
for us inside a transaction. Nothing is set on the session and no statement is prepared by name:
behind a transaction pooler both would outlive us, or fail.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from typing import Any, Final

import psycopg
from psycopg import errors
from psycopg.adapt import Loader
from psycopg.conninfo import make_conninfo
from psycopg.pq import ConnStatus, TransactionStatus

from retrograph.engine.errors import Cancelled, SourceError
from retrograph.loaders.postgres import refusals
from retrograph.loaders.postgres.address import Address, shown

Row = tuple[Any, ...]
Statement = tuple[str, Sequence[Any]]
"""SQL with `%s`, and its parameters."""

_BEGIN: Final = b"BEGIN READ ONLY"
_COMMIT: Final = b"COMMIT"
_AGAIN: Final = 0.1
"""Seconds after which a cancellation that met no statement yet is sent again."""
_CANCELS: Final = 30

# The server ended the session, or the standby ended the statement: nothing was done, so again.
_LOST: Final = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.IdleSessionTimeout,
    errors.ConnectionException,
)
_CONFLICT: Final = (errors.SerializationFailure, errors.DeadlockDetected)


class Session:
    """The connection of one loader. Any thread may read; one statement runs at a time."""

    def __init__(self, address: Address) -> None:
        """Connects. Raises `SourceError`."""
        self._address = address
        self._settings = (
            f"SET LOCAL statement_timeout = '{address.statement_timeout}'".encode(),
            f"SET LOCAL lock_timeout = '{address.lock_timeout}'".encode(),
        )
        self.warnings: list[str] = []
        self._lock = threading.Lock()
        self._cancelling = threading.Lock()
        self._epoch = 0
        self._idle = threading.Event()
        self._idle.set()
        self._closed = False
        self._connection = self._connect()

    @property
    def location(self) -> str:
        """The URL without secrets."""
        info = self._connection.info
        try:
            return shown(info.host, info.port, info.user, info.dbname)
        except psycopg.Error:
            return self._address.shown

    @property
    def server_version(self) -> int:
        """170002 is 17.2."""
        return self._connection.info.server_version

    def reading(self) -> Reading:
        """A reading that `interrupt` stops, if it is called from now on."""
        return Reading(self, self._epoch)

    def warn(self, sentence: str) -> None:
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def interrupt(self) -> None:
        """Cancel the statement that is running, on the server, and all readings under way."""
        with self._cancelling:
            self._epoch += 1
            for _ in range(_CANCELS):
                if self._idle.is_set():
                    break
                with suppress(psycopg.Error):
                    self._connection.cancel_safe(timeout=2)
                self._idle.wait(_AGAIN)

    def close(self) -> None:
        self._closed = True
        self._connection.close()

    def run(self, epoch: int, statements: Sequence[Statement]) -> list[list[Row]]:
        """The rows of each statement, all of one transaction."""
        with self._lock:
            tried_again = False
            while True:
                self._check(epoch)
                began = time.monotonic()
                try:
                    return self._transaction(epoch, statements)
                except psycopg.Error as error:
                    self._check(epoch)
                    again = self._is_passing(error, time.monotonic() - began)
                    if tried_again or not again:
                        raise SourceError(self._sentence(error)) from None
                    tried_again = True
                if self._is_lost:
                    self._reconnect()

    def _check(self, epoch: int) -> None:
        if self._closed:
            raise SourceError(f"{self._address.shown} has been closed.")
        if epoch != self._epoch:
            raise Cancelled("Reading was stopped.")

    def _transaction(self, epoch: int, statements: Sequence[Statement]) -> list[list[Row]]:
        connection = self._connection
        with self._cancelling:
            self._check(epoch)
            self._idle.clear()
        try:
            with connection.pipeline() if psycopg.Pipeline.is_supported() else nullcontext():
                connection.execute(_BEGIN)
                for setting in self._settings:
                    connection.execute(setting)
                cursors = [
                    connection.cursor(binary=True).execute(sql.encode(), parameters)
                    for sql, parameters in statements
                ]
                connection.execute(_COMMIT)
            return [cursor.fetchall() for cursor in cursors]
        finally:
            self._idle.set()
            # A cancellation that is on its way has arrived before the next statement begins.
            with self._cancelling, suppress(psycopg.Error):
                if connection.info.transaction_status != TransactionStatus.IDLE:
                    connection.rollback()

    @property
    def _is_lost(self) -> bool:
        pgconn = self._connection.pgconn
        return self._connection.closed or pgconn.status != ConnStatus.OK

    def _is_passing(self, error: psycopg.Error, seconds: float) -> bool:
        """Whether the same statement may well succeed when it is sent again."""
        if isinstance(error, errors.QueryCanceled):
            # A timeout, else the cancellation of an earlier statement that came late.
            return seconds < _seconds(self._address.statement_timeout) * 0.9
        return self._is_lost or isinstance(error, (*_LOST, *_CONFLICT))

    def _sentence(self, error: psycopg.Error) -> str:
        where = self.location if not self._is_lost else self._address.shown
        if isinstance(error, errors.QueryCanceled):
            return refusals.too_slow(where, self._address.statement_timeout)
        return refusals.cannot_read(where, error)

    def _connect(self) -> psycopg.Connection[Row]:
        try:
            connection = psycopg.connect(
                make_conninfo("", **self._address.parameters),
                autocommit=True,
                prepare_threshold=None,
            )
        except psycopg.Error as error:
            raise SourceError(refusals.cannot_connect(self._address, error)) from None
        if connection.info.encoding == "ascii":
            # A database of unknown encoding (SQL_ASCII): else text would come as bytes.
            for name in ("text", "varchar", "name"):
                connection.adapters.register_loader(name, _AnyText)
                connection.adapters.register_loader(name, _AnyBinaryText)
        return connection

    def _reconnect(self) -> None:
        with suppress(psycopg.Error):
            self._connection.close()
        self._connection = self._connect()
        self.warn(f"The connection to {self.location} was lost and has been opened again.")


class Reading:
    """A series of transactions for one call of a loader's method."""

    def __init__(self, session: Session, epoch: int) -> None:
        self._session = session
        self._epoch = epoch

    def all(self, statement: Statement) -> list[Row]:
        """The rows of one statement."""
        return self._session.run(self._epoch, [statement])[0]

    def several(self, *statements: Statement) -> list[list[Row]]:
        """The rows of each statement, in one transaction and one round trip."""
        return self._session.run(self._epoch, statements)

    def warn(self, sentence: str) -> None:
        self._session.warn(sentence)

    def go_on(self) -> None:
        """Raises `Cancelled` where the reading has been stopped."""
        self._session._check(self._epoch)


class _AnyText(Loader):
    def load(self, data: Any) -> str:
        return bytes(data).decode("utf-8", "surrogateescape")


class _AnyBinaryText(_AnyText):
    format = psycopg.pq.Format.BINARY


_UNITS: Final = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}


def _seconds(timeout: str) -> float:
    """`30s` or, in milliseconds, `30000`; 0 is no limit."""
    number = "".join(c for c in timeout if c.isdigit())
    unit = timeout[len(number) :].strip() or "ms"
    return int(number) * _UNITS[unit] or float("inf")
