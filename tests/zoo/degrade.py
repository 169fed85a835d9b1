"""Copies of a zoo's SQLite file that lack what older versions of LangGraph did not store."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import ormsgpack


def without_task_paths(source: Path, target: Path) -> Path:
    """As langgraph-checkpoint-sqlite up to 3.0 wrote it: no column `task_path`."""
    shutil.copyfile(source, target)
    with closing(sqlite3.connect(target)) as connection, connection:
        connection.execute("ALTER TABLE writes DROP COLUMN task_path")
    return target


def without_updated_channels(source: Path, target: Path) -> Path:
    """As langgraph 0.5 and 0.6 wrote it: no `updated_channels` in the checkpoints."""
    shutil.copyfile(source, target)
    with closing(sqlite3.connect(target)) as connection, connection:
        found = connection.execute("SELECT rowid, checkpoint FROM checkpoints").fetchall()
        for rowid, blob in found:
            body = ormsgpack.unpackb(
                blob, ext_hook=ormsgpack.Ext, option=ormsgpack.OPT_NON_STR_KEYS
            )
            body.pop("updated_channels", None)
            packed = ormsgpack.packb(body, option=ormsgpack.OPT_NON_STR_KEYS)
            connection.execute(
                "UPDATE checkpoints SET checkpoint = ? WHERE rowid = ?", (packed, rowid)
            )
    return target


def without_ancestors(source: Path, target: Path, thread_id: str, checkpoint_id: str) -> Path:
    """As pruning leaves it: what was before a checkpoint is gone, and its writes with it."""
    shutil.copyfile(source, target)
    with closing(sqlite3.connect(target)) as connection, connection:
        for table in ("checkpoints", "writes"):
            where = "thread_id = ? AND checkpoint_ns = '' AND checkpoint_id < ?"
            connection.execute(f"DELETE FROM {table} WHERE {where}", (thread_id, checkpoint_id))
    return target
