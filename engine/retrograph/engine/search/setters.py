"""Which task wrote the value that a channel has at a checkpoint, told from its parent's writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retrograph.engine.diff.sameness import same
from retrograph.engine.history import NONE
from retrograph.engine.model import NULL_TASK, RawWrite
from retrograph.engine.search.tracking import Track
from retrograph.engine.thread import Thread
from retrograph.engine.threads.pages import read_page
from retrograph.engine.values import ABSENT, Value


@dataclass(frozen=True, slots=True)
class Setter:
    """Who made a checkpoint's value of a channel."""

    node: str | None
    """`None` for edits, inputs and copies, and where several nodes ran and the store does not
    tell which it was."""
    task_id: str | None
    source: str | None
    """Of the checkpoint: input, loop, update or fork."""
    step: int | None
    ran: tuple[str, ...]
    """Nodes whose finishing led to the checkpoint."""


def setter(
    thread: Thread, checkpoint: int, channel: str, track: Track, target: Value, whole: Value
) -> Setter:
    """Who wrote what stands at `track` of the channel: `target`, in the value `whole`.

    Reads the checkpoint's and its parent's step, and the parent's writes to this channel; these
    are decoded only where several tasks wrote it.
    """
    history = thread.history
    parent = history.parent(checkpoint)
    page = read_page(thread, {checkpoint, parent} - {NONE})
    if checkpoint not in page:
        return Setter(None, None, None, history.step(checkpoint), ())
    envelope, step = page[checkpoint]
    number = envelope.step if envelope.step is not None else history.step(checkpoint)
    node, task_id = None, None
    if envelope.source not in ("input", "fork") and parent in page:
        ns, above = history.ns(checkpoint), history.ids[parent]
        made = thread.loader.read_writes(thread.thread_id, ns, [above], [channel])
        writes = made.get(above, ())
        nodes = thread.writers(ns, above) if writes else {}
        due = {task.id for task in page[parent][1].tasks if task.finished}
        if envelope.source == "update":
            # No due task made its writes, where they were stored.
            own = [write for write in writes if write.task_id not in due] or list(writes)
            holding = _holding(thread, own, track, target, target)
            task_id = holding.task_id if holding is not None else None
        else:
            node, task_id = _task(thread, writes, nodes, step.ran, track, target, whole)
    return Setter(node, task_id, envelope.source, number, step.ran)


def _task(
    thread: Thread,
    writes: Sequence[RawWrite],
    nodes: Mapping[str, str | None],
    ran: Sequence[str],
    track: Track,
    target: Value,
    whole: Value,
) -> tuple[str | None, str | None]:
    # Of two lines that go on from one checkpoint, the writes may be those of the other one.
    known = [write for write in writes if nodes.get(write.task_id) is not None]
    own = [write for write in known if not ran or nodes[write.task_id] in ran] or known
    if not own and any(write.task_id == NULL_TASK for write in writes):
        return None, NULL_TASK  # given with the input, or with an answer
    tasks = {write.task_id for write in own}
    if len(tasks) > 1:
        holding = _holding(thread, own, track, target, whole)
        tasks = {holding.task_id} if holding is not None else tasks
    if len(tasks) == 1:
        (task_id,) = tasks
        return nodes[task_id], task_id
    names = {nodes[task_id] for task_id in tasks} or set(ran)
    return (next(iter(names)) if len(names) == 1 else None), None


def _holding(
    thread: Thread, writes: Sequence[RawWrite], track: Track, target: Value, whole: Value
) -> RawWrite | None:
    """The last write, as LangGraph applies them, that holds the value."""
    for write in reversed(writes):
        value = thread.serde.decode(write.value)
        if track.holds(value, target) or (target is not ABSENT and same(value, whole)):
            return write
    return None
