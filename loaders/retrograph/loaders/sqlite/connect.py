"""Opening one connection that cannot write, and that trusts nothing in the file."""

from __future__ import annotations

import sqlite3

from retrograph.loaders.sqlite.files import Kind, State, uri

_OPTIONS = {
    Kind.ROLLBACK: "mode=ro",
    Kind.STILL: "mode=ro&immutable=1",
    Kind.WAL: "mode=ro&readonly_shm=1",
}
_PRAGMAS = ("trusted_schema=OFF", "cell_size_check=ON", "temp_store=MEMORY", "query_only=ON")
_SLACK = 64 << 20


def connect(path: str, state: State) -> sqlite3.Connection:
    """A connection for a state that needs no copy; for any thread, one at a time."""
    connection = sqlite3.connect(
        uri(path, _OPTIONS[state.kind]),
        uri=True,
        timeout=0.05,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        return guard(connection, state)
    except BaseException:
        connection.close()
        raise


def guard(connection: sqlite3.Connection, state: State) -> sqlite3.Connection:
    """Bound what a hostile schema can make SQLite do; returns the connection."""
    # No stored value is longer than the file, but a generated column could claim a gigabyte.
    stored = state.database.size + (state.wal.size if state.wal is not None else 0)
    longest = min(stored + _SLACK, connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH))
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    return connection


def tolerate(connection: sqlite3.Connection) -> None:
    """Read text that is not UTF-8 too, its odd bytes as lone surrogates; slower."""
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")


def bind(text: str) -> str | bytes:
    """A parameter for `CAST(? AS TEXT)`: bytes where `tolerate` made surrogates of them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")
    return text
