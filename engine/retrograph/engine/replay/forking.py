"""A fork: an edited child of a checkpoint, or new input at it, seen before it is made.

`preview_fork` works it out in the host's memory; `make_fork` writes it, into a sandbox.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from retrograph.engine.diff.changes import Change, diff
from retrograph.engine.edits.plan import INPUT, Asked, Plan, plan_edits
from retrograph.engine.edits.toolcalls import broken_calls
from retrograph.engine.errors import UsageError
from retrograph.engine.host.client import Host, HostFailedError
from retrograph.engine.host.folding import folded
from retrograph.engine.host.requests import Preview, preview
from retrograph.engine.model import NULL_TASK, ROOT, CheckpointKey
from retrograph.engine.replay.carried import carried, config_of
from retrograph.engine.replay.recordings import recordings_of
from retrograph.engine.sandbox.closure import Closure, begun_at, for_replay
from retrograph.engine.sandbox.file import Sandbox, add_rows
from retrograph.engine.sandbox.make import make_sandbox
from retrograph.engine.thread import Snapshot, Thread
from retrograph.engine.threads.producers import AS_NODE, HELD, REROUTED, producers
from retrograph.engine.values import ABSENT, Value, from_json


@dataclass(frozen=True, slots=True)
class Fork:
    """What a fork is, or would be."""

    key: CheckpointKey
    """The checkpoint that is forked from."""
    closure: Closure
    preview: Preview
    before: Mapping[str, Value]
    """The edited channels as they are; of a pending input, its parts."""
    after: Mapping[str, Value]
    changes: Sequence[Change]
    as_node: str | None
    warnings: Sequence[str] = field(default=())

    @property
    def next_before(self) -> Sequence[str] | None:
        return self.preview.next_before

    @property
    def next(self) -> Sequence[str] | None:
        return self.preview.next

    @property
    def route_changed(self) -> bool:
        return self.next_before != self.next

    @property
    def is_dead(self) -> bool:
        """Whether nothing would run from it."""
        return self.next is not None and not self.next


def preview_fork(
    host: Host,
    thread: Thread,
    key: CheckpointKey,
    asked: Asked,
    *,
    as_node: str | None = None,
    config: Mapping[str, Any] | None = None,
) -> Fork:
    """Work out a fork. No node runs; routers do, and reducers where they are asked for.

    `config`: `--config`, over what the checkpoint's metadata carries. Raises `UsageError`,
    `RefError`, `DecodeError` for an edit that makes no sense or does not fit the graph,
    `SourceError` where the checkpoint cannot be copied, `HostError` where the host cannot say.
    """
    if asked.nothing and as_node is None:
        raise UsageError(
            "Nothing is to be edited: give --set, --delete, --values, --edit, --input or --as-node."
        )
    snapshot = thread.snapshot(key.ns, key.id)
    closure = for_replay(thread, key.ns, key.id)
    is_input = INPUT in snapshot.internal
    fresh = asked.has_input and not is_input
    if fresh and (key.ns or as_node or asked.sets or asked.values or asked.deletes):
        raise UsageError(
            "A new input goes in at a checkpoint of the root graph, and by itself: an edit of the "
            "state and an input are two forks, one after the other."
        )
    plan = _no_edits(snapshot) if fresh else _plan(host, thread, key, snapshot, asked)
    led = producers(thread, key.ns, key.id)
    metadata = snapshot.envelope.metadata
    seen = _asked_of(
        host,
        closure.rows,
        key.ns,
        key.id,
        plan.edits,
        led.writes,
        nodes=led.nodes,
        edited=led.edited,
        alone=led.alone,
        as_node=as_node,
        input=thread.serde.encode(from_json(asked.input)) if fresh else None,
        config=config_of(metadata, config or {}),
        metadata={**carried(metadata), **_marks(key, as_node)},
    )
    if as_node is None and not fresh:
        row = seen.row._replace(metadata=_marked(seen.row.metadata, seen.rerouted))
        seen = replace(seen, row=row)
    after = _after(thread, seen, plan)
    return Fork(
        key=key,
        closure=closure,
        preview=seen,
        before=plan.before,
        after=after,
        changes=diff(plan.before, after),
        as_node=as_node,
        warnings=[
            *closure.warnings,
            *seen.warnings,
            *broken_calls(plan.before, after),
            *_about(snapshot, seen),
        ],
    )


def _asked_of(host: Host, *what: Any, **more: Any) -> Preview:
    try:
        return preview(host, *what, **more)
    except HostFailedError as error:
        if error.error.get("kind") == "request":  # what was asked for does not fit the graph
            raise UsageError(str(error)) from error
        raise


def make_fork(
    thread: Thread,
    fork: Fork,
    source: str,
    *,
    full: bool = False,
    folder: Path | None = None,
    copied: Callable[[int], None] = lambda count: None,
) -> Sandbox:
    """Write a fork into a new sandbox. Raises `SourceError`."""
    return make_sandbox(
        thread,
        fork.closure,
        source,
        full=full,
        edited=[fork.preview.row],
        recorded=recordings_of(thread, fork.key),
        folder=folder,
        copied=copied,
    )


def went_on_in(sandbox: Sandbox, thread: Thread, fork: Fork) -> bool:
    """Write a fork into the sandbox that it was made in, and say whether that could be done: its
    checkpoint must be the head, and nothing must have come of that yet."""
    key, history = fork.key, thread.history
    if key.ns != ROOT or history.ids[history.head(ROOT)] != key.id or not sandbox.is_writable:
        return False
    writes = thread.loader.read_writes(key.thread_id, key.ns, [key.id]).get(key.id, ())
    output = any(write.idx >= 0 and write.task_id != NULL_TASK for write in writes)
    if output or next(begun_at(thread, key), None) is not None:
        return False
    add_rows(sandbox.path, key.thread_id, [fork.preview.row])
    return True


def _marks(key: CheckpointKey, as_node: str | None) -> dict[str, Any]:
    marks: dict[str, Any] = {"retrograph_from": key.id}
    if as_node is not None:
        marks[AS_NODE] = as_node
    return marks


def _marked(metadata: bytes, rerouted: bool) -> bytes:
    """The metadata of an edit: what led to it is what led to the checkpoint."""
    mark = REROUTED if rerouted else HELD
    return json.dumps({**json.loads(metadata), mark: True}, ensure_ascii=False).encode()


def _plan(host: Host, thread: Thread, key: CheckpointKey, snapshot: Snapshot, asked: Asked) -> Plan:
    def whole(channel: str) -> Value:
        return folded(host, thread, key.ns, {channel: snapshot.values[channel]})[channel]

    return plan_edits(snapshot, asked, thread.serde, whole)


def _no_edits(snapshot: Snapshot) -> Plan:
    return Plan((), {}, {}, pending_input=True)


def _after(thread: Thread, seen: Preview, plan: Plan) -> Mapping[str, Value]:
    """The edited channels as they came out of the host."""
    values = {name: thread.serde.decode(typed) for name, typed in seen.values.items()}
    if plan.pending_input:
        pending = values.get(INPUT, ABSENT)
        return pending if isinstance(pending, dict) else {"input": pending}
    return values


def _about(snapshot: Snapshot, seen: Preview) -> list[str]:
    """What is worth knowing before it is made."""
    step = snapshot.step
    said = []
    finished = sorted(
        task.node
        for task in step.tasks
        if task.finished and (seen.next is None or task.node in seen.next)
    )
    if finished and step.waiting:
        verb = "run" if len(finished) > 1 else "runs"
        said.append(
            f"Of this step {', '.join(finished)} had finished, and {', '.join(step.waiting)} had "
            f"not: on the fork {', '.join(finished)} {verb} again."
        )
    if seen.next is not None and not seen.next:
        said.append(
            "Nothing is due on this fork, so nothing would run from it."
            if seen.next_before
            else "Nothing was due here and nothing is on the fork: the thread had ended. To go on "
            "from it give --input, or --as-node with the node that shall have written the edit."
        )
    return said
