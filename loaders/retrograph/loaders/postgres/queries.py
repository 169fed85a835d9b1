"""The SELECTs, written from a layout. Each answers one page.

Order is always that of the bytes (`COLLATE "C"`), whatever the database's own; values are not
touched but where a column says so. `%` is doubled, as psycopg wants it beside parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from retrograph.loaders.postgres.layout import Layout
from retrograph.loaders.postgres.session import Statement

Key = tuple[str, str, str]
"""Thread, namespace and checkpoint id."""
Place = tuple[str, str, str, str]
"""Where a value lies that is stored outside its checkpoint: thread, namespace, channel, version."""

SEND_HEAD: Final = 256
"""Bytes of a `__pregel_tasks` write that are read: the Send's node stands there."""
SENDS: Final = "__pregel_tasks"
CONTROL_WRITES: Final = ("__interrupt__", "__error__", "__resume__", "__error_source_node__")

_SMALL: Final = 2048
"""Stored bytes up to which a checkpoint's body is sent whole: taking it apart costs more."""

_C: Final = 'COLLATE "C"'
_IN_ORDER: Final = f"ORDER BY checkpoint_ns {_C}, checkpoint_id {_C}"
_WHOLE_WRITE: Final = f"channel IN ({', '.join(repr(name) for name in CONTROL_WRITES)})"


def _steers(name: str) -> str:
    """Whether a channel is one that only LangGraph reads, by its name."""
    return (
        f"(split_part({name}, ':', 1) IN ('branch', 'join', 'start') AND strpos({name}, ':') > 0)"
    )


_BODY: Final = f"""CASE
  WHEN pg_column_size(checkpoint) <= {_SMALL} OR jsonb_typeof(checkpoint) <> 'object'
    THEN checkpoint
  ELSE checkpoint || jsonb_build_object('channel_values', (
    SELECT coalesce(jsonb_object_agg(key, CASE WHEN {_steers("key")} THEN value END), '{{}}'::jsonb)
    FROM jsonb_each(CASE jsonb_typeof(checkpoint->'channel_values')
                    WHEN 'object' THEN checkpoint->'channel_values' ELSE '{{}}'::jsonb END)))
END::text"""


_KEYS: Final = "unnest(%s::text[], %s::text[], %s::text[]) AS k(thread_id, ns, id)"
_WRITE_ROW: Final = (
    "checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, "
    f"CASE WHEN channel = '{SENDS}' THEN substring(blob FROM 1 FOR {SEND_HEAD}) "
    f"WHEN {_WHOLE_WRITE} THEN blob END, octet_length(blob)"
)


def index(layout: Layout, thread_id: str, ns: str | None) -> Statement:
    """(ns, id, parent) of a thread, in order."""
    where, parameters = _of(thread_id, ns)
    return f"{_index(layout)} WHERE {where} {_IN_ORDER}", parameters


def newer(layout: Layout, thread_id: str, than: str, limit: int) -> Statement:
    """The same of all checkpoints of a thread with a greater id, at most so many."""
    where, parameters = _of(thread_id, None)
    return (
        f"{_index(layout)} WHERE {where} AND checkpoint_id {_C} > %s {_IN_ORDER} LIMIT %s",
        (*parameters, than, limit),
    )


def _index(layout: Layout) -> str:
    return (
        "SELECT checkpoint_ns, checkpoint_id, nullif(parent_checkpoint_id, ''), NULL::int "
        f"FROM {layout.checkpoints} AS c"
    )


def bodies_index(
    layout: Layout, thread_id: str, ns: str | None, ids: Sequence[str] | None
) -> Statement:
    """(ns, id, stored bytes without blobs), in order."""
    where, parameters = _of(thread_id, ns, ids)
    return (
        "SELECT checkpoint_ns, checkpoint_id, pg_column_size(checkpoint) + "
        f"coalesce(pg_column_size(metadata), 0) FROM {layout.checkpoints} AS c "
        f"WHERE {where} {_IN_ORDER}",
        parameters,
    )


def bodies(layout: Layout, thread_id: str, ns: str, ids: Sequence[str]) -> Statement:
    """(id, parent, body without its values, metadata), in no order."""
    where, parameters = _of(thread_id, ns, ids)
    return (
        f"SELECT checkpoint_id, nullif(parent_checkpoint_id, ''), {_BODY}, metadata::text "
        f"FROM {layout.checkpoints} AS c WHERE {where}",
        parameters,
    )


def details(layout: Layout, keys: Sequence[Key]) -> Statement:
    """(thread, ns, id, metadata) of keys, in no order."""
    (thread_id, ns, _), *_ = keys
    if all(key[0] == thread_id and key[1] == ns for key in keys):
        where, parameters = _of(thread_id, ns, [key[2] for key in keys])
        return (
            "SELECT thread_id, checkpoint_ns, checkpoint_id, metadata::text "
            f"FROM {layout.checkpoints} AS c WHERE {where}",
            parameters,
        )
    return _checkpoints(layout, keys, "c.metadata::text")


def bodies_of(layout: Layout, keys: Sequence[Key]) -> Statement:
    """(thread, ns, id, parent, body without its values, metadata) of keys, in no order."""
    return _checkpoints(layout, keys, f"nullif(parent, ''), {_BODY}, metadata::text")


def _checkpoints(layout: Layout, keys: Sequence[Key], columns: str) -> Statement:
    return (
        f"SELECT k.*, {columns} FROM {_KEYS} CROSS JOIN LATERAL (SELECT checkpoint, metadata, "
        f"parent_checkpoint_id AS parent FROM {layout.checkpoints} AS c "
        "WHERE thread_id = k.thread_id AND checkpoint_ns = k.ns AND checkpoint_id = k.id LIMIT 1) "
        "AS c",
        _columns(keys, 3),
    )


def blob_channels(layout: Layout, thread_id: str, ns: str) -> Statement:
    """The channels that have blobs, each found by one step down the index."""
    of = "thread_id = %s AND checkpoint_ns = %s"
    table = f"{layout.blobs} AS b"
    return (
        "SELECT channel FROM (WITH RECURSIVE names AS ("
        f"(SELECT channel FROM {table} WHERE {of} ORDER BY channel LIMIT 1) UNION ALL "
        f"SELECT (SELECT channel FROM {table} WHERE {of} AND channel > names.channel "
        "ORDER BY channel LIMIT 1) FROM names WHERE names.channel IS NOT NULL) "
        "SELECT channel FROM names) AS found WHERE channel IS NOT NULL",
        (thread_id, ns, thread_id, ns),
    )


def blob_heads(layout: Layout, places: Sequence[Place], head: int) -> Statement:
    """(thread, ns, channel, version, type, value, bytes) of stored values: the whole value of
    channels that steer, the first `head` bytes of Sends, NULL of others."""
    value = (
        f"CASE WHEN b.channel = '{SENDS}' THEN substring(b.blob FROM 1 FOR {head}) "
        f"WHEN {_steers('b.channel')} THEN b.blob END"
    )
    return _blobs(layout, places, f"b.type, {value}, octet_length(b.blob)")


def blobs(layout: Layout, places: Sequence[Place]) -> Statement:
    """(thread, ns, channel, version, type, value) of stored values."""
    return _blobs(layout, places, "b.type, b.blob")


def blob_part(layout: Layout, place: Place, start: int, length: int) -> Statement:
    """(…, piece) of one stored value; `start` counts from 0."""
    return _blobs(layout, [place], f"substring(b.blob FROM {start + 1} FOR {length})")


def _blobs(layout: Layout, places: Sequence[Place], columns: str) -> Statement:
    return (
        f"SELECT k.*, {columns} FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[]) "
        "AS k(thread_id, ns, channel, version) CROSS JOIN LATERAL "
        f"(SELECT channel, type, blob FROM {layout.blobs} AS b WHERE thread_id = k.thread_id "
        f"AND checkpoint_ns = k.ns AND channel = k.channel{_version(layout, 'k.version')} LIMIT 1) "
        "AS b",
        _columns(places, 4),
    )


def pending_sends(layout: Layout, keys: Sequence[Key]) -> Statement:
    """(thread, ns, checkpoint id, type, head) of the Sends written at some checkpoints, as they
    apply."""
    return (
        f"SELECT k.*, w.type, substring(w.blob FROM 1 FOR {SEND_HEAD}) FROM {_KEYS} JOIN "
        f"{layout.writes} AS w ON w.thread_id = k.thread_id AND w.checkpoint_ns = k.ns "
        f"AND w.checkpoint_id = k.id WHERE w.channel = '{SENDS}' "
        f"ORDER BY w.checkpoint_id {_C}, w.task_path {_C}, w.task_id {_C}, w.idx",
        _columns(keys, 3),
    )


def writes_index(
    layout: Layout, thread_id: str, ns: str | None, ids: Sequence[str] | None
) -> Statement:
    """(ns, checkpoint id, rows, bytes that their heads have together), in order."""
    where, parameters = _of(thread_id, ns, ids)
    return (
        "SELECT checkpoint_ns, checkpoint_id, count(*), "
        f"coalesce(sum(octet_length(blob)) FILTER (WHERE {_WHOLE_WRITE}), 0)::bigint "
        f"FROM {layout.writes} AS w WHERE {where} "
        f"GROUP BY checkpoint_ns, checkpoint_id {_IN_ORDER}",
        parameters,
    )


def write_rows(layout: Layout, thread_id: str, ns: str, ids: Sequence[str]) -> Statement:
    """`WriteRow`s of some checkpoints, in no order."""
    where, parameters = _of(thread_id, ns, ids)
    return f"SELECT {_WRITE_ROW} FROM {layout.writes} AS w WHERE {where}", parameters


def write_rows_of(layout: Layout, keys: Sequence[Key]) -> Statement:
    """(thread, `WriteRow`…) of checkpoints of many threads, in no order."""
    return (
        f"SELECT k.thread_id, {_WRITE_ROW} FROM {_KEYS} CROSS JOIN LATERAL "
        f"(SELECT * FROM {layout.writes} AS w WHERE thread_id = k.thread_id "
        "AND checkpoint_ns = k.ns AND checkpoint_id = k.id OFFSET 0) AS w",
        _columns(keys, 3),
    )


def whole_writes(
    layout: Layout,
    thread_id: str,
    ns: str,
    ids: Sequence[str],
    channels: Sequence[str] | None = None,
) -> Statement:
    """(checkpoint id, task, path, idx, channel, type, value), in no order."""
    where, parameters = _of(thread_id, ns, ids)
    if channels is not None:
        where += " AND channel = ANY(%s::text[])"
        parameters += (list(channels),)
    return (
        "SELECT checkpoint_id, task_id, task_path, idx, channel, type, blob "
        f"FROM {layout.writes} AS w WHERE {where}",
        parameters,
    )


def whole_checkpoint(layout: Layout, thread_id: str, ns: str, id: str) -> Statement:
    """(parent, body, metadata)."""
    where, parameters = _of(thread_id, ns, [id])
    return (
        "SELECT nullif(parent_checkpoint_id, ''), checkpoint::text, metadata::text "
        f"FROM {layout.checkpoints} AS c WHERE {where}",
        parameters,
    )


def whole_blobs(layout: Layout, thread_id: str, ns: str, id: str) -> Statement:
    """(channel, type, value) of everything stored outside the body of one checkpoint."""
    where, parameters = _of(thread_id, ns, [id])
    return (
        f"SELECT v.key, b.type, b.blob FROM {layout.checkpoints} AS c CROSS JOIN LATERAL "
        "jsonb_each_text(CASE jsonb_typeof(c.checkpoint->'channel_versions') WHEN 'object' "
        "THEN c.checkpoint->'channel_versions' ELSE '{}'::jsonb END) AS v CROSS JOIN LATERAL "
        f"(SELECT type, blob FROM {layout.blobs} AS b WHERE b.thread_id = c.thread_id "
        f"AND b.checkpoint_ns = c.checkpoint_ns AND b.channel = v.key"
        f"{_version(layout, 'v.value')} LIMIT 1) AS b WHERE {where} AND b.type <> 'empty'",
        parameters,
    )


def full_bodies(layout: Layout, thread_id: str, ns: str, ids: Sequence[str]) -> Statement:
    """(id, parent, body, metadata, channel versions) as they are stored, in no order."""
    where, parameters = _of(thread_id, ns, ids)
    return (
        "SELECT checkpoint_id, nullif(parent_checkpoint_id, ''), checkpoint::text, "
        f"metadata::text, (checkpoint->'channel_versions')::text FROM {layout.checkpoints} AS c "
        f"WHERE {where}",
        parameters,
    )


def sizes(layout: Layout, thread_id: str, ns: str) -> Statement:
    """(id, bytes of the body and of all blobs that it refers to) of a namespace.

    Sizes of blobs are hashed once: planned as a look-up for each checkpoint and channel it would
    take twenty times as long.
    """
    where, parameters = _of(thread_id, ns)
    return (
        "SELECT id, bytes FROM (WITH b AS MATERIALIZED (SELECT channel, version, "
        f"octet_length(blob) AS size FROM {layout.blobs} AS b WHERE {where}), "
        "c AS MATERIALIZED (SELECT checkpoint_id AS id, octet_length(checkpoint::text) AS size, "
        "CASE jsonb_typeof(checkpoint->'channel_versions') WHEN 'object' "
        "THEN checkpoint->'channel_versions' ELSE '{}'::jsonb END AS versions "
        f"FROM {layout.checkpoints} AS c WHERE {where}), "
        "v AS MATERIALIZED (SELECT id, key, value FROM c CROSS JOIN LATERAL "
        "jsonb_each_text(versions) WHERE key IN (SELECT channel FROM b)), "
        "o AS (SELECT id, sum(b.size) AS size FROM v JOIN b ON b.channel = v.key"
        f"{'' if layout.shallow else ' AND b.version = v.value'} GROUP BY id) "
        "SELECT c.id, c.size + coalesce(o.size, 0)::bigint AS bytes FROM c LEFT JOIN o USING (id)"
        ") AS found",
        parameters * 2,
    )


def _columns(rows: Sequence[tuple[str, ...]], width: int) -> tuple[list[str], ...]:
    """Rows as one array a column."""
    return tuple([row[i] for row in rows] for i in range(width))


def _version(layout: Layout, value: str) -> str:
    """The condition that picks a blob's version; shallow stores have but one."""
    return "" if layout.shallow else f" AND version = {value}"


def _of(
    thread_id: str, ns: str | None, ids: Sequence[str] | None = None
) -> tuple[str, tuple[object, ...]]:
    where, parameters = ["thread_id = %s"], list[object]([thread_id])
    if ns is not None:
        where.append("checkpoint_ns = %s")
        parameters.append(ns)
    if ids is not None:
        where.append("checkpoint_id = ANY(%s::text[])")
        parameters.append(list(ids))
    return " AND ".join(where), tuple(parameters)
