"""What of a thread may be shown: steps, snapshots and changes as a `Redactor` leaves them.

Comparing, searching and tracing work on what is stored, so that a change of a hidden value is
still a change; what they found passes through here before anybody sees it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from retrograph.engine.model import Envelope
from retrograph.engine.values import ABSENT, Value, children
from retrograph.engine.views.redact import REDACTED, Redactor

if TYPE_CHECKING:
    from retrograph.engine.diff.changes import Change
    from retrograph.engine.steps.step import Question, Step
    from retrograph.engine.thread import Snapshot
    from retrograph.engine.threads.status import ThreadInfo


def shown_snapshot(snapshot: Snapshot, redactor: Redactor) -> Snapshot:
    """The snapshot with values, writes, questions, errors and metadata redacted. `raw` stays:
    it is for reading bytes, never for showing them."""
    envelope = _envelope(snapshot.envelope, redactor)
    if not redactor.hides_values:
        return replace(snapshot, envelope=envelope)
    writes = tuple(
        replace(write, value=shown_write(write.channel, write.value, redactor))
        for write in snapshot.writes
    )
    return replace(
        snapshot,
        envelope=envelope,
        step=shown_step(snapshot.step, redactor),
        values=shown_state(snapshot.values, redactor),
        internal=shown_state(snapshot.internal, redactor),
        writes=writes,
    )


def shown_step(step: Step, redactor: Redactor) -> Step:
    """The step with questions and errors redacted."""
    if not redactor.hides_values or not (step.questions or step.errors):
        return step
    tasks = tuple(
        replace(
            task,
            error=None if task.error is None else redactor.text(task.error),
            questions=_questions(task.questions, redactor),
        )
        for task in step.tasks
    )
    return replace(
        step,
        tasks=tasks,
        questions=_questions(step.questions, redactor),
        errors=tuple((node, redactor.text(error)) for node, error in step.errors),
    )


def shown_info(info: ThreadInfo, redactor: Redactor) -> ThreadInfo:
    """A row of the thread list with metadata, questions and errors redacted."""
    metadata = redactor.metadata(dict(info.metadata))
    return replace(info, metadata=metadata, step=shown_step(info.step, redactor))


def shown_state(values: Value, redactor: Redactor) -> Value:
    """Values by channel (names of channels are always shown), or any other value."""
    if not isinstance(values, Mapping):
        return redactor.value(values)
    return {channel: shown_write(channel, value, redactor) for channel, value in values.items()}


def shown_write(channel: str, value: Value, redactor: Redactor) -> Value:
    """A value that was written to a channel, or stands in it."""
    shown = redactor.value({channel: value})
    # A channel whose own name must not be seen is renamed there.
    return next(iter(shown.values())) if isinstance(shown, dict) and shown else REDACTED


def shown_at(top: Value, path: Sequence[object], redactor: Redactor) -> Value:
    """What stands at a path of a state, as far as it may be seen. `top` holds all of the channel,
    since a key further up may hide it."""
    return _at(shown_state(top, redactor), path)[1]


def shown_path(path: Sequence[object], redactor: Redactor) -> tuple[object, ...]:
    """A path with what the user's patterns match in its keys replaced."""
    return tuple(redactor.text(key) if isinstance(key, str) else key for key in path)


def shown_changes(
    old: Value, new: Value, changes: Iterable[Change], redactor: Redactor
) -> tuple[Value, Value, list[Change]]:
    """Both states and the changes between them, redacted alike. Changes inside something hidden
    become one: that it changed is told, and nothing else."""
    if not redactor.hides_values:
        return old, new, list(changes)
    before, after = shown_state(old, redactor), shown_state(new, redactor)
    found: dict[tuple[object, ...], Change] = {}
    for change in changes:
        shown = _change(change, before, after)
        found.setdefault((shown.op, shown.old_path, shown.new_path), shown)
    return before, after, list(found.values())


def _change(change: Change, before: Value, after: Value) -> Change:
    old, new = ABSENT, ABSENT
    was, now = change.old_path, change.new_path
    if was is not None:
        was, old = _at(before, was)
    if now is not None:
        now, new = _at(after, now)
    hidden = (was is not None and len(was) < len(change.old_path or ())) or (
        now is not None and len(now) < len(change.new_path or ())
    )
    if not hidden:
        return replace(change, old_path=was, new_path=now, old=old, new=new)
    from retrograph.engine.diff.changes import Change

    # One side may be hidden further up than the other: both are told where the nearer one is.
    known = [path for path in (was, now) if path is not None]
    at = min(known, key=len)
    return Change("replace", was or at, now or at, REDACTED, REDACTED, change.key)


def _at(value: Value, path: Sequence[object]) -> tuple[tuple[object, ...], Value]:
    """The keys as they are shown, as far as they lead, and what stands there; `REDACTED` where
    something further up is hidden."""
    done: list[object] = []
    for key in path:
        step = _child(value, key)
        if step is None:
            return tuple(done), REDACTED
        done.append(step[0])
        value = step[1]
    return tuple(done), value


def _child(value: Value, key: object) -> tuple[object, Value] | None:
    if isinstance(value, (list, tuple)):
        if isinstance(key, int) and 0 <= key < len(value):
            return key, value[key]
        return None
    for name, held in children(value):
        if type(name) is type(key) and name == key:
            return key, held
    return None


def _questions(questions: Sequence[Question], redactor: Redactor) -> tuple[Question, ...]:
    return tuple(replace(q, value=redactor.value(q.value)) for q in questions)


def _envelope(envelope: Envelope, redactor: Redactor) -> Envelope:
    metadata = redactor.metadata(dict(envelope.metadata))
    return replace(envelope, metadata=metadata)
