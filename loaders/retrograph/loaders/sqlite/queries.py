"""The SELECTs, written from a layout. Each answers one page and is over in milliseconds.

Pages go by key, not by offset, so that a writer between two of them does no harm. `x''` is the
smallest BLOB: SQLite orders NULL, numbers, text and blobs in this order, so `>= '' AND < x''` is
"any text", which the index answers. Ids that are not text (they occur in damaged files only)
would stop a walk by key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from retrograph.engine.model import CheckpointKey, ThreadQuery
from retrograph.loaders.sqlite.connect import bind
from retrograph.loaders.sqlite.layout import Table

SEND_HEAD = 256
"""Bytes of a `__pregel_tasks` write that are read: the Send's node stands there."""
HEAD_LIMIT = 1 << 20
"""Bytes of a control write that are read at most."""
_WHOLE_SEND = 8192
"""SQLite's substr() reads a value to its end first: larger ones are read as a stream."""
CONTROL = ("__interrupt__", "__error__", "__resume__", "__error_source_node__")
SENDS = "__pregel_tasks"

_TEXT = "CAST(? AS TEXT)"
_LAST_CHARACTER = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


@dataclass(frozen=True, slots=True)
class Select:
    """A statement and its parameters."""

    sql: str
    parameters: tuple[object, ...] = ()


class After(NamedTuple):
    """Where a walk goes on: behind a row of a namespace, or behind all of it (no `id`)."""

    ns: str
    id: str | None
    task: str | None = None
    """With `idx`, where rows are writes."""
    idx: int = 0


def threads(table: Table, query: ThreadQuery) -> Select:
    """(thread id, checkpoints, newest id), newest first; the index alone answers it."""
    thread, newest = table["thread"], f"max({table['id']})"
    where, parameters = [f"{thread} >= '' AND {thread} < x''"], []
    if query.prefix:
        condition, bounds = _begins(thread, query.prefix)
        where.append(condition)
        parameters += bounds
    if query.search:
        where.append(f"{thread} LIKE {_TEXT} ESCAPE '\\'")
        escaped = query.search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        parameters.append(bind(f"%{escaped}%"))
    having = ""
    if query.since_id is not None:
        having = f" HAVING {newest} >= {_TEXT}"
        parameters.append(bind(query.since_id))
    return Select(
        f"SELECT {thread}, count(*), {newest} FROM {table.sql} WHERE {' AND '.join(where)} "
        f"GROUP BY {thread}{having} ORDER BY {newest} DESC, {thread} LIMIT ? OFFSET ?",
        (*parameters, -1 if query.limit is None else query.limit, query.offset),
    )


def namespaces(table: Table, thread_ids: Sequence[str]) -> Select:
    """(thread id, namespace, checkpoints, first id, last id) of some threads."""
    thread, ns, id = table["thread"], table["ns"], table["id"]
    text = " AND ".join(_is_text(table[c]) for c in ("ns", "id") if c in table.stored)
    return Select(
        f"SELECT {thread}, {ns}, count(*), min({id}), max({id}) FROM {table.sql} "
        f"WHERE {thread} {_among(thread_ids)} AND {text} GROUP BY {thread}, {ns}",
        tuple(map(bind, thread_ids)),
    )


def sizes(table: Table, thread_ids: Sequence[str], columns: Sequence[str]) -> Select:
    """(thread id, bytes in these columns); only the heads of the rows are read."""
    lengths = " + ".join(f"ifnull({_length(table[c])}, 0)" for c in columns)
    return Select(
        f"SELECT {table['thread']}, sum({lengths}) FROM {table.sql} "
        f"WHERE {table['thread']} {_among(thread_ids)} GROUP BY {table['thread']}",
        tuple(map(bind, thread_ids)),
    )


def rows(
    table: Table,
    thread_id: str,
    ns: str | None,
    ids: Sequence[str] | None,
    after: After | None,
    limit: int,
    *,
    blobs: bool,
) -> Select:
    """(ns, id, parent, bytes) of a thread in order, beginning after a key. `blobs`: all of them
    are, so that no row need be asked."""
    where, parameters = _range(table, thread_id, ns, ids, after)
    return Select(f"{_index(table, blobs)} WHERE {where} {_limited(table)}", (*parameters, limit))


def newer(table: Table, thread_id: str, than: str, limit: int, *, blobs: bool) -> Select:
    """The same of all checkpoints of a thread with a greater id; the index alone finds them."""
    where = [f"{table['thread']} = {_TEXT}", f"{table['id']} > {_TEXT} AND {table['id']} < x''"]
    if "ns" in table.stored:
        where.append(_is_text(table["ns"]))
    return Select(
        f"{_index(table, blobs)} WHERE {' AND '.join(where)} {_limited(table)}",
        (bind(thread_id), bind(than), limit),
    )


def _index(table: Table, blobs: bool) -> str:
    checkpoint = table["checkpoint"]
    size = f"length({checkpoint})" if blobs else _length(checkpoint)
    parent = f"CAST({table['parent']} AS TEXT)"
    return f"SELECT {table['ns']}, {table['id']}, {parent}, {size} FROM {table.sql}"


def _limited(table: Table) -> str:
    return f"ORDER BY {_order(table)} LIMIT ?"


def bodies(
    table: Table,
    thread_id: str,
    ns: str,
    ids: Sequence[str],
    columns: Sequence[str],
    *,
    rowid: bool = False,
    longest: int | None = None,
) -> Select:
    """(ns, id, parent, *columns[, row id]) of some checkpoints of one namespace, in order. With
    `longest`, a checkpoint of more bytes is NULL, and a column behind the row id says so."""
    where, parameters = _range(table, thread_id, ns, ids, None)
    chosen = ", ".join(table[column] for column in columns)
    if longest is not None:
        checkpoint = table["checkpoint"]
        long = f"{_length(checkpoint)} > {longest}"
        chosen = chosen.replace(checkpoint, f"CASE WHEN {long} THEN NULL ELSE {checkpoint} END")
        chosen += f", {table.rowid}, {long}"
    elif rowid:
        chosen += f", {table.rowid}"
    return Select(
        f"SELECT {table['ns']}, {table['id']}, CAST({table['parent']} AS TEXT), "
        f"{chosen} FROM {table.sql} WHERE {where} ORDER BY {_order(table)}",
        tuple(parameters),
    )


def head_bodies(table: Table, keys: Sequence[CheckpointKey], longest: int) -> Select:
    """(thread id, ns, id, parent, type, checkpoint, metadata) of checkpoints of many threads, in
    no order; without those whose checkpoint has more than `longest` bytes."""
    among, parameters = _of_keys(table, keys)
    return Select(
        f"SELECT {table['thread']}, {table['ns']}, {table['id']}, "
        f"CAST({table['parent']} AS TEXT), {table['type']}, {table['checkpoint']}, "
        f"{table['metadata']} FROM {among} AND {_length(table['checkpoint'])} <= ?",
        (*parameters, longest),
    )


def huge_heads(table: Table, keys: Sequence[CheckpointKey], size: int) -> Select:
    """(thread id, row id, bytes, ns, id, parent, type, metadata) of checkpoints of many threads, in
    no order; only those whose checkpoint has more than `size` bytes."""
    among, parameters = _of_keys(table, keys)
    length = _length(table["checkpoint"])
    return Select(
        f"SELECT {table['thread']}, {table.sql}.{table.rowid}, {length}, {table['ns']}, "
        f"{table['id']}, CAST({table['parent']} AS TEXT), {table['type']}, {table['metadata']} "
        f"FROM {among} AND {length} > ?",
        (*parameters, size),
    )


def head_writes(table: Table, keys: Sequence[CheckpointKey]) -> Select:
    """(thread id, then as `write_heads`) of checkpoints of many threads, in no order."""
    among, parameters = _of_keys(table, keys)
    return Select(
        f"SELECT {table['thread']}, {_write_columns(table, heads=True)} FROM {among} "
        f"AND {_is_text(table['task'])}",
        parameters,
    )


def write_heads(
    table: Table,
    thread_id: str,
    ns: str | None,
    ids: Sequence[str] | None,
    after: After | None,
    limit: int,
    *,
    heads: bool = True,
) -> Select:
    """(ns, id, task, path, idx, channel, type, head, bytes, row id) in order of the primary key,
    beginning after one. Without `heads` no value is touched."""
    where, parameters = _range(table, thread_id, ns, ids, after)
    key = [table[c] for c in ("ns", "id", "task", "idx") if c in table.stored]
    return Select(
        f"SELECT {_write_columns(table, heads)} FROM {table.sql} WHERE {where} "
        f"AND {_is_text(table['task'])} ORDER BY {', '.join(key)} LIMIT ?",
        (*parameters, limit),
    )


def _write_columns(table: Table, heads: bool) -> str:
    value, channel = table["value"], table["channel"]
    head = "NULL"
    if heads:
        control = ", ".join(f"'{name}'" for name in CONTROL)
        head = (
            f"CASE WHEN {channel} = '{SENDS}' THEN CASE WHEN length({value}) <= {_WHOLE_SEND} "
            f"THEN substr({value}, 1, {SEND_HEAD}) END WHEN {channel} IN ({control}) "
            f"THEN CASE WHEN length({value}) <= {HEAD_LIMIT} THEN {value} END END"
        )
    rowid = f"{table.sql}.{table.rowid}" if table.rowid else "NULL"
    return (
        f"{table['ns']}, {table['id']}, {table['task']}, {table['path']}, {table['idx']}, "
        f"{channel}, {table['type']}, {head}, {_length(value)}, {rowid}"
    )


def whole_writes(
    table: Table,
    thread_id: str,
    ns: str,
    ids: Sequence[str],
    channels: Sequence[str] | None,
    *,
    values: bool = True,
) -> Select:
    """(id, task, path, idx, channel, type, value, row id), in no order; without `values` NULL."""
    where, parameters = _range(table, thread_id, ns, ids, None)
    if channels is not None:
        where += f" AND {table['channel']} {_among(channels)}"
        parameters += map(bind, channels)
    value = table["value"] if values else "NULL"
    return Select(
        f"SELECT {table['id']}, {table['task']}, {table['path']}, {table['idx']}, "
        f"{table['channel']}, {table['type']}, {value}, {table.rowid or 'NULL'} "
        f"FROM {table.sql} WHERE {where}",
        tuple(parameters),
    )


def _range(
    table: Table,
    thread_id: str,
    ns: str | None,
    ids: Sequence[str] | None,
    after: After | None,
) -> tuple[str, list[object]]:
    """Equalities for the first columns of the primary key, then one range. SQLite takes the first
    bound of a column that it meets, and no row value: else it would walk the whole thread."""
    where = [f"{table['thread']} = {_TEXT}"]
    parameters: list[object] = [bind(thread_id)]
    if after is not None and after.id is not None:
        ns = after.ns
    if ns is not None:
        where.append(f"{table['ns']} = {_TEXT}")
        parameters.append(bind(ns))
    elif after is not None:
        where.append(f"{table['ns']} > {_TEXT} AND {table['ns']} < x''")
        parameters.append(bind(after.ns))
    elif "ns" in table.stored:
        where.append(_is_text(table["ns"]))
    if ids is not None:
        where.append(f"{table['id']} {_among(ids)}")
        parameters += map(bind, ids)
    if after is None or after.id is None:
        if ids is None:
            where.append(_is_text(table["id"]))
    elif after.task is None:
        where.append(f"{table['id']} > {_TEXT} AND {table['id']} < x''")
        parameters.append(bind(after.id))
    else:
        rest = f"({table['task']}, {table['idx']}) > ({_TEXT}, ?)"
        id = table["id"]
        where.append(f"{id} >= {_TEXT} AND {id} < x'' AND ({id} > {_TEXT} OR {rest})")
        parameters += [bind(after.id), bind(after.id), bind(after.task), after.idx]
    return " AND ".join(where), parameters


def _of_keys(table: Table, keys: Sequence[CheckpointKey]) -> tuple[str, tuple[object, ...]]:
    """`FROM` this: the rows of some checkpoints, each found by the primary key. A row value `IN`
    a list would read the whole table."""
    values = ", ".join([f"({_TEXT}, {_TEXT}, {_TEXT})"] * len(keys))
    wanted = f"(SELECT column1 AS key_1, column2 AS key_2, column3 AS key_3 FROM (VALUES {values}))"
    return (
        f"{wanted} CROSS JOIN {table.sql} WHERE {table['thread']} = key_1 "
        f"AND {table['ns']} = key_2 AND {table['id']} = key_3",
        tuple(bind(part) for key in keys for part in key),
    )


def _is_text(column: str) -> str:
    return f"{column} >= '' AND {column} < x''"


def _length(column: str) -> str:
    """Bytes, known from the head of the row; of a text (a few JSON stores) SQLite would have to
    read all to count it, so that is NULL."""
    return f"CASE WHEN typeof({column}) = 'blob' THEN length({column}) END"


def _order(table: Table) -> str:
    return ", ".join(table[c] for c in ("ns", "id") if c in table.stored)


def _among(values: Sequence[str]) -> str:
    return f"IN ({', '.join([_TEXT] * len(values))})"


def _begins(column: str, prefix: str) -> tuple[str, list[str | bytes]]:
    """A range of the index: from the prefix to the first text that does not begin with it."""
    last = ord(prefix[-1])
    if last == _LAST_CHARACTER or last + 1 in _SURROGATES or last in _SURROGATES:
        return f"{column} >= {_TEXT} AND instr({column}, {_TEXT}) = 1", [bind(prefix)] * 2
    return f"{column} >= {_TEXT} AND {column} < {_TEXT}", [
        bind(prefix),
        bind(prefix[:-1] + chr(last + 1)),
    ]
