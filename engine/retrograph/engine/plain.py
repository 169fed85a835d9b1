"""Writes of the plain kind: nodes that ran, what they wrote, and where that led."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from retrograph.engine.due import START
from retrograph.engine.model import NULL_TASK, WriteRow
from retrograph.engine.steps import Task
from retrograph.engine.taskids import parse_path

_NOTHING = "__no_writes__"
_TO = "branch:to:"


class Ran(NamedTuple):
    """What ran at one checkpoint, where its writes are of the plain kind."""

    nodes: frozenset[str]
    led_to: frozenset[str]
    tasks: tuple[Task, ...]
    route: dict[str, tuple[str, ...]]

    def came_by(self) -> dict[str, tuple[str, ...]]:
        """The route without the input's own task: what a `Step` says of the checkpoint after."""
        return {node: where for node, where in self.route.items() if node != START}


def ran_plainly(rows: Sequence[WriteRow]) -> Ran | None:
    """What ran at a checkpoint with these writes; `None` unless every one of them was made by a
    node of the graph, and none is an error, a question, an answer, an edit, a Send, a call or a
    join."""
    by_task: dict[str, tuple[str, str, list[str]]] = {}
    for _, _, task_id, path, _, channel, *_ in rows:
        known = by_task.get(task_id)
        if known is None:
            kind = parse_path(path)
            if kind.kind != "pull" or kind.node is None or task_id == NULL_TASK:
                return None
            known = by_task[task_id] = (kind.node, path, [])
        known[2].append(channel)
    tasks = []
    route = {}
    for task_id, (node, path, channels) in by_task.items():
        led_to: dict[str, None] = {}
        for channel in channels:
            if channel.startswith(_TO):
                led_to[channel[len(_TO) :]] = None
            elif channel.startswith(("branch:", "join:")) or (
                channel.startswith("__") and channel != _NOTHING
            ):
                return None
        wrote = tuple(channel for channel in channels if channel != _NOTHING)
        route[node] = tuple(led_to)
        tasks.append(Task(task_id, node, path, True, None, (), wrote, route[node]))
    if not tasks or len(route) != len(tasks):
        return None
    tasks.sort(key=lambda task: task.node)
    led = frozenset(node for nodes in route.values() for node in nodes)
    return Ran(frozenset(route), led, tuple(tasks), route)
