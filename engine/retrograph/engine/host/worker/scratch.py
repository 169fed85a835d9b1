"""A checkpoint in memory, edited and asked about without touching anything else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from langgraph.checkpoint.base.id import uuid6

from .faults import RequestError
from .isolate import Isolation, subgraph

CHECKPOINTER = "__pregel_checkpointer"


class Scratch:
    """The rows of a request in a saver of their own, and the graph of one namespace on it.

    `loop` is the event loop for graphs that need asyncio, else `None`.
    """

    def __init__(
        self,
        graph: Any,
        isolation: Isolation,
        request: dict[str, Any],
        blobs: Sequence[bytes],
        loop: Any,
    ) -> None:
        rows = request["rows"]
        self.thread_id = rows["thread_id"]
        self.ns = request["ns"]
        self.saver = isolation.memory()
        for ns, checkpoint_id, parent_id, typed, metadata in rows["checkpoints"]:
            self.saver.put_row(
                self.thread_id, ns, checkpoint_id, parent_id, _typed(typed, blobs), blobs[metadata]
            )
        self.saver.put_write_rows(
            self.thread_id, [(*row[:6], _typed(row[6], blobs)) for row in rows["writes"]]
        )
        whole = isolation.graph(graph, self.saver, served=False)
        inner = subgraph(whole, self.ns)
        if inner is None:
            raise RequestError(f"The graph has no sub-graph {self.ns!r}.")
        self.graph = inner.copy(update={"checkpointer": self.saver})
        self._loop = loop
        self._stated: dict[str, Any] = request["config"]

    def config(self, checkpoint_id: str) -> dict[str, Any]:
        """A config of one checkpoint of this namespace."""
        return {
            **self._stated,
            "configurable": {
                **self._stated.get("configurable", {}),
                "thread_id": self.thread_id,
                "checkpoint_ns": self.ns,
                "checkpoint_id": checkpoint_id,
                CHECKPOINTER: self.saver,
            },
        }

    def stored(self, checkpoint_id: str) -> Any:
        """LangGraph's `CheckpointTuple`, or `None`."""
        return self.saver.get_tuple(self.config(checkpoint_id))

    def state(self, checkpoint_id: str) -> Any:
        """LangGraph's `StateSnapshot`. Raises what the user's validators raise."""
        return self._call("get_state", self.config(checkpoint_id))

    def next(self, checkpoint_id: str) -> list[str]:
        """Nodes due at a checkpoint: sorted, one entry a task."""
        return sorted(task.name for task in self.state(checkpoint_id).tasks)

    def emit(self, checkpoint_id: str, updates: Sequence[Any]) -> str:
        """Let writers of nodes run again on a checkpoint; returns the id of the child."""
        made = self._call("bulk_update_state", self.config(checkpoint_id), [list(updates)])
        return str(made["configurable"]["checkpoint_id"])

    def written(self, task_id: str) -> list[tuple[str, Any]]:
        """(channel, value) of a task's stored writes."""
        rows = self.saver.connection.execute(
            "SELECT channel, type, value FROM writes WHERE thread_id = ? AND checkpoint_ns = ? "
            "AND task_id = ? ORDER BY idx",
            (self.thread_id, self.ns, task_id),
        ).fetchall()
        return [(channel, self.saver.serde.loads_typed((t, v))) for channel, t, v in rows]

    def put(self, parent_id: str, checkpoint: dict[str, Any], metadata: dict[str, Any]) -> None:
        """Store a child."""
        self.saver.put_row(
            self.thread_id,
            self.ns,
            checkpoint["id"],
            parent_id,
            self.saver.serde.dumps_typed(checkpoint),
            json.dumps(metadata, ensure_ascii=False).encode("utf-8", "ignore"),
        )

    def row(self, checkpoint_id: str) -> Any:
        """(parent id, type, checkpoint, metadata) as stored."""
        return self.saver.connection.execute(
            "SELECT parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints "
            "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
            (self.thread_id, self.ns, checkpoint_id),
        ).fetchone()

    def close(self) -> None:
        self.saver.clear()

    def _call(self, method: str, *arguments: Any) -> Any:
        if self._loop is None:
            return getattr(self.graph, method)(*arguments)
        return self._loop.run_until_complete(getattr(self.graph, "a" + method)(*arguments))


def stamped(checkpoint: dict[str, Any], step: int) -> dict[str, Any]:
    """The checkpoint under a new id and time."""
    return {
        **checkpoint,
        "id": str(uuid6(clock_seq=step)),
        "ts": datetime.now(timezone.utc).isoformat(),
    }


def _typed(stated: dict[str, Any], blobs: Sequence[bytes]) -> tuple[Any, bytes]:
    return stated["type"], blobs[stated["blob"]]
