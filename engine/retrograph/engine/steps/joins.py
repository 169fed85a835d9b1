"""Joins whose stored set is ahead of its checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Collection

from retrograph.engine.model import Envelope
from retrograph.engine.steps.due import Barrier, available, barrier, is_full


def corrupt_joins(
    envelope: Envelope,
    ran: Collection[str | None],
    arrived: Callable[[Barrier], Collection[str] | None],
) -> list[Barrier]:
    """Joins stored as complete before they were (langgraph #8748).

    `ran` are the nodes that left writes at this checkpoint; `arrived` gives the names that had
    truly reached a join, from the writes of the ancestors, or `None` where these are not at hand.

    The checkpoints of several steps share one set, from the step that empties it until the
    join's node runs, and each is saved in the background: one that is saved late holds names that
    arrived after it. Then the join is full although the step that led here did not fill it (it is
    not among the updated channels) and its node did not run; the ancestors' writes decide, or,
    without these, that a run leaves no full join behind.
    """
    wrong: list[Barrier] = []
    for channel in envelope.present:
        gate = barrier(channel)
        if gate is None or not available(envelope, channel):
            continue
        if envelope.updated is not None and channel in envelope.updated:
            continue
        if gate.node in ran:
            continue
        names = arrived(gate)
        in_a_run = envelope.source == "loop" and envelope.updated is not None
        if not in_a_run if names is None else is_full(gate.joined, names):
            continue
        wrong.append(gate)
    return wrong


def repair_text(gate: Barrier) -> str:
    """What was put right, and why."""
    return (
        f"the join {gate.joined} → {gate.node} was saved as complete too early "
        f"(asynchronous saving, langgraph #8748); {gate.node} is not due here"
    )
