"""What came of a run, read from the sandbox that it ran in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retrograph.engine.model import ROOT
from retrograph.engine.replay.driving import Outcome, Status
from retrograph.engine.steps.step import Question
from retrograph.engine.thread import Thread
from retrograph.engine.values import Value


@dataclass(frozen=True, slots=True)
class Result:
    """Where a run has led."""

    head: str
    step: int | None
    status: Status
    next: Sequence[str]
    """Due there, without output yet."""
    questions: Sequence[Question]
    """Open ones."""
    values: Mapping[str, Value]
    held: bool
    """The graph itself held it there (`interrupt_before`, `interrupt_after`)."""


def result_of(thread: Thread, outcome: Outcome) -> Result:
    """Read the head of a sandbox's thread. Raises `SourceError`."""
    head = thread.history.ids[thread.history.head(ROOT)]
    snapshot = thread.snapshot(ROOT, head)
    waiting = snapshot.step.waiting
    # A run that the graph's own interrupt_before holds ends as one that is done.
    held = outcome.status == "done" and bool(waiting)
    return Result(
        head=head,
        step=thread.history.step(thread.history.find(ROOT, head)),
        status="paused" if held else outcome.status,
        next=waiting,
        questions=[q for q in snapshot.step.questions if not q.answered],
        values=snapshot.values,
        held=held,
    )
