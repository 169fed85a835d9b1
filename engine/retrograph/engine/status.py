"""A thread's status, told from its head alone: what a thread list shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from retrograph.engine.history import History
from retrograph.engine.model import Envelope, IndexRow, Loader, ThreadRow
from retrograph.engine.serde import Serde
from retrograph.engine.steps import Step
from retrograph.engine.thread import Thread


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """A thread with its status: what a thread list shows."""

    row: ThreadRow
    status: str
    """done | interrupted | error | unfinished"""
    next: tuple[str, ...]
    """Tasks that have no output yet."""
    step: Step
    """Of the head: its questions and errors."""
    metadata: Mapping[str, Any]
    """Scalars of the head's metadata."""


def describe(loader: Loader, row: ThreadRow, serde: Serde | None = None) -> ThreadInfo:
    """Status, next and metadata of one thread, from its head alone."""
    thread = _HeadOnly(loader, row.thread_id, serde)
    envelope, step = thread.head(row)
    scalars = {
        key: value
        for key, value in envelope.metadata.items()
        if isinstance(value, str | int | float | bool)
    }
    return ThreadInfo(row, status_of(step), step.waiting, step, scalars)


def status_of(head: Step) -> str:
    """A thread's status from its head: the first that holds of error, interrupted, unfinished."""
    known = {task.node for task in head.tasks}
    if any(t.error is not None for t in head.tasks) or any(n not in known for n, _ in head.errors):
        return "error"
    if any(not question.answered for question in head.questions):
        return "interrupted"
    return "unfinished" if head.next else "done"


class _HeadOnly(Thread):
    """A thread of which only the head is read: no index, no parent."""

    def head(self, row: ThreadRow) -> tuple[Envelope, Step]:
        ns, head = row.head_ns, row.head
        self.history = History.build(self.thread_id, [[IndexRow(ns, head, None, None)]])
        return self._single(0)
