"""Repeats what LangGraph wrote: the same bytes, with other ids and times inside and out."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.pregel._algo import PULL, _xxhash_str

# 100 ns ticks between the UUID epoch (1582-10-15) and the Unix epoch.
EPOCH_TICKS = 0x01B21DD213814000


class Checkpoint(NamedTuple):
    thread_id: str
    ns: str
    id: str
    parent_id: str | None
    type: str
    blob: bytes
    metadata: bytes


class Write(NamedTuple):
    thread_id: str
    ns: str
    checkpoint_id: str
    task_id: str
    task_path: str
    idx: int
    channel: str
    type: str
    value: bytes


@dataclass
class Template:
    """The rows of one thread, oldest first."""

    checkpoints: list[Checkpoint]
    writes: dict[str, list[Write]]
    """By checkpoint id."""

    @classmethod
    def of(cls, connection: sqlite3.Connection, thread_id: str) -> Template:
        where = (thread_id,)
        found = connection.execute(
            "select * from checkpoints where thread_id = ? order by checkpoint_id", where
        )
        checkpoints = [Checkpoint(*row) for row in found]
        writes: dict[str, list[Write]] = {c.id: [] for c in checkpoints}
        for row in connection.execute("select * from writes where thread_id = ?", where):
            write = Write(*row)
            writes[write.checkpoint_id].append(write)
        return cls(checkpoints, writes)


def checkpoint_id(at: datetime, step: int, dice: random.Random) -> str:
    """As `langgraph.checkpoint.base.id.uuid6(clock_seq=step)` makes it."""
    ticks = int(at.timestamp() * 1_000_000) * 10 + EPOCH_TICKS
    high, low = ticks >> 12, ticks & 0xFFF
    sequence = (step & 0x3FFF) | 0x8000
    node = dice.getrandbits(48)
    return f"{high >> 16:08x}-{high & 0xFFFF:04x}-6{low:03x}-{sequence:04x}-{node:012x}"


def repeat(
    old: Checkpoint,
    writes: list[Write],
    thread_id: str,
    new_id: str,
    parent_id: str | None,
    step: int,
    at: datetime,
) -> tuple[Checkpoint, list[Write]]:
    """One checkpoint again, in another thread, under another id, at another step and time."""
    metadata = json.loads(old.metadata)
    ts = json_time(old.blob)
    blob = old.blob.replace(old.id.encode(), new_id.encode()).replace(
        ts, at.isoformat(timespec="microseconds").encode()
    )
    again = Checkpoint(
        thread_id,
        old.ns,
        new_id,
        parent_id,
        old.type,
        blob,
        json.dumps({**metadata, "step": step}).encode(),
    )
    return again, [
        write._replace(
            thread_id=thread_id, checkpoint_id=new_id, task_id=task_id(write, new_id, step)
        )
        for write in writes
    ]


def json_time(blob: bytes) -> bytes:
    """The checkpoint's `ts`, as it stands in the blob."""
    at = blob.index(b"\xa2ts\xd9\x20") + 5
    return blob[at : at + 32]


def task_id(write: Write, new_id: str, step: int) -> str:
    """As `langgraph.pregel._algo.prepare_single_task` makes it, for nodes with one trigger."""
    node = write.task_path.removeprefix("~__pregel_pull, ")
    trigger = "__start__" if node == "__start__" else f"branch:to:{node}"
    return _xxhash_str(UUID(new_id).bytes, node, str(step + 1), node, PULL, trigger)


@contextmanager
def new_store(path: Path) -> Iterator[sqlite3.Connection]:
    """A store with LangGraph's tables, filled in one transaction and closed as an app closes it."""
    connection = sqlite3.connect(path, check_same_thread=False)
    SqliteSaver(connection).setup()
    connection.execute("pragma synchronous = off")
    yield connection
    connection.commit()
    connection.execute("pragma wal_checkpoint(truncate)")
    connection.close()


def insert(connection: sqlite3.Connection, rows: list[Checkpoint], writes: list[Write]) -> None:
    connection.executemany(f"insert into checkpoints values ({', '.join('?' * 7)})", rows)
    connection.executemany(f"insert into writes values ({', '.join('?' * 9)})", writes)


def moment(seconds: float) -> datetime:
    """Never on a full second: LangGraph's `ts` has its microseconds then, always 32 characters."""
    return datetime(2025, 3, 1, 8, 0, 0, 123457, UTC) + timedelta(seconds=seconds)


def run(graph: Any, thread_id: str, given: Any, **config: Any) -> Any:
    return graph.invoke(
        given, {"configurable": {"thread_id": thread_id}, **config}, durability="sync"
    )
