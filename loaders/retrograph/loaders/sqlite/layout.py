"""Which tables hold checkpoints and writes, recognised by their columns.

    S0a  checkpoints(thread_id, thread_ts, parent_ts, checkpoint[, metadata])    langgraph 0.0, 0.1
    S0b  … and writes(thread_id, thread_ts, task_id, idx, channel, value)        langgraph 0.1
    S1   checkpoints(thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type,
         checkpoint, metadata), writes(…, task_id[, task_path], idx, channel, type, value)
                                                                     langgraph since 0.2, and JS

The official saver creates its tables in databases of other programs, and other programs have
tables named `checkpoints`, so the name proves nothing (langgraph-checkpoint-sqlite, `setup`).
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from retrograph.engine.errors import SourceError
from retrograph.loaders.sqlite.faults import ERRORS

_ROWIDS = ("rowid", "_rowid_", "oid")
_CHECKPOINTS = {
    "thread": (("thread_id",), None),
    "ns": (("checkpoint_ns",), "''"),
    "id": (("checkpoint_id", "thread_ts"), None),
    "parent": (("parent_checkpoint_id", "parent_ts"), "NULL"),
    "type": (("type",), "NULL"),
    "checkpoint": (("checkpoint",), None),
    "metadata": (("metadata",), "NULL"),
}
_WRITES = {
    "thread": (("thread_id",), None),
    "ns": (("checkpoint_ns",), "''"),
    "id": (("checkpoint_id", "thread_ts"), None),
    "task": (("task_id",), None),
    "path": (("task_path",), "''"),
    "idx": (("idx",), "0"),
    "channel": (("channel",), None),
    "type": (("type",), "NULL"),
    "value": (("value", "blob"), None),
}
_IDS = ("thread", "ns", "id", "task")


@dataclass(frozen=True, slots=True)
class Table:
    """A table and, by our name for it, the SQL expression of each column."""

    name: str
    """As in the schema, not quoted."""
    columns: Mapping[str, str]
    rowid: str | None
    """A name of the row id; `None` in a table WITHOUT ROWID."""
    stored: frozenset[str]
    """Which of our names are columns, and not constants in their place."""
    names: Mapping[str, str]
    """Those columns as the schema names them."""

    def __getitem__(self, name: str) -> str:
        return self.columns[name]

    @property
    def sql(self) -> str:
        return quoted(self.name)

    def column(self, name: str) -> str:
        """The stored column's own name. Raises `KeyError` where it is none."""
        return self.names[name]


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of one store."""

    checkpoints: Table
    writes: Table | None
    early: bool
    """S0, keyed by `thread_ts`."""
    blobs: bool
    """Whether checkpoints are stored as BLOBs, going by the first: their length is then known
    without reading them."""
    remarks: Sequence[str] = ()
    """What else the database holds that is not shown, a sentence each."""


def quoted(name: str) -> str:
    """An SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def is_utf8(name: str) -> bool:
    """Whether a name out of a damaged schema can be put into a statement."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def find_layout(connection: sqlite3.Connection, path: str) -> Layout:
    """The checkpoint tables of a database; `path` is for the sentence.

    Raises `SourceError` where it has none, naming what it has.
    """
    found = connection.execute(
        "SELECT name, sql FROM main.sqlite_master WHERE type = 'table' ORDER BY rowid"
    ).fetchall()
    schema = {
        name: sql
        for name, sql in found
        if isinstance(name, str) and isinstance(sql, str) and not name.startswith("sqlite_")
        if is_utf8(name)
    }
    tables = {name: _columns(connection, name) for name in schema if not _virtual(schema[name])}
    stores = [n for n in tables if _table(n, tables[n], schema[n], _CHECKPOINTS) is not None]
    if not stores:
        raise SourceError(_refusal(path, tables))
    stores.sort(key=lambda name: (name != "checkpoints", name))
    name = stores[0]
    checkpoints = _table(name, tables[name], schema[name], _CHECKPOINTS)
    assert checkpoints is not None
    remarks = []
    if len(stores) > 1:
        rest = ", ".join(stores[1:])
        remarks.append(f"other tables with checkpoints are not shown: {rest}.")
    return Layout(
        checkpoints,
        _writes_of(checkpoints, tables, schema),
        early="thread_ts" in checkpoints["id"],
        blobs=_holds_blobs(connection, checkpoints),
        remarks=remarks,
    )


def _holds_blobs(connection: sqlite3.Connection, table: Table) -> bool:
    try:
        first = connection.execute(
            f"SELECT typeof({table['checkpoint']}) FROM main.{table.sql} LIMIT 1"
        ).fetchone()
    except ERRORS:
        return False
    return bool(first == ("blob",))


def _writes_of(
    checkpoints: Table, tables: Mapping[str, Mapping[str, str]], schema: Mapping[str, str]
) -> Table | None:
    """The writes that belong to a checkpoint table: same key, and the name nearest to its own."""
    found = [
        table
        for name in tables
        if (table := _table(name, tables[name], schema[name], _WRITES)) is not None
        and table["id"] == checkpoints["id"]
    ]
    derived = [checkpoints.name.replace("checkpoints", w) for w in ("writes", "checkpoint_writes")]
    for table in found:
        if table.name in derived:
            return table
    return max(found, key=lambda table: _alike(table.name, checkpoints.name), default=None)


def _alike(one: str, other: str) -> int:
    """How many characters two names have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _columns(connection: sqlite3.Connection, name: str) -> dict[str, str]:
    """Declared types by column."""
    rows = connection.execute(f"PRAGMA main.table_info({quoted(name)})").fetchall()
    return {str(row[1]): str(row[2]) for row in rows}


def _table(
    name: str,
    columns: Mapping[str, str],
    sql: str,
    wanted: Mapping[str, tuple[Sequence[str], str | None]],
) -> Table | None:
    expressions: dict[str, str] = {}
    stored: dict[str, str] = {}
    for ours, (names, default) in wanted.items():
        there = next((n for n in names if n in columns), None)
        if there is not None:
            expressions[ours] = quoted(there)
            stored[ours] = there
            if ours in _IDS and not _is_text(columns[there]):
                expressions[ours] = f"CAST({quoted(there)} AS TEXT)"
        elif default is not None:
            expressions[ours] = default
        else:
            return None
    without = re.search(r"\bWITHOUT\s+ROWID\b[^)]*$", sql, re.IGNORECASE) is not None
    rowid = None if without else next((r for r in _ROWIDS if r not in columns), None)
    return Table(name, expressions, rowid, frozenset(stored), stored)


def _is_text(declared: str) -> bool:
    """Whether a column has TEXT affinity (https://www.sqlite.org/datatype3.html §3.1)."""
    declared = declared.upper()
    return "INT" not in declared and any(word in declared for word in ("CHAR", "CLOB", "TEXT"))


def _virtual(sql: str) -> bool:
    return re.match(r"\s*CREATE\s+VIRTUAL\b", sql, re.IGNORECASE) is not None


def _refusal(path: str, tables: Mapping[str, Mapping[str, str]]) -> str:
    if not tables:
        return f"{path} is a SQLite database without any table, so it holds no checkpoints."
    if "checkpoints" in tables:
        has = tables["checkpoints"]
        lacks = [c for c in ("thread_id", "checkpoint_id", "checkpoint") if c not in has]
        return (
            f"{path} is not a LangGraph store: its table `checkpoints` is another program's "
            f"(it has no column {' and no '.join(lacks)})."
        )
    names = sorted(tables)
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return f"{path} holds no LangGraph checkpoints, only the tables {', '.join(names[:6])}{more}."
