"""One thread of a loader, as the screens and commands want it: tree, steps, snapshots."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

from retrograph.engine.errors import RefError
from retrograph.engine.history import NONE, History
from retrograph.engine.model import (
    NULL_TASK,
    ROOT,
    CheckpointKey,
    Envelope,
    Loader,
    RawCheckpoint,
    WriteRow,
)
from retrograph.engine.serde import Serde
from retrograph.engine.serde import envelope as read_envelope
from retrograph.engine.steps.activity import Activity, observe
from retrograph.engine.steps.arrivals import arrived
from retrograph.engine.steps.channels import channel_values, split_values
from retrograph.engine.steps.deltas import delta_values
from retrograph.engine.steps.due import OLD_FORMAT, Barrier, Learned
from retrograph.engine.steps.plain import ran_plainly
from retrograph.engine.steps.rowsinstep import RowsInStep
from retrograph.engine.steps.step import Step, derive

Fold: TypeAlias = "Callable[[str, Mapping[str, Any]], Mapping[str, Any]]"
"""Whole values of a namespace's DeltaChannels, by channel; raises `HostError`."""

_RAN_ON = ("loop", None)
"""Sources of checkpoints made by running on; `None` where the metadata is unreadable."""

_LARGE = 1 << 20
"""Bytes of a neighbour that is not read only for what it may add."""
_FEW = 4
_MANY = 64
"""How many leaves are looked at to learn a graph."""


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
    """The state's channels, inert, as StateSnapshot shows them (differences: the contract)."""
    internal: Mapping[str, Any]
    """Channels that only LangGraph reads (what `--raw` adds)."""
    writes: tuple[Write, ...]
    raw: RawCheckpoint


class Thread:
    """Reads a thread piece by piece: the index at once, steps in one pass over a namespace, one
    snapshot when asked. Holds no values."""

    def __init__(self, loader: Loader, thread_id: str, serde: Serde | None = None) -> None:
        self.loader = loader
        self.thread_id = thread_id
        self.serde = serde if serde is not None else Serde.from_env()
        self.fold: Fold | None = None
        """What makes whole values of DeltaChannels, where the graph is at hand."""
        self._learned: dict[str, Learned] = {}

    @cached_property
    def history(self) -> History:
        return History.build(self.thread_id, self.loader.rows(self.thread_id))

    def refresh(self) -> None:
        """Forget the index, so that it is read again."""
        for read in ("history", "namespace_owners", "_orphans"):
            self.__dict__.pop(read, None)
        self._learned.clear()

    def walk(self, ns: str | None = None) -> Iterator[tuple[int, Envelope, Step]]:
        """Every checkpoint with its step, in the order of the history, in one pass.

        What has been passed is let go, so that memory does not grow with the thread.
        """
        for name in self.history.namespaces() if ns is None else [ns]:
            yield from self._walk_namespace(name)

    def steps(self, ns: str | None = None) -> dict[tuple[str, str], Step]:
        """Steps of all checkpoints (of one namespace), by (namespace, id)."""
        return {(envelope.ns, envelope.id): step for _, envelope, step in self.walk(ns)}

    def step(self, ns: str, checkpoint_id: str) -> Step:
        """The step of one checkpoint: reads it, its parent and its children, nothing else."""
        return self._single(self._index(ns, checkpoint_id))[1]

    def snapshot(self, ns: str, checkpoint_id: str) -> Snapshot:
        """One checkpoint with its values."""
        i = self._index(ns, checkpoint_id)
        raw = self.loader.read(CheckpointKey(self.thread_id, ns, checkpoint_id))
        known = {}
        if raw.checkpoint.type == "msgpack" and not raw.blobs:
            # All of it is in this one map, which may be large: not to be read twice.
            body = (raw.checkpoint, raw.metadata, self.serde)
            known[i] = read_envelope(ns, checkpoint_id, raw.parent_id, *body)
        envelope, step, activity = self._single_activity(i, known)
        nodes = {act.task_id: act.node for act in activity.acts}
        values, internal = split_values(channel_values(raw, self.serde), envelope)
        deltas = delta_values(self, i, envelope)
        values.update(self.fold(ns, deltas) if self.fold is not None and deltas else deltas)
        return Snapshot(
            key=raw.key,
            parent_id=raw.parent_id,
            envelope=envelope,
            step=step,
            values=values,
            internal=internal,
            writes=tuple(
                Write(
                    task_id=write.task_id,
                    node=None if write.task_id == NULL_TASK else nodes.get(write.task_id),
                    channel=write.channel,
                    value=self.serde.decode(write.value),
                    path=write.task_path,
                    idx=write.idx,
                )
                for write in raw.writes
            ),
            raw=raw,
        )

    def writers(self, ns: str, checkpoint_id: str) -> dict[str, str | None]:
        """The node of each task that left writes at a checkpoint, `None` where the store does not
        tell it. An edit made in place of a due task goes by that task's node."""
        activity = self._single_activity(self._index(ns, checkpoint_id))[2]
        return {act.task_id: act.node for act in activity.acts}

    def orphans(self) -> list[tuple[str, str, int]]:
        """(namespace, checkpoint id, rows) of writes whose checkpoint is not in the store."""
        return list(self._orphans)

    @cached_property
    def _orphans(self) -> list[tuple[str, str, int]]:
        counts: dict[tuple[str, str], int] = {}
        find = self.history.find
        last: tuple[str, str] | None = None
        lost = False
        for batch in self.loader.writes(self.thread_id):
            for row in batch:
                if (row[0], row[1]) != last:
                    last = row[0], row[1]
                    lost = find(*last) == NONE
                if lost and last is not None:
                    counts[last] = counts.get(last, 0) + 1
        return [(ns, id_, rows) for (ns, id_), rows in counts.items()]

    @cached_property
    def namespace_owners(self) -> dict[str, str]:
        """Nodes by task id, as the names of sub-graph namespaces tell: `node:task_id`."""
        last = [ns.rpartition("|")[2].partition(":") for ns in self.history.namespaces()]
        return {task: node for node, mark, task in last if mark}

    def owners(self) -> dict[int, int]:
        """For each checkpoint of a sub-graph, the checkpoint during whose step it was made."""
        history = self.history
        keys = [
            CheckpointKey(self.thread_id, history.ns(i), history.ids[i])
            for ns in history.namespaces()
            if ns != ROOT
            for i in history.span(ns)
        ]
        found = {}
        for detail in self.loader.details(keys):
            parents = detail.metadata.get("parents")
            if not isinstance(parents, Mapping):
                continue
            i = history.find(detail.key.ns, detail.key.id)
            # The innermost namespace that encloses this one, of those that are named.
            for outer in sorted(parents, key=len, reverse=True):
                owner = history.find(outer, str(parents[outer]))
                if owner != NONE and encloses(outer, detail.key.ns):
                    found[i] = owner
                    break
        return found

    # One checkpoint.

    def _index(self, ns: str, checkpoint_id: str) -> int:
        i = self.history.find(ns, checkpoint_id)
        if i == NONE:
            where = f" in namespace {ns!r}" if ns else ""
            raise RefError(f"Thread {self.thread_id!r} has no checkpoint {checkpoint_id!r}{where}.")
        return i

    def _single(self, i: int) -> tuple[Envelope, Step]:
        envelope, step, _ = self._single_activity(i)
        return envelope, step

    def _single_activity(
        self, i: int, known: Mapping[int, Envelope] = MappingProxyType({})
    ) -> tuple[Envelope, Step, Activity]:
        history = self.history
        ns = history.ns(i)
        parent = history.parent(i)
        children = history.children(i)
        twins = history.children(parent) if parent != NONE else []
        rows = self.rows_of(ns, [k for k in (i, parent) if k != NONE])
        near = {k for k in (*children[-_FEW:], history.head(ns)) if not self._is_large(k)}
        near |= {i, parent} - {NONE}
        # What ran at a large parent is told by its writes, where they are of the plain kind and
        # `i` is what came of them.
        plain = None
        if self._is_large(parent) and i in known and known[i].source == "loop" and twins == [i]:
            plain = ran_plainly(rows.get(parent, ()))
            near -= {parent} if plain is not None and known[i].v >= OLD_FORMAT else set()
        envelopes = {**known, **self.envelopes_of(ns, near - known.keys())}
        if i not in envelopes:
            raise RefError(f"Checkpoint {history.ids[i]!r} is gone from the store.")
        learned = self.learn(ns, envelopes.values())
        run_on = self.made_by_running(ns, [*children, *twins])
        reader = Reader(self, ns, learned)
        own = reader.observe(i, envelopes[i], rows.get(i, ()), any(c in run_on for c in children))
        before = None
        if parent in envelopes:
            before = reader.observe(parent, envelopes[parent], rows.get(parent, ()), i in run_on)
        step = derive(
            own,
            before,
            learned,
            self.serde.decode,
            twins=sum(t in run_on for t in twins),
            ids=True,
        )
        if plain is not None and before is None:
            due = {task.node for task in own.due}
            came_by = {n: tuple(d for d in to if d in due) for n, to in plain.came_by().items()}
            step = replace(step, ran=tuple(sorted(came_by)), came_by=came_by)
        return envelopes[i], step, own

    def _is_large(self, i: int) -> bool:
        return i != NONE and (self.history.size(i) or 0) > _LARGE

    def envelopes_of(self, ns: str, wanted: Collection[int]) -> dict[int, Envelope]:
        ids = [self.history.ids[i] for i in sorted(set(wanted))]
        return {
            self.history.find(ns, envelope.id): envelope
            for batch in self.loader.envelopes(self.thread_id, ns, ids)
            for envelope in batch
        }

    def rows_of(self, ns: str, wanted: Collection[int]) -> dict[int, list[WriteRow]]:
        rows: dict[int, list[WriteRow]] = {}
        ids = [self.history.ids[i] for i in sorted(set(wanted))]
        for batch in self.loader.writes(self.thread_id, ns, ids):
            for row in batch:
                rows.setdefault(self.history.find(ns, row[1]), []).append(row)
        return rows

    def made_by_running(self, ns: str, wanted: Collection[int]) -> set[int]:
        """Those of the checkpoints that were made by running on from their parent."""
        ids = self.history.ids
        keys = [CheckpointKey(self.thread_id, ns, ids[i]) for i in sorted(set(wanted))]
        return {
            self.history.find(ns, detail.key.id)
            for detail in self.loader.details(keys)
            if detail.metadata.get("source") in _RAN_ON
        }

    def learn(self, ns: str, near: Iterable[Envelope]) -> Learned:
        """What is known of the namespace's graph: all of it for old formats, else what is near."""
        near = list(near)
        if all(envelope.v >= OLD_FORMAT for envelope in near):
            return Learned.of(near)
        if ns not in self._learned:
            learned = Learned()
            for batch in self.loader.envelopes(self.thread_id, ns):
                for envelope in batch:
                    learned.add(envelope)
            self._learned[ns] = learned
        return self._learned[ns]

    def arrived(self, i: int, envelope: Envelope, gate: Barrier) -> set[str] | None:
        """The names that had truly reached a join by `i`; `None` where it cannot be told."""
        return arrived(self, i, envelope, gate)

    # A whole namespace.

    def _walk_namespace(self, ns: str) -> Iterator[tuple[int, Envelope, Step]]:
        history = self.history
        span = history.span(ns)
        leaves = history.leaves(ns)
        sample = self.envelopes_of(ns, [*leaves[-_MANY:], *history.roots(ns)[:_FEW]])
        learned = self.learn(ns, sample.values())
        old = any(envelope.v < OLD_FORMAT for envelope in sample.values())
        families = {i: history.children(i) for i in history.fork_points(ns)}
        forked = [child for family in families.values() for child in family]
        run_on = self.made_by_running(ns, span if old else forked)
        twins = {i: sum(child in run_on for child in family) for i, family in families.items()}
        reader = Reader(self, ns, learned)
        alive: dict[int, tuple[Activity, int]] = {}
        rows = RowsInStep(self.loader.writes(self.thread_id, ns))
        for batch in self.loader.envelopes(self.thread_id, ns):
            for envelope in batch:
                i = history.find(ns, envelope.id)
                if i == NONE:
                    continue  # written since the index was read
                children = history.children(i)
                learned.add(envelope)
                known = old or len(children) != 1
                ran_on = any(child in run_on for child in children) if known else None
                own = reader.observe(i, envelope, rows.of(envelope.id), ran_on)
                if children:
                    alive[i] = (own, len(children))
                parent = history.parent(i)
                before = self._parent_activity(ns, parent, alive, reader)
                running = twins.get(parent, 1)
                yield i, envelope, derive(own, before, learned, self.serde.decode, twins=running)

    def _parent_activity(
        self, ns: str, parent: int, alive: dict[int, tuple[Activity, int]], reader: Reader
    ) -> Activity | None:
        if parent == NONE:
            return None
        if parent in alive:
            activity, left = alive[parent]
            if left == 1:
                del alive[parent]
            else:
                alive[parent] = (activity, left - 1)
            return activity
        # A parent with a greater id than its child: read out of turn.
        envelopes = self.envelopes_of(ns, [parent])
        if parent not in envelopes:
            return None
        rows = self.rows_of(ns, [parent]).get(parent, ())
        return reader.observe(parent, envelopes[parent], rows, True)


def encloses(outer: str, inner: str) -> bool:
    """Whether a namespace is an ancestor of another, by whole segments (`a` never holds `ab`)."""
    return outer == ROOT or inner.startswith(outer + "|")


class Reader:
    """Observes checkpoints of one namespace, and settles suspicious joins by their ancestors."""

    def __init__(self, thread: Thread, ns: str, learned: Learned) -> None:
        self._thread = thread
        self._ns = ns
        self._learned = learned

    def observe(
        self, i: int, envelope: Envelope, rows: Sequence[WriteRow], ran_on: bool | None
    ) -> Activity:
        """`ran_on`: whether a child was made by running on from here; `None` where that has not
        been asked yet, which is only done where it tells something."""
        thread = self._thread
        found = observe(
            envelope,
            rows,
            self._learned,
            arrived=lambda gate: thread.arrived(i, envelope, gate),
            ran_on=bool(ran_on),
            owners=thread.namespace_owners,
        )
        if ran_on is None and found.asks:
            children = thread.history.children(i)
            found = replace(found, ran_on=bool(thread.made_by_running(self._ns, children)))
        return found
