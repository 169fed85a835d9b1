"""Writes of the plain kind: nodes that ran, what they wrote, and where that led."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from retrograph.engine.model import NULL_TASK, WriteRow
from retrograph.engine.steps.due import START
from retrograph.engine.steps.step import Task
from retrograph.engine.steps.taskids import parse_path

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
    by_task: dict[str, tuple[str, str, list[str], dict[str, None]]] = {}
    for _, _, task_id, path, _, channel, *_ in rows:
        known = by_task.get(task_id)
        if known is None:
            kind, node, _ = parse_path(path)
            if kind != "pull" or node is None or task_id == NULL_TASK:
                return None
            known = by_task[task_id] = (node, path, [], {})
        led_to = _led_to(channel)
        if led_to is None:
            return None
        if led_to:
            known[3][led_to] = None
        if channel != _NOTHING:
            known[2].append(channel)
    tasks = []
    route = {}
    for task_id, (node, path, wrote, nodes) in by_task.items():
        route[node] = where = tuple(nodes)
        tasks.append(Task(task_id, node, path, True, None, (), tuple(wrote), where))
    if not tasks or len(route) != len(tasks):
        return None
    if len(tasks) == 1:
        return Ran(frozenset(route), frozenset(tasks[0].route or ()), tuple(tasks), route)
    tasks.sort(key=lambda task: task.node)
    led = frozenset(node for nodes in route.values() for node in nodes)
    return Ran(frozenset(route), led, tuple(tasks), route)


@lru_cache(maxsize=4096)
def _led_to(channel: str) -> str | None:
    """The node that an edge's channel names, "" for a channel of the state, `None` for any that
    is not plain."""
    if channel.startswith(_TO):
        return channel[len(_TO) :] or None
    if channel.startswith(("branch:", "join:", "__")) and channel != _NOTHING:
        return None
    return ""
