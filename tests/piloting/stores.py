"""SQLite stores with whatever rows a test wants, in the layout of langgraph 1.2."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ormsgpack

_TABLES = """
create table checkpoints(thread_id text, checkpoint_ns text, checkpoint_id text,
    parent_checkpoint_id text, type text, checkpoint blob, metadata blob,
    primary key (thread_id, checkpoint_ns, checkpoint_id));
create table writes(thread_id text, checkpoint_ns text, checkpoint_id text, task_id text,
    task_path text, idx integer, channel text, type text, value blob,
    primary key (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
"""


def uuid6(n: int) -> str:
    """An id as LangGraph makes them; higher for a higher `n`."""
    return f"1f1ebf22-64d4-6{n:03x}-8001-a4fccffb8{n:03x}"


class Filling:
    """A store while it is being written."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def checkpoint(
        self,
        id_: str,
        parent: str | None,
        values: Mapping[str, Any] | bytes,
        *,
        thread: str = "t",
        ns: str = "",
        step: int = 0,
        kind: str = "msgpack",
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """`values`: of the channels, or the whole stored blob."""
        if isinstance(values, bytes):
            body = values
        else:
            plain = {
                "v": 4,
                "ts": "2026-01-01T00:00:00+00:00",
                "id": id_,
                "channel_values": dict(values),
                "channel_versions": dict.fromkeys(values, f"{step + 1:032}.0.1"),
                "versions_seen": {},
                "updated_channels": list(values),
            }
            body = json.dumps(plain).encode() if kind == "json" else ormsgpack.packb(plain)
        said = json.dumps({"source": "loop", "step": step, "parents": {}, **(metadata or {})})
        row = (thread, ns, id_, parent, kind, body, said.encode())
        self.db.execute("insert into checkpoints values (?,?,?,?,?,?,?)", row)

    def write(
        self, id_: str, task: str, idx: int, channel: str, value: Any, *, thread: str = "t"
    ) -> None:
        """`value`: packed, or, as bytes, the stored blob."""
        blob = value if isinstance(value, bytes) else ormsgpack.packb(value)
        row = (thread, "", id_, task, "~__pregel_pull, node", idx, channel, "msgpack", blob)
        self.db.execute("insert into writes values (?,?,?,?,?,?,?,?,?)", row)


@contextmanager
def filling(path: Path) -> Iterator[Filling]:
    """A new store at a path, which is there when the block ends."""
    db = sqlite3.connect(path)
    try:
        db.executescript(_TABLES)
        yield Filling(db)
        db.commit()
    finally:
        db.close()
