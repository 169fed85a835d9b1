"""What a run needs of a thread, and nothing else: so a fork costs one checkpoint, not the thread.

Two kinds, which must not be mixed.

*Replay*, from any checkpoint C: C without its own writes and without the namespaces of its own
tasks, which are as much its output; for a sub-graph with a memory of its own the newest checkpoint
made before C on C's line. Inside a sub-graph: each level around it too, also without own writes,
but with those of the tasks beside it that had finished, so that they do not run again.

*Go on*, from a namespace's head: the head with all its writes, and the sub-graphs that its tasks
had begun with all of theirs, so that what has finished does not run again and answers stay.

In both: joins hold what has truly arrived (langgraph #8748), DeltaChannels have what their values
are folded from (`stubs`), and versions that are numbers become text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

from retrograph.engine.errors import SourceError
from retrograph.engine.history import NONE
from retrograph.engine.host.requests import CheckpointRow, Rows, StoredWrite
from retrograph.engine.model import (
    ROOT,
    CheckpointKey,
    Envelope,
    RawCheckpoint,
    RawWrite,
    Typed,
)
from retrograph.engine.sandbox.body import SENDS, copied, copied_metadata, map_slices, plain_write
from retrograph.engine.sandbox.stubs import Stub
from retrograph.engine.serde import Serde
from retrograph.engine.serde import envelope as read_envelope
from retrograph.engine.steps.due import Barrier, barrier
from retrograph.engine.thread import Thread

Kind = Literal["replay", "go on"]

_TASKS: Final = "__pregel_tasks"
_SENDS_INSIDE: Final = 4
"""The format from which Sends are stored in a channel of the checkpoint that they are due at."""
_CHUNK: Final = 50


@dataclass(frozen=True, slots=True)
class Closure:
    """The rows that a run needs."""

    kind: Kind
    key: CheckpointKey
    """The checkpoint that it begins from."""
    levels: tuple[CheckpointKey, ...]
    """The checkpoints around it, the root's first; itself last."""
    rows: Rows
    warnings: tuple[str, ...] = ()


def for_replay(thread: Thread, ns: str, checkpoint_id: str) -> Closure:
    """What running on from a checkpoint needs. Raises `SourceError` where it cannot be copied."""
    made = _Maker(thread)
    levels = levels_of(thread, ns, checkpoint_id)
    for level, inner in zip(levels, [*levels[1:], None], strict=True):
        if inner is None:
            made.take(level, None)
        else:
            made.take(level, made.beside(level, inner))
    made.stateful(levels)
    return made.closure("replay", levels)


def for_going_on(thread: Thread, checkpoint_id: str) -> Closure:
    """What going on from a leaf of the root graph needs. Raises `SourceError`."""
    made = _Maker(thread)
    levels = levels_of(thread, ROOT, checkpoint_id)
    made.begun(levels[0])
    made.stateful(levels)
    return made.closure("go on", levels)


def levels_of(thread: Thread, ns: str, checkpoint_id: str) -> list[CheckpointKey]:
    """A checkpoint and those around it, the root's first. Raises `SourceError` where one of these
    is gone."""
    _found(thread, ns, checkpoint_id)
    key = CheckpointKey(thread.thread_id, ns, checkpoint_id)
    parents: Mapping[str, str] = {}
    if ns:
        for detail in thread.loader.details([key]):
            parents = parents_in(detail.metadata, ns)
    outer = sorted(parents.items(), key=lambda pair: len(pair[0]))
    if ns and (not outer or outer[0][0] != ROOT):
        raise SourceError(
            f"It is not stored which checkpoint of the graph around it {checkpoint_id} "
            "belongs to, so it cannot be run from here: take one of the root graph."
        )
    for level in outer:
        _found(thread, *level)
    return [*(CheckpointKey(thread.thread_id, *level) for level in outer), key]


def owner(ns: str, inner: str) -> tuple[str, str]:
    """(node, task id) of a namespace's task that a namespace inside it is of; the id is "" where
    the sub-graph has a memory of its own."""
    # A number counts the sub-graphs that one node calls: it is no level of its own.
    depth = sum(not part.isdigit() for part in ns.split("|")) if ns else 0
    segments = [part for part in inner.split("|") if not part.isdigit()]
    node, _, task_id = segments[depth].partition(":")
    return node, task_id


def _found(thread: Thread, ns: str, checkpoint_id: str) -> int:
    i = thread.history.find(ns, checkpoint_id)
    if i == NONE:
        where = f" of namespace {ns!r}" if ns else ""
        raise SourceError(
            f"Checkpoint {checkpoint_id}{where}, which is needed to run from here, is not in "
            "the store."
        )
    return i


class _Maker:
    """Collects rows."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._history = thread.history
        self._checkpoints: list[CheckpointRow] = []
        self._writes: list[StoredWrite] = []
        self._taken: set[str] = set()
        self._warnings: dict[str, None] = {}

    def closure(self, kind: Kind, levels: list[CheckpointKey]) -> Closure:
        rows = Rows(self._thread.thread_id, self._checkpoints, self._writes)
        return Closure(kind, levels[-1], tuple(levels), rows, tuple(self._warnings))

    def take(self, key: CheckpointKey, kept: Callable[[RawWrite], bool] | None) -> None:
        """Copy a checkpoint, those of its writes that are `kept`, and its stub."""
        thread = self._thread
        i = _found(thread, key.ns, key.id)
        raw = thread.loader.read(key)
        envelope = _envelope(thread, i, raw)
        self._taken.add(key.ns)
        row, stub = checkpoint_row(thread, i, raw, envelope), Stub(thread, i, envelope)
        if stub.row is not None:
            self._checkpoints.append(stub.row)
            self._writes += stub.writes
        for channel in sorted(stub.lost):
            self._warn(
                f"The DeltaChannel '{channel}' is not whole: an ancestor of {key.id} that holds "
                "a part of it is not in the store."
            )
        if raw.checkpoint.type and "+" in raw.checkpoint.type:
            self._warn("The store is encrypted; in the sandbox its values are plain.")
        self._checkpoints.append(row)
        if kept is not None:
            self._writes += write_rows(key, filter(kept, raw.writes), thread.serde)

    def beside(self, level: CheckpointKey, inner: CheckpointKey) -> Callable[[RawWrite], bool]:
        """Which writes of a level are those of finished tasks beside the one that `inner` is of."""
        step = self._thread.step(level.ns, level.id)
        node, task_id = owner(level.ns, inner.ns)
        finished = {
            task.id
            for task in step.tasks
            if task.finished and task.id != task_id and (task_id or task.node != node)
        }
        return lambda write: write.task_id in finished

    def begun(self, key: CheckpointKey) -> None:
        """Copy a checkpoint with all its writes, and all that its tasks had begun below it."""
        self.take(key, lambda write: True)
        for found in list(begun_at(self._thread, key)):
            if found.ns not in self._taken:
                self.begun(found)

    def stateful(self, levels: list[CheckpointKey]) -> None:
        """Copy the memory that sub-graphs have of what ran before the innermost level."""
        for ns in self._history.namespaces():
            if ns and ":" not in ns and ns not in self._taken:
                key = self._newest_before(ns, levels)
                if key is not None:
                    self.take(key, None)

    def _newest_before(self, ns: str, levels: list[CheckpointKey]) -> CheckpointKey | None:
        history = self._history
        lines = {level.ns: led_here(self._thread, level) for level in levels}
        ids = history.ids
        # What an ancestor's step made is older than what that step led to, by any one clock.
        older = [i for i in history.span(ns) if ids[i] < levels[0].id]
        newer = [i for i in history.span(ns) if ids[i] >= levels[0].id]
        for span in (older, newer):
            for end in range(len(span), 0, -_CHUNK):
                chunk = span[max(end - _CHUNK, 0) : end]
                keys = [CheckpointKey(levels[0].thread_id, ns, ids[i]) for i in chunk]
                for key, metadata in reversed(self._thread.loader.details(keys)):
                    if was_before(key, parents_in(metadata, ns), levels, lines):
                        return CheckpointKey(*key)
        return None

    def _warn(self, sentence: str) -> None:
        self._warnings[sentence] = None


def _envelope(thread: Thread, i: int, raw: RawCheckpoint) -> Envelope:
    if raw.checkpoint.type == "msgpack" and not raw.blobs:  # all of it is here
        body = (raw.checkpoint, raw.metadata, thread.serde)
        return read_envelope(raw.key.ns, raw.key.id, raw.parent_id, *body)
    return thread.envelopes_of(raw.key.ns, [i])[i]


def led_here(thread: Thread, key: CheckpointKey) -> dict[str, str]:
    """The proper ancestors of a checkpoint whose own steps are a part of what led to it, each with
    the next one on the line.

    Where a replay or an edit began from a checkpoint whose step had been finished, that step led
    elsewhere; where it had not, what it had begun is still there.
    """
    history = thread.history
    ids = history.ids
    line = history.line(history.find(key.ns, key.id))
    found = {}
    for k, following in pairwise(line):
        older = [c for c in history.children(k) if c < following]
        if older:
            run_on = thread.made_by_running(key.ns, [*older, following])
            if following not in run_on and not run_on.isdisjoint(older):
                continue
        found[ids[k]] = ids[following]
    return found


def was_before(
    key: CheckpointKey,
    parents: Mapping[str, str],
    levels: Sequence[CheckpointKey],
    lines: Mapping[str, Mapping[str, str]],
) -> bool:
    """Whether a sub-graph's checkpoint, made during the step of `parents`, came before the
    innermost level. `lines`: what led to each level (`led_here`), by its namespace."""
    for level in levels:
        made_at = parents.get(level.ns)
        if made_at != level.id:
            following = lines[level.ns].get(made_at or "")
            # None: a sub-graph beside the levels, which had its turn in the same step.
            beside = made_at is None and level is not levels[0]
            return beside or (following is not None and key.id < following)
    return False


def parents_in(metadata: Mapping[str, Any], ns: str) -> Mapping[str, str]:
    """The checkpoints around one of a sub-graph, by namespace; the root's is ""."""
    parents = metadata.get("parents")
    if not isinstance(parents, Mapping):
        return {}
    return {k: v for k, v in parents.items() if isinstance(v, str) and k != ns}


def checkpoint_row(thread: Thread, i: int, raw: RawCheckpoint, envelope: Envelope) -> CheckpointRow:
    """A checkpoint as SqliteSaver keeps it, its joins put right. Raises `SourceError`."""
    if envelope.v == 0:
        raise SourceError(f"Checkpoint {raw.key.id} cannot be copied: {envelope.unreadable}.")
    joins = {}
    for channel in envelope.present:
        gate: Barrier | None = barrier(channel)
        names = None if gate is None else thread.arrived(i, envelope, gate)
        if names is not None:
            joins[channel] = names
    sends = _outer_sends(thread, raw, envelope)
    body = copied(raw, envelope, thread.serde, joins, sends)
    metadata = copied_metadata(raw, envelope, thread.history.step(i))
    return CheckpointRow(raw.key.ns, raw.key.id, raw.parent_id, body, metadata)


def _outer_sends(thread: Thread, raw: RawCheckpoint, envelope: Envelope) -> list[Typed]:
    """Sends that a store keeps among the parent's writes, as Postgres does before format 4."""
    if envelope.v >= _SENDS_INSIDE or not envelope.sends or raw.parent_id is None:
        return []
    if raw.checkpoint.type == "msgpack" and SENDS in (map_slices(raw.checkpoint.data) or {}):
        return []
    body = thread.serde.decode(raw.checkpoint)
    if isinstance(body, dict) and body.get(SENDS):
        return []
    where = (thread.thread_id, raw.key.ns, [raw.parent_id], [_TASKS])
    writes = thread.loader.read_writes(*where).get(raw.parent_id, ())
    return [write.value for write in writes]


def write_rows(
    key: CheckpointKey, writes: Iterator[RawWrite], serde: Serde
) -> Iterator[StoredWrite]:
    """Writes of a checkpoint as SqliteSaver keeps them. Raises `SourceError`."""
    for write in writes:
        value = plain_write(write.value, serde, key, write.channel)
        yield StoredWrite(
            key.ns, key.id, write.task_id, write.task_path, write.idx, write.channel, value
        )


def begun_at(thread: Thread, key: CheckpointKey) -> Iterator[CheckpointKey]:
    """The sub-graphs that a checkpoint's own tasks had begun: the newest checkpoint of each."""
    history = thread.history
    ids = history.ids
    for ns in history.namespaces():
        span = history.span(ns)
        # What a step begins is newer than the checkpoint that it begins at.
        newer = range(bisect_right(ids, key.id, span.start, span.stop), span.stop)
        if ns in (ROOT, key.ns) or not newer:
            continue
        # A namespace that names its task is of one checkpoint alone.
        for i in reversed(newer) if ":" not in ns else newer[-1:]:
            at = CheckpointKey(thread.thread_id, ns, ids[i])
            parents: Mapping[str, str] = {}
            for detail in thread.loader.details([at]):
                parents = parents_in(detail.metadata, ns)
            if parents.get(key.ns) == key.id and max(parents, key=len) == key.ns:
                yield at
                break


def begins_fresh(thread: Thread, key: CheckpointKey) -> bool:
    """Whether `invoke(None)` at this leaf of the root must pass `__pregel_resuming: False`.

    Without it a due sub-graph with a memory of its own is taken for one that resumes and finishes
    at once, without running; with it one that had begun here would begin again.
    """
    return next(begun_at(thread, key), None) is None
