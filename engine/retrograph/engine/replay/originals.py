"""Where nodes went on the original line, to be held against where they go now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrograph.engine.model import Typed
from retrograph.engine.replay.recordings import Key, Recordings, bare
from retrograph.engine.serde import send_node
from retrograph.engine.steps.due import TASKS, named_destination

_FORMAT = 4
"""Of the channels' names: a sandbox holds those of any LangGraph that can run it."""


class Originals:
    """The recorded routes of a replay, counted as the policies count: the n-th super-step of a node
    stands against the n-th recorded one, a Send against the same Send."""

    def __init__(self, recordings: Recordings) -> None:
        self._recordings = recordings
        self._numbers: dict[Key, dict[tuple[str, int | None], int]] = {}

    def route(
        self, ns: str, node: str, step: int | None, send: int | None
    ) -> tuple[str, ...] | None:
        """Where the task went then, in order; `None` where nothing is recorded of it. `ns` is the
        namespace that the task runs in, `step` its super-step."""
        key = (bare(ns), node)
        numbers = self._numbers.setdefault(key, {})
        number = numbers.setdefault((ns, step), len(numbers))
        steps = self._recordings.get(key, ())
        if number >= len(steps):
            return None
        tasks = {task.send: task for task in steps[number]}
        found = tasks.get(send)
        if found is None and len(tasks) == 1:
            found = next(iter(tasks.values()))
        return None if found is None else written_route(found.writes)


def written_route(writes: Iterable[tuple[str, Typed]]) -> tuple[str, ...]:
    """Where a task's stored writes lead."""
    found: list[str] = []
    for channel, value in writes:
        if channel == TASKS:
            found.append(send_node(value.type, value.data[:256]) or "?")
        elif (node := named_destination(channel, _FORMAT)) is not None:
            found.append(node)
    return sorted_route(found)


def told_route(destinations: Sequence[str]) -> tuple[str, ...]:
    """Where a task went, of what the host tells: nodes, and joins by their channels."""
    return sorted_route([named_destination(d, _FORMAT) or d for d in destinations])


def sorted_route(destinations: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(destinations))
