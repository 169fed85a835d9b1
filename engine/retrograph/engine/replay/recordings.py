"""What nodes gave on a line: their stored writes, super-step after super-step.

A node's rows among the writes are its output, so nothing else need have recorded it. Those
of sub-graphs are counted by the sub-graph's name: where one was sent to several times at once,
which of its runs a super-step was of cannot be told later, and nothing is recorded of its nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from retrograph.engine.errors import SourceError
from retrograph.engine.history import NONE
from retrograph.engine.host.runs import Task
from retrograph.engine.model import NULL_TASK, ROOT, CheckpointKey, RawWrite, Typed
from retrograph.engine.replay.messageids import with_ids
from retrograph.engine.sandbox.body import plain_write
from retrograph.engine.sandbox.closure import levels_of, parents_in
from retrograph.engine.sandbox.recorded import get_recorded
from retrograph.engine.steps.activity import CONTROL
from retrograph.engine.steps.taskids import parse_path
from retrograph.engine.thread import Thread

Key = tuple[str, str]
"""(sub-graph without task ids, node)."""

Steps = list[list[Task]]
Recordings = Mapping[Key, Steps]

_AHEAD: Final = 64
"""Checkpoints that are looked at together."""
_NOBODY: Final = ("__start__", "__input__")


class _Place(NamedTuple):
    """A checkpoint whose own step is looked at, and the one that it led to."""

    ns: str
    id: str
    after: str | None


def recordings(thread: Thread, key: CheckpointKey, leaf: str | None = None) -> Recordings:
    """What every node gave from a checkpoint on, its own step included, along the line to `leaf`
    (by default the newest leaf below it). What cannot be copied is left out."""
    levels = levels_of(thread, key.ns, key.id)
    gatherer = _Gatherer(thread, levels[0].id)
    inner: CheckpointKey | None = None
    for level in reversed(levels):
        taken = {inner.ns} if inner is not None else set()
        line = line_from(thread, level, leaf if inner is None else None)
        gatherer.add(line, taken)
        inner = level
    return gatherer.recordings()


def consumed(thread: Thread, start: CheckpointKey, end: CheckpointKey) -> Mapping[Key, int]:
    """In how many super-steps each node has run between two checkpoints of a line."""
    history = thread.history
    line = [history.ids[i] for i in history.line(history.find(end.ns, end.id))]
    if start.id not in line:
        return {}
    gatherer = _Gatherer(thread, start.id)
    places = [_Place(start.ns, id_, None) for id_ in line[line.index(start.id) : -1]]
    gatherer.add(places, set())
    return {key: len(steps) for key, steps in gatherer.found.items()}


def line_from(thread: Thread, key: CheckpointKey, leaf: str | None = None) -> list[_Place]:
    """The checkpoints from one to `leaf`, by default to the newest leaf below it."""
    history = thread.history
    i = history.find(key.ns, key.id)
    ends = history.leaves(key.ns) if leaf is None else [history.find(key.ns, leaf)]
    for end in reversed(ends):
        line = [] if end == NONE else history.line(end)
        if i in line:
            ids = _until_input(thread, key.ns, [history.ids[k] for k in line[line.index(i) :]])
            return [_Place(key.ns, a, b) for a, b in zip(ids, [*ids[1:], None], strict=True)]
    return [_Place(key.ns, key.id, None)]


def _until_input(thread: Thread, ns: str, ids: list[str]) -> list[str]:
    """The beginning of a line up to where a new input came in: a replay ends there."""
    for at in range(1, len(ids), _AHEAD):
        keys = [CheckpointKey(thread.thread_id, ns, id_) for id_ in ids[at : at + _AHEAD]]
        for detail in thread.loader.details(keys):
            if detail.metadata.get("source") == "input":
                return ids[: ids.index(detail.key.id)]
    return ids


def bare(ns: str) -> str:
    """A namespace without task ids and counters."""
    return "|".join(part.split(":")[0] for part in ns.split("|") if not part.isdigit())


class _Gatherer:
    """Collects the outputs of the steps that it is shown, in their order."""

    def __init__(self, thread: Thread, since: str) -> None:
        """`since`: the oldest checkpoint whose sub-graphs matter."""
        self.found: dict[Key, Steps] = defaultdict(list)
        self._thread = thread
        self._ambiguous: set[str] = set()
        self._broken: set[Key] = set()
        self._begun = _begun(thread, since)

    def recordings(self) -> Recordings:
        return {
            key: steps
            for key, steps in self.found.items()
            if key not in self._broken and not self._is_ambiguous(key[0])
        }

    def add(self, places: Sequence[_Place], taken: set[str]) -> None:
        """Steps of one namespace, and the sub-graphs that ran during them; not those in the
        namespaces `taken`."""
        thread = self._thread
        for at in range(0, len(places), _AHEAD):
            chunk = places[at : at + _AHEAD]
            ids = [place.id for place in chunk]
            stored = thread.loader.read_writes(thread.thread_id, chunk[0].ns, ids)
            for place in chunk:
                self._add(place, taken, stored.get(place.id, ()))

    def _add(self, place: _Place, taken: set[str], stored: Sequence[RawWrite]) -> None:
        step: dict[Key, list[Task]] = defaultdict(list)
        for (node, send), writes in _tasks(self._thread, place, stored):
            key = (bare(place.ns), node)
            try:
                step[key].append(Task(send, _copied(self._thread, place, writes)))
            except SourceError:
                self._broken.add(key)
        for key, tasks in step.items():
            self.found[key].append(tasks)
        by_ns: dict[str, list[str]] = defaultdict(list)
        for ns, id_ in self._begun.get((place.ns, place.id), ()):
            if ns not in taken:
                by_ns[ns].append(id_)
        names = [bare(ns) for ns in by_ns]
        self._ambiguous.update(name for name in names if names.count(name) > 1)
        for ns, ids in by_ns.items():
            ids.sort()
            pairs = zip(ids, [*ids[1:], None], strict=True)
            self.add([_Place(ns, id_, after) for id_, after in pairs], taken)

    def _is_ambiguous(self, ns: str) -> bool:
        return any(ns == name or ns.startswith(f"{name}|") for name in self._ambiguous)


def _begun(thread: Thread, since: str) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """(namespace, id) of a checkpoint to those of the sub-graphs that its step made."""
    history = thread.history
    keys = [
        CheckpointKey(thread.thread_id, ns, history.ids[i])
        for ns in history.namespaces()
        if ns != ROOT
        for i in history.span(ns)
        if history.ids[i] > since
    ]
    found: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for detail in thread.loader.details(keys):
        parents = parents_in(detail.metadata, detail.key.ns)
        if parents:
            outer = max(parents, key=len)
            found[outer, parents[outer]].append((detail.key.ns, detail.key.id))
    return found


def _tasks(
    thread: Thread, place: _Place, stored: Sequence[RawWrite]
) -> Iterator[tuple[tuple[str, int | None], list[RawWrite]]]:
    """((node, Send), writes) of the tasks that finished at a checkpoint, of all `stored` there."""
    by_task: dict[str, list[RawWrite]] = defaultdict(list)
    for write in stored:
        if write.task_id != NULL_TASK and write.channel not in CONTROL:
            by_task[write.task_id].append(write)
    known: dict[str | None, tuple[str, int | None]] | None = None
    for task_id, writes in by_task.items():
        kind, node, send = parse_path(writes[0].task_path)
        if kind in ("call", "handler", "update"):
            continue
        if node is None:
            if known is None:
                tasks = thread.step(place.ns, place.id).tasks
                known = {task.id: (task.node, task.send) for task in tasks}
            node, send = known.get(task_id, (None, send))
        if node is not None and node not in _NOBODY:
            yield (node, send), writes


def _copied(thread: Thread, place: _Place, writes: Sequence[RawWrite]) -> list[tuple[str, Typed]]:
    key = CheckpointKey(thread.thread_id, place.ns, place.id)
    copied = [(w.channel, plain_write(w.value, thread.serde, key, w.channel)) for w in writes]
    return with_ids(thread, place.ns, place.after, copied)


def recordings_of(thread: Thread, key: CheckpointKey, leaf: str | None = None) -> Recordings:
    """What is recorded from a checkpoint on: of a sandbox's, what it keeps of the original line,
    less what has run in it since; of any other source's, its own line."""
    sandbox = getattr(thread.loader, "sandbox", None)
    if sandbox is None or leaf is not None:
        return recordings(thread, key, leaf)
    kept = get_recorded(sandbox.path)
    start = CheckpointKey(key.thread_id, sandbox.origin.ns, sandbox.origin.checkpoint_id)
    gone = consumed(thread, start, key)
    left = {at: steps[gone.get(at, 0) :] for at, steps in kept.items()}
    return {at: steps for at, steps in left.items() if steps}
