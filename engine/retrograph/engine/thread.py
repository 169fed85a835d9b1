"""One thread of a loader, as the screens and commands want it: tree, steps, snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from retrograph.engine.history import History
from retrograph.engine.model import CheckpointKey, Envelope, Loader, RawCheckpoint, ThreadRow
from retrograph.engine.steps import Step


@dataclass(frozen=True, slots=True)
class Write:
    """One stored write with its (inert) value."""

    task_id: str
    node: str | None
    """`None` for writes that no task made."""
    channel: str
    value: Any
    path: str
    idx: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A checkpoint with its decoded values."""

    key: CheckpointKey
    parent_id: str | None
    envelope: Envelope
    step: Step
    values: Mapping[str, Any]
    """The state's channels, inert, as StateSnapshot shows them; see the contract for differences."""
    internal: Mapping[str, Any]
    """Channels that only LangGraph reads (what `--raw` adds)."""
    writes: tuple[Write, ...]
    raw: RawCheckpoint


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """A thread with its status: what a thread list shows."""

    row: ThreadRow
    status: str
    """done | interrupted | error | unfinished"""
    next: tuple[str, ...]
    """Tasks that have no output yet."""
    metadata: Mapping[str, Any]
    """Scalars of the head's metadata."""


class Thread:
    """Reads a thread piece by piece: the index at once, steps a namespace at a time, one snapshot
    when asked."""

    def __init__(self, loader: Loader, thread_id: str) -> None:
        self.loader = loader
        self.thread_id = thread_id

    @property
    def history(self) -> History:
        raise NotImplementedError

    def steps(self, ns: str | None = None) -> Mapping[tuple[str, str], Step]:
        """Steps of all checkpoints (of one namespace), by (namespace, id), in one pass."""
        raise NotImplementedError

    def envelopes(self, ns: str | None = None) -> Mapping[tuple[str, str], Envelope]:
        raise NotImplementedError

    def step(self, ns: str, checkpoint_id: str) -> Step:
        """The step of one checkpoint: reads it, its parent and its children only."""
        raise NotImplementedError

    def snapshot(self, ns: str, checkpoint_id: str) -> Snapshot:
        raise NotImplementedError

    def orphans(self) -> list[tuple[str, str, int]]:
        """(namespace, checkpoint id, rows) of writes whose checkpoint is not in the store."""
        raise NotImplementedError


def describe(loader: Loader, row: ThreadRow) -> ThreadInfo:
    """Status, next and metadata of one thread, from its head alone."""
    raise NotImplementedError
