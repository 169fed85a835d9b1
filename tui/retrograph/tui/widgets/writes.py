"""The Writes tab: what each task of this step wrote, asked, or failed with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from retrograph.engine.history import NONE
from retrograph.engine.ids import time_of
from retrograph.engine.model import NULL_TASK
from retrograph.engine.steps.step import Task
from retrograph.engine.text import duration
from retrograph.engine.thread import Write
from retrograph.engine.tree.labels import Signs
from retrograph.tui.reading.inspected import Inspected
from retrograph.tui.widgets.outline import OutlineRows

_OWN = ("branch:", "join:", "start:")


class WritesTab(OutlineRows):
    """An outline of tasks, each open: its channels with the values written."""

    plain_top = True

    def show(self, inspected: Inspected | None) -> None:
        if inspected is None:
            self.load({})
            return
        tasks = by_task(inspected, self.ui.signs)
        self.say_empty("" if tasks else _why_none(inspected))
        self.load(tasks)
        self.open_all()


def _why_none(inspected: Inspected) -> str:
    if inspected.snapshot.step.next:
        return "Nothing was written here yet: the nodes that are due have not run."
    return "Nothing is due here: this line is finished."


def by_task(inspected: Inspected, signs: Signs) -> dict[str, dict[str, Any]]:
    """Title of each task → what it did, in the order of the tasks; then what no task wrote."""
    snapshot = inspected.snapshot
    found: dict[str, dict[str, Any]] = {}
    seen: set[str] = set()
    for task in snapshot.step.tasks:
        own = [write for write in snapshot.writes if write.task_id == task.id]
        seen.update(write.task_id for write in own)
        title = _unique(f"{task.node} {signs.dot} {_state(task)}", found)
        found[title] = dict(_did(task, own))
    others: dict[str, list[Write]] = {}
    for write in snapshot.writes:
        if write.task_id not in seen:
            others.setdefault(write.task_id, []).append(write)
    for task_id, own in others.items():
        who = "input or command" if task_id == NULL_TASK else own[0].node or task_id
        found[_unique(f"{who}", found)] = dict(_values(own))
    seconds = seconds_to_next(inspected)
    if found and seconds is not None:
        found[f"next checkpoint after {duration(seconds)}"] = {}
    return found


def _did(task: Task, own: list[Write]) -> Iterator[tuple[str, Any]]:
    if task.route is not None:
        yield "went to", ", ".join(task.route) or "END"
    if task.error is not None:
        yield "error", task.error
    for k, question in enumerate(task.questions):
        number = f" {k + 1}" if len(task.questions) > 1 else ""
        yield f"question{number}", question.value
        yield f"answered{number}", question.answered
    yield from _values(own)


def _values(own: list[Write]) -> Iterator[tuple[str, Any]]:
    counts: dict[str, int] = {}
    for write in own:
        if write.channel.startswith(_OWN) or write.channel in ("__error__", "__interrupt__"):
            continue
        n = counts[write.channel] = counts.get(write.channel, 0) + 1
        yield (write.channel if n == 1 else f"{write.channel} ({n})"), write.value


def _state(task: Task) -> str:
    if task.error is not None:
        return "failed"
    if task.finished:
        return "finished"
    if any(not question.answered for question in task.questions):
        return "asks"
    return "has not finished"


def _unique(title: str, taken: dict[str, Any]) -> str:
    n, name = 1, title
    while name in taken:
        n += 1
        name = f"{title} ({n})"
    return name


def seconds_to_next(inspected: Inspected) -> float | None:
    """From this checkpoint to its first child, which is how long the step took."""
    history = inspected.history
    children = history.children(inspected.checkpoint)
    if not children or children[0] == NONE:
        return None
    began, ended = time_of(history.ids[inspected.checkpoint]), time_of(history.ids[children[0]])
    return (ended - began).total_seconds() if began and ended else None
