"""Reading around damaged pages.

The rows that can still be reached are found by row id, stepping over what cannot be read, and
their keys go into temporary tables in memory. A temporary view under the real table's name joins
the rest of each row to its key. SQLite looks names up among temporary objects first, so every
query goes on unchanged, and neither the damaged index nor the pages of lost rows are touched.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence

from retrograph.loaders.sqlite.connect import bind, tolerate
from retrograph.loaders.sqlite.faults import ERRORS
from retrograph.loaders.sqlite.layout import Layout, Table, find_layout, is_utf8, quoted

_FIRST, _LAST = -(1 << 63), (1 << 63) - 1
_PROBES = 5000
_BATCH = 500

_KEYS = ("thread", "ns", "id", "task", "idx")


def salvage(connection: sqlite3.Connection, path: str, check: Callable[[], None]) -> Iterator[str]:
    """Shadow the store's tables by what can be read of them. Yields a sentence a table.

    `check` is called now and then; what it raises ends the work. Raises `SourceError` and
    `sqlite3.Error` where not even the list of tables can be read.
    """
    tolerate(connection)
    connection.execute("PRAGMA query_only=OFF")
    # A file shorter than its header says is refused as a whole, unless this is on.
    connection.execute("PRAGMA writable_schema=ON")
    layout = find_layout(connection, path)
    for table in (layout.checkpoints, layout.writes):
        if table is not None and table.rowid is not None:
            read, lost = _shadow(connection, table, check)
            yield f"{read} rows of {table.name} can be read{_lost(lost)}."
    connection.execute("PRAGMA query_only=ON")


def verify(connection: sqlite3.Connection, layout: Layout) -> None:
    """Count each index against its table, which is all that tells an index with gaps.

    Raises `sqlite3.DatabaseError` with SQLITE_CORRUPT, as SQLite does where it notices.
    """
    shadowed = connection.execute("SELECT 1 FROM temp.sqlite_master").fetchone()
    for table in (layout.checkpoints, layout.writes):
        if shadowed or table is None or table.rowid is None:
            continue
        indexes = [
            str(row[1])
            for row in connection.execute(f"PRAGMA main.index_list({table.sql})").fetchall()
            if not row[4]  # A partial index need not hold every row.
        ]
        counts = [f"(SELECT count(*) FROM {table.sql} NOT INDEXED)"]
        counts += [f"(SELECT count(*) FROM {table.sql} INDEXED BY {quoted(i)})" for i in indexes]
        if len(set(connection.execute(f"SELECT {', '.join(counts)}").fetchone())) > 1:
            error = sqlite3.DatabaseError(f"an index of {table.name} has gaps")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error


def _shadow(
    connection: sqlite3.Connection, table: Table, check: Callable[[], None]
) -> tuple[int, int | None]:
    keys = {key: table[key] for key in _KEYS if key in table.stored}
    name = quoted(f"retrograph {table.name}")
    connection.execute(f"DROP VIEW IF EXISTS temp.{table.sql}")
    connection.execute(f"DROP TABLE IF EXISTS temp.{name}")
    connection.execute(
        f"CREATE TEMP TABLE {name} (row INTEGER PRIMARY KEY, {', '.join(keys)}, "
        f"UNIQUE ({', '.join(keys)}))"
    )
    marks = ", ".join("?" * (len(keys) + 1))
    insert = f"INSERT OR IGNORE INTO temp.{name} VALUES ({marks})"
    select = f"SELECT {table.rowid}, {', '.join(keys.values())} FROM main.{table.sql} NOT INDEXED"
    scan = _Scan(connection, f"{select} WHERE {table.rowid} >= ? ORDER BY {table.rowid}", check)
    for batch in scan.batches():
        try:
            connection.executemany(insert, batch)
        except UnicodeEncodeError:
            _insert_tolerantly(connection, f"temp.{name}", batch)
    columns = connection.execute(f"PRAGMA main.table_info({table.sql})").fetchall()
    by_column = {sql: key for key, sql in keys.items()}
    shown = [f"k.row AS {table.rowid}"]
    for column in columns:
        if not is_utf8(column[1]):
            continue
        sql = quoted(column[1])
        shown.append(f"k.{by_column[sql]} AS {sql}" if sql in by_column else f"s.{sql}")
    connection.execute(
        f"CREATE TEMP VIEW {table.sql} AS SELECT {', '.join(shown)} FROM temp.{name} k "
        f"LEFT JOIN main.{table.sql} s ON s.{table.rowid} = k.row"
    )
    read = int(connection.execute(f"SELECT count(*) FROM temp.{name}").fetchone()[0])
    return read, scan.lost


def _insert_tolerantly(
    connection: sqlite3.Connection, table: str, batch: Sequence[tuple[object, ...]]
) -> None:
    """Keys that are not UTF-8 go back as the very bytes that they are."""
    for row in batch:
        values = [bind(value) if isinstance(value, str) else value for value in row]
        marks = ["CAST(? AS TEXT)" if isinstance(value, str) else "?" for value in row]
        connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join(marks)})", values)


def _lost(rows: int | None) -> str:
    if rows is None:
        return ", the rows after them cannot"
    return f", up to {rows} between them cannot" if rows else ", all that there are"


class _Scan:
    """A table in order of row ids, over the gaps that cannot be read."""

    def __init__(self, connection: sqlite3.Connection, sql: str, check: Callable[[], None]) -> None:
        self._connection = connection
        self._sql = sql
        self._check = check
        self._probes = 0
        self.lost: int | None = 0
        """How many row ids lie in the gaps; `None` where the end could not be found."""

    def batches(self) -> Iterator[list[tuple[object, ...]]]:
        start: int | None = _FIRST
        while start is not None:
            batch, intact = self._ascend(start)
            if batch:
                yield batch
                start = int(str(batch[-1][0])) + 1
            if intact and len(batch) < _BATCH:
                return
            if not intact:
                start = self._skip(max(start, 0))

    def _ascend(self, start: int) -> tuple[list[tuple[object, ...]], bool]:
        """Rows from `start` on, at most a batch, and whether no error ended them: a row id that
        is no greater than the one before is one, of pages that lead back to others."""
        self._check()
        batch: list[tuple[object, ...]] = []
        last = start - 1
        try:
            # Row by row: what came before an error counts.
            for row in self._connection.execute(f"{self._sql} LIMIT {_BATCH}", (start,)):
                number = int(row[0])
                if number <= last:
                    return batch, False
                batch.append(row)
                last = number
        except ERRORS as error:
            _raise_interrupt(error)
            return batch, False
        return batch, True

    def _skip(self, bad: int) -> int | None:
        """The first row id after `bad` from which reading works again, `None` where there is none.

        Steps double until one works; then the border is halved in. Good rows between two gaps
        may fall into one of them when the gaps are near each other.
        """
        step = 1
        while not self._works(bad + step):
            step *= 2
            if bad + step > _LAST or self._probes > _PROBES:
                self.lost = None
                return None
        low, high = bad + step // 2, bad + step
        while high - low > 1:
            middle = (low + high) // 2
            if self._works(middle):
                high = middle
            else:
                low = middle
        if self._empty(high):
            self.lost = None
            return None
        if self.lost is not None:
            self.lost += high - bad
        return high

    def _works(self, start: int) -> bool:
        self._probes += 1
        self._check()
        try:
            found = self._connection.execute(f"{self._sql} LIMIT 1", (start,)).fetchone()
        except ERRORS as error:
            _raise_interrupt(error)
            return False
        return found is None or int(found[0]) >= start

    def _empty(self, start: int) -> bool:
        return not self._connection.execute(f"{self._sql} LIMIT 1", (start,)).fetchall()


def _raise_interrupt(error: Exception) -> None:
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
        raise error
