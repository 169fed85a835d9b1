"""What `--json` prints: threads, trees, checkpoints and snapshots as plain JSON-able data.

The names are a contract with programs that read them; fields may be added. Times are ISO 8601 in
UTC, values as `values.to_json` writes them, lists of checkpoints oldest first by id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from retrograph.engine.history import NONE, History
from retrograph.engine.ids import time_of
from retrograph.engine.model import ROOT, Envelope
from retrograph.engine.steps.step import Question, Step, Task
from retrograph.engine.text import iso
from retrograph.engine.values import to_json

if TYPE_CHECKING:
    from retrograph.engine.thread import Snapshot, Thread, Write
    from retrograph.engine.threads.status import ThreadInfo
    from retrograph.engine.views.redact import Redactor

Json = dict[str, Any]
Redact = Callable[[Any], Any]
"""Metadata with what must not be shown replaced."""

_PAGE = 1_000
"""Up to so many checkpoints are read one by one rather than in one pass over all."""

_CONTROL = ("branch:", "join:", "start:", "__")


def thread_shape(info: ThreadInfo, redact: Redact) -> Json:
    """`thread`: a row of the thread list."""
    row = info.row
    return {
        "thread_id": row.thread_id,
        "status": info.status,
        "checkpoints": row.checkpoints,
        "namespaces": row.namespaces,
        "first_at": _at(row.first_id),
        "last_at": _at(row.last_id),
        "head": row.head,
        "next": list(info.next),
        "next_exact": info.step.next_exact,
        "size": row.size,
        "metadata": to_json(redact(info.metadata)),
    }


def checkpoint_shape(history: History, i: int, envelope: Envelope, step: Step) -> Json:
    """`checkpoint`: a row of the tree."""
    ns, id_ = history.ns(i), history.ids[i]
    run_id = envelope.metadata.get("run_id")
    return {
        "id": id_,
        "parent_id": history.parent_id(i),
        "ns": ns,
        "step": envelope.step if envelope.step is not None else history.step(i),
        "source": envelope.source,
        "at": _at(id_),
        "size": history.size(i),
        "run_id": run_id if isinstance(run_id, str) else None,
        "children": [history.ids[k] for k in history.children(i)],
        "leaf": not history.has_children(i),
        "head": i == history.head(ns),
        "next": list(step.next),
        "next_exact": step.next_exact,
        "repaired": step.repaired,
        "ran": list(step.ran),
        "came_by": _lists(step.came_by),
        "route": _lists(step.route),
        "interrupts": [_question(question) for question in step.questions],
        "errors": [{"node": node, "error": error} for node, error in step.errors],
    } | ({"unreadable": envelope.unreadable} if envelope.unreadable else {})


def tree_shape(
    thread: Thread,
    ns: str | None = None,
    limit: int | None = None,
    orphans: bool = False,
    looked_at: Callable[[int], None] = lambda count: None,
    redactor: Redactor | None = None,
) -> Json:
    """`tree`: all checkpoints of a thread, or of one namespace; `limit` keeps the newest.

    `head`, `leaves`, `fork_points` and `roots` are those of the root namespace, or of `ns`, and
    of the whole of it whatever the limit. `looked_at` is told how many have been read so far,
    `redactor` hides what must not be seen of questions and errors.
    """
    history = thread.history
    ids = history.ids
    kept = newest(history, ns, limit)
    read = _read(thread, ns, None if limit is None else kept)
    shapes: dict[int, Json] = {}
    for i, (envelope, step) in read:
        shapes[i] = checkpoint_shape(history, i, envelope, _shown(step, redactor))
        looked_at(len(shapes))
    top = ns or ROOT
    head = history.head(top)
    total = len(history) if ns is None else len(history.span(ns))
    left_over = thread.orphans()
    return {
        "thread_id": thread.thread_id,
        "head": ids[head] if head != NONE else None,
        "checkpoints": [shapes[i] for i in kept if i in shapes],
        "leaves": [ids[i] for i in history.leaves(top)],
        "fork_points": [ids[i] for i in history.fork_points(top)],
        "roots": [ids[i] for i in history.roots(top)],
        "truncated": len(kept) < total,
        "orphan_writes": sum(rows for _, _, rows in left_over),
    } | (
        {
            "orphans": [
                {"ns": where, "checkpoint_id": id_, "writes": rows}
                for where, id_, rows in left_over
            ]
        }
        if orphans
        else {}
    )


def _shown(step: Step, redactor: Redactor | None) -> Step:
    if redactor is None or not redactor.hides_values:
        return step
    from retrograph.engine.views.shown import shown_step

    return shown_step(step, redactor)


def _read(
    thread: Thread, ns: str | None, kept: Sequence[int] | None
) -> Iterator[tuple[int, tuple[Envelope, Step]]]:
    """Checkpoints with their steps: all, or some; a few are read by themselves."""
    from retrograph.engine.threads.ahead import read_ahead
    from retrograph.engine.threads.pages import read_page
    from retrograph.engine.threads.quick import quick_walk

    if kept is not None and len(kept) <= _PAGE:
        yield from read_page(thread, kept).items()
        return
    wanted = None if kept is None else set(kept)
    for known, name in read_ahead(thread, thread.history.namespaces() if ns is None else [ns]):
        for i, envelope, step in quick_walk(known, name, metadata=True):
            if wanted is None or i in wanted:
                yield i, (envelope, step)


def newest(history: History, ns: str | None, limit: int | None) -> list[int]:
    """The newest checkpoints of a thread, or of one namespace, oldest first by id."""
    ids = history.ids
    if ns is not None:
        kept: Sequence[int] = history.span(ns)
    else:
        kept = sorted(range(len(history)), key=ids.__getitem__)
    return list(kept if limit is None else kept[len(kept) - min(limit, len(kept)) :])


def snapshot_shape(
    history: History,
    snapshot: Snapshot,
    redact: Redact,
    raw: bool = False,
    channels: Iterable[str] | None = None,
) -> Json:
    """`snapshot`: a checkpoint with its values. `raw` adds the channels that only LangGraph
    reads; `channels` limits the values to some."""
    envelope = snapshot.envelope
    key = snapshot.key
    values: Mapping[str, Any] = snapshot.values
    if raw:
        values = {**values, **snapshot.internal}
    if channels is not None:
        every = {**snapshot.values, **snapshot.internal}
        values = {channel: every[channel] for channel in channels}
    i = history.find(key.ns, key.id)
    namespaces = set(history.namespaces())
    return {
        **checkpoint_shape(history, i, envelope, snapshot.step),
        "thread_id": key.thread_id,
        "values": {channel: to_json(value) for channel, value in values.items()},
        "metadata": to_json(redact(envelope.metadata)),
        "tasks": [_task(task, key.ns, namespaces, snapshot.writes) for task in snapshot.step.tasks],
        "writes": [
            {
                "task_id": write.task_id,
                "node": write.node,
                "channel": write.channel,
                "value": to_json(write.value),
            }
            for write in snapshot.writes
        ],
        "channel_versions": dict(envelope.versions),
        "updated_channels": None if envelope.updated is None else list(envelope.updated),
    }


def _task(task: Task, ns: str, namespaces: set[str], writes: Sequence[Write]) -> Json:
    return {
        "id": task.id,
        "name": task.node,
        "ns": _own_namespace(task, ns, namespaces),
        "error": task.error,
        "interrupts": [_question(question) for question in task.questions],
        "result": result(task, writes) if task.finished else None,
    }


def _own_namespace(task: Task, ns: str, namespaces: set[str]) -> str | None:
    """The namespace of the sub-graph that a task ran; `None` where it ran none."""
    within = f"{ns}|" if ns else ""
    stateful = f"{within}{task.node}"
    return next((name for name in (f"{stateful}:{task.id}", stateful) if name in namespaces), None)


def result(task: Task, writes: Sequence[Write]) -> Any:
    """What a finished task gave, as LangGraph shows it: its state channels, or the value that an
    entrypoint or task of the functional API returned."""
    own = [write for write in writes if write.task_id == task.id]
    for write in own:
        if write.channel in ("__return__", "__end__"):
            return to_json(write.value)
    given: Json = {}
    counts: dict[str, int] = {}
    for write in own:
        channel = write.channel
        if channel.startswith(_CONTROL) or channel == write.value == task.node:
            continue
        counts[channel] = counts.get(channel, 0) + 1
        value = to_json(write.value)
        if counts[channel] == 1:
            given[channel] = value
        elif counts[channel] == 2:
            given[channel] = {"$writes": [given[channel], value]}
        else:
            given[channel]["$writes"].append(value)
    return given


def _question(question: Question) -> Json:
    return {
        "id": question.id,
        "node": question.node,
        "value": to_json(question.value),
        "answered": question.answered,
    }


def _lists(mapping: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {node: list(destinations) for node, destinations in mapping.items()}


def _at(checkpoint_id: str) -> str | None:
    when = time_of(checkpoint_id)
    return iso(when) if when is not None else None
