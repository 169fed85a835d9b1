"""The host's own checkpointer, over the standard library's sqlite3, sync and async.

LangGraph does not bring `langgraph-checkpoint-sqlite`, and SqliteSaver refuses `ainvoke`. Tables
and rows are SqliteSaver's (langgraph-checkpoint-sqlite 3, with `task_path`): it reads this file,
and so does the viewer. Each `put` and `put_writes` is told as soon as it is on disk.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import chain
from typing import Any, Callable

from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)

from .serde import GateSerde
from .unstored import unstored

_encoded = json.JSONEncoder(ensure_ascii=False).encode
SCHEMA = """
CREATE TABLE IF NOT EXISTS checkpoints (
    thread_id TEXT NOT NULL,
    checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT,
    type TEXT,
    checkpoint BLOB,
    metadata BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
);
CREATE TABLE IF NOT EXISTS writes (
    thread_id TEXT NOT NULL,
    checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    task_path TEXT NOT NULL DEFAULT '',
    idx INTEGER NOT NULL,
    channel TEXT NOT NULL,
    type TEXT,
    value BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);
"""
_CHECKPOINT = (
    "SELECT checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints "
    "WHERE thread_id = ? AND checkpoint_ns = ?"
)
_WRITES = (
    "SELECT task_id, channel, type, value FROM writes "
    "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? "
    "ORDER BY task_path, task_id, idx"
)
_FEW = 8
"""Writes that are stored by one statement: a task has seldom more."""
_ROWS = [", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?)"] * count) for count in range(_FEW + 1)]
_TASKS = "__pregel_tasks"
_INTERRUPT = "__interrupt__"

Tell = Callable[[str, dict[str, Any]], None]


class WorkerSaver(BaseCheckpointSaver):  # type: ignore[type-arg]
    """A checkpointer on a file, or on `:memory:`.

    `tell(name, data)` is called after each commit: `checkpoint` with ns, id, parent, step, source,
    bytes; `writes` with ns, id (of the checkpoint), task, path, channels, route, bytes.
    """

    def __init__(self, database: str, serde: GateSerde, tell: Tell | None = None) -> None:
        super().__init__(serde=serde)
        self._tell = tell
        self._lock = threading.RLock()
        self._owner = os.getpid()
        self._refused: Exception | None = None
        """Of a write that could not be stored: LangGraph raises it after that of its checkpoint."""
        self._random = random.Random()  # the user's own sequence of numbers stays as it is
        self.goes_past = False
        """The next checkpoint of a root graph that is read is gone on from: where the graph's own
        `interrupt_before` or `interrupt_after` held it there, it is not held again. LangGraph marks
        that so itself, but only in runs that it takes for resumed ones."""
        self.connection = sqlite3.connect(database, check_same_thread=False, isolation_level=None)
        self.connection.execute("PRAGMA busy_timeout = 10000")
        if database != ":memory:":
            # What is committed outlives this process however it ends; only a power cut takes it.
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.executescript(SCHEMA)

    def close(self) -> None:
        with self._lock:
            self.connection.close()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            for table in ("checkpoints", "writes"):
                self.connection.execute(f"DELETE FROM {table}")

    # Reading.

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        thread_id, ns = _address(config)
        wanted = get_checkpoint_id(config)
        with self._lock:
            if wanted:
                row = self.connection.execute(
                    _CHECKPOINT + " AND checkpoint_id = ?", (thread_id, ns, wanted)
                ).fetchone()
            else:
                row = self.connection.execute(
                    _CHECKPOINT + " ORDER BY checkpoint_id DESC LIMIT 1", (thread_id, ns)
                ).fetchone()
        if row is None:
            return None
        found = self._tuple(thread_id, ns, row)
        if self.goes_past and not ns:
            self.goes_past = False
            seen = found.checkpoint["versions_seen"]
            seen[_INTERRUPT] = {**seen.get(_INTERRUPT, {}), **found.checkpoint["channel_versions"]}
        return found

    def list(
        self,
        config: Any,
        *,
        filter: dict[str, Any] | None = None,
        before: Any = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        clauses: list[str] = []
        values: list[Any] = []
        if config is not None:
            conf = config["configurable"]
            clauses.append("thread_id = ?")
            values.append(str(conf["thread_id"]))
            if conf.get("checkpoint_ns") is not None:
                clauses.append("checkpoint_ns = ?")
                values.append(conf["checkpoint_ns"])
            if get_checkpoint_id(config):
                clauses.append("checkpoint_id = ?")
                values.append(get_checkpoint_id(config))
        if before is not None:
            clauses.append("checkpoint_id < ?")
            values.append(get_checkpoint_id(before))
        where = " WHERE " + " AND ".join(clauses) if clauses else ""
        with self._lock:
            rows = self.connection.execute(
                "SELECT thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, "
                f"checkpoint, metadata FROM checkpoints{where} ORDER BY checkpoint_id DESC",
                values,
            ).fetchall()
        count = 0
        for thread_id, ns, *row in rows:
            if limit is not None and count >= limit:
                return
            found = self._tuple(thread_id, ns, row)
            metadata: dict[str, Any] = dict(found.metadata)
            if all(metadata.get(key) == value for key, value in (filter or {}).items()):
                count += 1
                yield found

    def _tuple(self, thread_id: str, ns: str, row: Sequence[Any]) -> CheckpointTuple:
        checkpoint_id, parent_id, kind, checkpoint, metadata = row
        with self._lock:
            writes = self.connection.execute(_WRITES, (thread_id, ns, checkpoint_id)).fetchall()
        loads = self.serde.loads_typed
        return CheckpointTuple(
            _config(thread_id, ns, checkpoint_id),
            loads((kind, checkpoint)),
            json.loads(metadata) if metadata is not None else {},
            _config(thread_id, ns, parent_id) if parent_id else None,
            [(task, channel, loads((type_, value))) for task, channel, type_, value in writes],
        )

    # Writing.

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        thread_id, ns = _address(config)
        parent_id = config["configurable"].get("checkpoint_id")
        kind, data = self._stored(checkpoint)
        stored = get_checkpoint_metadata(config, metadata)
        self.put_row(
            thread_id, ns, checkpoint["id"], parent_id, (kind, data),
            _encoded(stored).encode("utf-8", "ignore"),
        )  # fmt: skip
        if self._tell is not None:
            self._tell(
                "checkpoint",
                {
                    "ns": ns,
                    "id": checkpoint["id"],
                    "parent": parent_id,
                    "step": metadata.get("step"),
                    "source": metadata.get("source"),
                    "bytes": len(data),
                },
            )
        return _config(thread_id, ns, checkpoint["id"])

    def _stored(self, checkpoint: Any) -> tuple[str, bytes]:
        """A checkpoint's bytes. Raises `PlainError`."""
        dumps = self.serde.dumps_typed
        try:
            return dumps(checkpoint)
        except Exception as error:
            if self._refused is not None:  # it was told better of the write
                raise self._refused from None
            for channel, value in checkpoint["channel_values"].items():
                try:
                    dumps(value)
                except Exception:
                    raise unstored(channel, value, error, dumps) from None
            raise

    def _written(self, channel: str, value: Any, task_path: str) -> tuple[str, bytes]:
        """A write's bytes. Raises `PlainError`."""
        try:
            return self.serde.dumps_typed(value)
        except Exception as error:
            dumps = self.serde.dumps_typed
            self._refused = unstored(channel, value, error, dumps, task_path)
            raise self._refused from None

    def put_row(
        self,
        thread_id: str,
        ns: str,
        checkpoint_id: str,
        parent_id: str | None,
        typed: tuple[str | None, bytes],
        metadata: bytes,
    ) -> None:
        """Store a checkpoint as it is."""
        self._mine()
        with self._lock:
            self.connection.execute(
                "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, "
                "parent_checkpoint_id, type, checkpoint, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (thread_id, ns, checkpoint_id, parent_id, typed[0], typed[1], metadata),
            )

    def put_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        thread_id, ns = _address(config)
        checkpoint_id = str(config["configurable"]["checkpoint_id"])
        replace = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        rows = [
            (WRITES_IDX_MAP.get(channel, idx), channel, self._written(channel, value, task_path))
            for idx, (channel, value) in enumerate(writes)
        ]
        self.put_write_rows(
            thread_id,
            [(ns, checkpoint_id, task_id, task_path, *row) for row in rows],
            "REPLACE" if replace else "IGNORE",
        )
        if self._tell is not None:
            self._tell(
                "writes",
                {
                    "ns": ns,
                    "id": checkpoint_id,
                    "task": task_id,
                    "path": task_path,
                    "channels": [channel for channel, _ in writes],
                    "route": [d for c, v in writes for d in _destination(c, v)],
                    "bytes": sum(len(typed[1]) for _, _, typed in rows),
                },
            )

    def put_write_rows(
        self, thread_id: str, rows: Sequence[tuple[Any, ...]], other: str = "REPLACE"
    ) -> None:
        """Store writes as they are: (ns, checkpoint id, task id, path, idx, channel, value)."""
        self._mine()
        into = (
            f"INSERT OR {other} INTO writes (thread_id, checkpoint_ns, checkpoint_id, "
            "task_id, task_path, idx, channel, type, value) VALUES "
        )
        values = [(thread_id, *row[:6], row[6][0], row[6][1]) for row in rows]
        with self._lock:
            if 0 < len(rows) <= _FEW:
                # All or none of them also without a transaction, which costs as much again.
                self.connection.execute(into + _ROWS[len(rows)], list(chain(*values)))
                return
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                self.connection.executemany(into + _ROWS[1], values)
                self.connection.execute("COMMIT")
            except BaseException:
                self.connection.execute("ROLLBACK")
                raise

    def delete_thread(self, thread_id: str) -> None:
        self._mine()
        with self._lock:
            for table in ("checkpoints", "writes"):
                self.connection.execute(f"DELETE FROM {table} WHERE thread_id = ?", (thread_id,))

    def get_next_version(self, current: Any, channel: Any) -> str:
        if current is None:
            number = 0
        elif isinstance(current, (int, float)):
            number = int(current)
        else:
            number = int(str(current).split(".")[0])
        return f"{number + 1:032}.{self._random.random():016}"

    def _mine(self) -> None:
        """A forked child must not write through its parent's connection."""
        if os.getpid() != self._owner:
            raise RuntimeError("a forked process tried to go on with its parent's run")

    # The same under asyncio: each is short, and the file is local.

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        return self.get_tuple(config)

    async def alist(
        self,
        config: Any,
        *,
        filter: dict[str, Any] | None = None,
        before: Any = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        for found in self.list(config, filter=filter, before=before, limit=limit):
            yield found

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        return self.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self.put_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        self.delete_thread(thread_id)


def _address(config: Any) -> tuple[str, str]:
    conf = config["configurable"]
    return str(conf["thread_id"]), conf.get("checkpoint_ns", "")


def _config(thread_id: str, ns: str, checkpoint_id: str) -> Any:
    return {
        "configurable": {
            "thread_id": thread_id,
            "checkpoint_ns": ns,
            "checkpoint_id": checkpoint_id,
        }
    }


def _destination(channel: str, value: Any) -> Iterator[str]:
    """Where a write leads: a node, a join as its channel, a Send as its node."""
    if channel.startswith("branch:to:"):
        yield channel[len("branch:to:") :]
    elif channel.startswith("join:"):
        yield channel
    elif channel == _TASKS:
        for send in value if isinstance(value, (list, tuple)) else (value,):
            node = getattr(send, "node", None)
            if isinstance(node, str):
                yield node
