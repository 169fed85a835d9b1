"""A thread's status, told from its head alone: what a thread list shows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from retrograph.engine.errors import RefError
from retrograph.engine.history import History
from retrograph.engine.model import (
    CheckpointKey,
    Envelope,
    IndexRow,
    Loader,
    ReadsHeads,
    ThreadRow,
    WriteRow,
)
from retrograph.engine.serde import Serde
from retrograph.engine.steps.due import OLD_FORMAT, Barrier, Learned
from retrograph.engine.steps.step import Step
from retrograph.engine.thread import Thread

_TOGETHER = 64
"""Heads that are read at once."""

_FIRST = 64
"""Checkpoints that an old thread's graph is learned from."""


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
    """Status, next and metadata of one thread, from its head alone. Raises `RefError` where that
    is gone meanwhile."""
    for info in describe_all(loader, [row], serde):
        return info
    raise RefError(f"Thread {row.thread_id!r} is gone from the store.")


def describe_all(
    loader: Loader, rows: Sequence[ThreadRow], serde: Serde | None = None
) -> Iterator[ThreadInfo]:
    """The same of many threads, in their order, some dozens at a time; those that are gone
    meanwhile are left out."""
    serde = serde if serde is not None else Serde.from_env()
    for start in range(0, len(rows), _TOGETHER):
        some = rows[start : start + _TOGETHER]
        keys = [CheckpointKey(row.thread_id, row.head_ns, row.head) for row in some]
        heads = _heads(loader, keys)
        for row, key in zip(some, keys, strict=True):
            if key in heads:
                yield _info(row, _HeadOnly(loader, key, *heads[key], serde))


def _heads(
    loader: Loader, keys: Sequence[CheckpointKey]
) -> Mapping[CheckpointKey, tuple[Envelope, Sequence[WriteRow]]]:
    if isinstance(loader, ReadsHeads):
        return loader.heads(keys)
    found = {}
    for key in keys:
        for batch in loader.envelopes(key.thread_id, key.ns, [key.id]):
            for envelope in batch:
                writes = loader.writes(key.thread_id, key.ns, [key.id])
                found[key] = (envelope, [row for page in writes for row in page])
    return found


def _info(row: ThreadRow, thread: _HeadOnly) -> ThreadInfo:
    envelope, step = thread.head()
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
    """A thread of which only the head is known: no index, no parent."""

    def __init__(
        self,
        loader: Loader,
        key: CheckpointKey,
        envelope: Envelope,
        rows: Sequence[WriteRow],
        serde: Serde,
    ) -> None:
        super().__init__(loader, key.thread_id, serde)
        self.history = History.build(key.thread_id, [[IndexRow(key.ns, key.id, None, None)]])
        self._envelope = envelope
        self._rows = list(rows)

    def head(self) -> tuple[Envelope, Step]:
        return self._single(0)

    def envelopes_of(self, ns: str, wanted: Collection[int]) -> dict[int, Envelope]:
        return {0: self._envelope}

    def rows_of(self, ns: str, wanted: Collection[int]) -> dict[int, list[WriteRow]]:
        return {0: self._rows}

    def made_by_running(self, ns: str, wanted: Collection[int]) -> set[int]:
        return set()

    def learn(self, ns: str, near: Iterable[Envelope]) -> Learned:
        """For old formats from the thread's first checkpoints: a graph's static edges show early,
        and a page of threads must not read them whole."""
        near = list(near)
        learned = Learned.of(near)
        if any(envelope.v < OLD_FORMAT for envelope in near):
            stored = chain.from_iterable(self.loader.envelopes(self.thread_id, ns))
            for envelope in islice(stored, _FIRST):
                learned.add(envelope)
        return learned

    def arrived(self, i: int, envelope: Envelope, gate: Barrier) -> set[str] | None:
        """Ancestors are known after all where a join is in doubt, which is rare."""
        whole = Thread(self.loader, self.thread_id, self.serde)
        return whole.arrived(whole.history.find(envelope.ns, envelope.id), envelope, gate)
