"""SQLite stores of any version as PostgresSaver of their time would have stored them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg

from retrograph.engine.model import Typed
from retrograph.engine.serde import Serde
from servers.postgres import Database

CHECKPOINTS = """CREATE TABLE checkpoints (
    thread_id text NOT NULL, checkpoint_ns text NOT NULL DEFAULT '', checkpoint_id text NOT NULL,
    parent_checkpoint_id text, type text, checkpoint jsonb NOT NULL,
    metadata jsonb NOT NULL DEFAULT '{}', PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id))"""
BLOBS = """CREATE TABLE checkpoint_blobs (
    thread_id text NOT NULL, checkpoint_ns text NOT NULL DEFAULT '', channel text NOT NULL,
    version text NOT NULL, type text NOT NULL, blob bytea,
    PRIMARY KEY (thread_id, checkpoint_ns, channel, version))"""
WRITES = """CREATE TABLE checkpoint_writes (
    thread_id text NOT NULL, checkpoint_ns text NOT NULL DEFAULT '', checkpoint_id text NOT NULL,
    task_id text NOT NULL, idx integer NOT NULL, channel text NOT NULL, type text,
    blob bytea NOT NULL{}, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx))"""
TASK_PATH = ", task_path text NOT NULL DEFAULT ''"

_SERDE = Serde()


def tables(task_path: bool = True) -> tuple[str, ...]:
    """The tables of today's migration, or of one before `task_path`."""
    return CHECKPOINTS, BLOBS, WRITES.format(TASK_PATH if task_path else "")


def copy(path: Path, database: Database) -> None:
    """All rows of a SQLite store."""
    # Immutable: else SQLite leaves a -shm beside a file that is kept in git.
    source = sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)
    columns = [row[1] for row in source.execute("pragma table_info(writes)")]
    with_paths = "task_path" in columns
    database.execute(*tables(with_paths))
    with psycopg.connect(database.uri, autocommit=True) as target, target.cursor() as cursor:
        for row in source.execute(
            "select thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, "
            "checkpoint, metadata from checkpoints"
        ):
            _checkpoint(cursor, *row)
        names = ["thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "idx", "channel"]
        names += ["type", "value", *(["task_path"] if with_paths else [])]
        for row in source.execute(f"select {', '.join(names)} from writes"):
            into = ", ".join(names).replace("value", "blob")
            values = [_bytes(v) if n == "value" else v for n, v in zip(names, row, strict=True)]
            marks = ", ".join(["%s"] * len(names))
            insert = f"insert into checkpoint_writes ({into}) values ({marks})"
            cursor.execute(insert.encode(), values)
    source.close()


def _checkpoint(cursor: Any, thread_id: str, ns: str, id: str, parent: str | None, kind: str,
                checkpoint: bytes, metadata: bytes) -> None:  # fmt: skip
    body = _SERDE.decode(Typed(kind, checkpoint))
    assert isinstance(body, dict)
    inline = {k: v for k, v in body["channel_values"].items() if _is_primitive(v)}
    for channel, value in body["channel_values"].items():
        if channel not in inline and channel in body["channel_versions"]:
            typed = _SERDE.encode(value, "json" if kind == "json" else None)
            version = str(body["channel_versions"][channel])
            cursor.execute(
                "insert into checkpoint_blobs values (%s, %s, %s, %s, %s, %s) "
                "on conflict do nothing",
                (thread_id, ns, channel, version, typed.type, typed.data),
            )
    stored: Mapping[str, Any] = {**body, "channel_values": inline, "pending_sends": []}
    cursor.execute(
        "insert into checkpoints values (%s, %s, %s, %s, NULL, %s, %s)",
        (thread_id, ns, id, parent, json.dumps(stored), _bytes(metadata).decode()),
    )


def _is_primitive(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value or b"")
