"""The history of a value: each time that it was set, by whom, and what it was then."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from retrograph.engine.ids import time_of
from retrograph.engine.search.blame import Blame, Set
from retrograph.engine.text import escape
from retrograph.engine.thread import Thread
from retrograph.engine.values import ABSENT
from retrograph.engine.views.redact import Redactor
from retrograph.engine.views.summary import one_line
from retrograph.tui.messages import ValueSettingFound, WorkEnded
from retrograph.tui.work import Job

_WIDTH = 300


@dataclass(frozen=True, slots=True)
class Setting:
    """The value being set at one checkpoint."""

    ns: str
    id: str
    step: int | None
    at: datetime | None
    who: str
    """Escaped."""
    value: str
    """In one line; escaped."""
    text: bool
    """Whether the value is a text."""
    certain: bool
    """Whether no change can have been missed between here and the newest."""


def settings(
    job: Job, thread: Thread, checkpoint: int, pointer: str, redactor: Redactor
) -> WorkEnded:
    """Post each setting as it is found, the newest first."""
    blame = Blame(thread, checkpoint, pointer, redactor)
    for found in blame:
        if job.stopped:
            break
        job.post(ValueSettingFound(_setting(thread, found, blame.certain), job.ticket))
    return WorkEnded(job.group, stopped=False)


def _setting(thread: Thread, found: Set, certain: bool) -> Setting:
    history, by = thread.history, found.by
    id_ = history.ids[found.checkpoint]
    return Setting(
        ns=history.ns(found.checkpoint),
        id=id_,
        step=by.step,
        at=time_of(id_),
        who=_who(found),
        value="removed" if found.value is ABSENT else one_line(found.value, _WIDTH),
        text=isinstance(found.value, str),
        certain=certain,
    )


def _who(found: Set) -> str:
    by = found.by
    if by.node is not None:
        return escape(by.node)
    if by.source in ("input", "update", "fork"):
        return {"input": "input", "update": "edit", "fork": "copy"}[by.source]
    return f"one of {', '.join(map(escape, by.ran))}" if by.ran else "not told"
