"""SQLite files for the tests: copies, snapshots of folders, early layouts."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from retrograph.engine.serde import Serde

SUFFIXES = ("", "-wal", "-shm", "-journal")


def snapshot(folder: Path) -> dict[str, tuple[object, ...]]:
    """Name, bytes, time of writing, inode, mode and owner of everything in a folder, and of itself.

    The time of the last change of status is left out: SQLite run by root gives the files beside a
    database the owner that they have.
    """
    found: dict[str, tuple[object, ...]] = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        stat = path.lstat()
        body = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        name = str(path.relative_to(folder))
        owner = (stat.st_uid, stat.st_gid)
        found[name] = (body, stat.st_mtime_ns, stat.st_ino, stat.st_mode, owner)
    return found


def copy_store(source: Path, target: Path) -> Path:
    """A database with what lies beside it."""
    for suffix in SUFFIXES:
        if Path(f"{source}{suffix}").exists():
            shutil.copy(f"{source}{suffix}", f"{target}{suffix}")
    return target


def early_store(source: Path, target: Path, *, writes: bool, metadata: bool = True) -> Path:
    """The root namespace of a store in the layout of 2024 (S0a, and S0b with writes), as JSON."""
    serde = Serde()
    with closing(sqlite3.connect(target)) as new, closing(sqlite3.connect(source)) as old, new:
        column = ", metadata BLOB" if metadata else ""
        new.execute(
            "CREATE TABLE checkpoints (thread_id TEXT NOT NULL, thread_ts TEXT NOT NULL, parent_ts "
            f"TEXT, checkpoint BLOB{column}, PRIMARY KEY (thread_id, thread_ts))"
        )
        for row in old.execute(
            "SELECT thread_id, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata "
            "FROM checkpoints WHERE checkpoint_ns = ''"
        ).fetchall():
            body = _json(serde, row[3], row[4])
            new.execute(
                f"INSERT INTO checkpoints VALUES (?, ?, ?, ?{', ?' if metadata else ''})",
                (*row[:3], body, row[5])[: 5 if metadata else 4],
            )
        if not writes:
            return target
        new.execute(
            "CREATE TABLE writes (thread_id TEXT NOT NULL, thread_ts TEXT NOT NULL, "
            "task_id TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL, value BLOB, "
            "PRIMARY KEY (thread_id, thread_ts, task_id, idx))"
        )
        for row in old.execute(
            "SELECT thread_id, checkpoint_id, task_id, idx, channel, type, value FROM writes "
            "WHERE checkpoint_ns = ''"
        ).fetchall():
            value = _json(serde, row[5], row[6])
            new.execute("INSERT INTO writes VALUES (?, ?, ?, ?, ?, ?)", (*row[:5], value))
    return target


def _json(serde: Serde, kind: str | None, data: bytes) -> bytes:
    from retrograph.engine.model import Typed

    value: Any = serde.decode(Typed(kind, data))
    return json.dumps(value, default=repr).encode()
