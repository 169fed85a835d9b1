"""A run as it is told, task by task: what goes on, and a row for each task that has ended.

A task's row is whole once its output is on disk, since only then it is known where it went. Tasks
that fail or ask a question leave no output. Outputs of one super-step come to the disk in any
order, and as late as those of the next; rows come in the order in which the tasks ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from retrograph.engine.host.replies import Event
from retrograph.engine.replay.asked import PolicyName
from retrograph.engine.replay.originals import Originals, told_route
from retrograph.engine.replay.plan import Plan
from retrograph.engine.replay.recordings import bare
from retrograph.engine.replay.said import Said
from retrograph.engine.steps.taskids import parse_path


@dataclass(frozen=True, slots=True)
class Going:
    """A task that runs now."""

    step: int | None
    ns: str
    node: str
    policy: PolicyName
    since: float
    """Seconds since 1970, by the host's clock, which is the viewer's."""
    id: str
    """Of the task."""
    said: tuple[str, ...] = ()
    """What its models have said so far, message by message."""


@dataclass(frozen=True, slots=True)
class Row:
    """A task that has ended."""

    step: int | None
    ns: str
    node: str
    policy: PolicyName
    seconds: float | None
    tokens: int | None
    route: tuple[str, ...] | None
    """Where it went; empty: to the end; `None` where it left no output."""
    original: tuple[str, ...] | None
    """Where it went on the original line, only where that was elsewhere."""
    error: str | None
    """`ValueError: no such order`."""
    asks: bool
    """It left by a question (or by a `Command` to the graph around it)."""
    said: tuple[str, ...] = ()
    """What its models said, message by message; nothing where that was not asked for."""

    @property
    def depth(self) -> int:
        """How many sub-graphs it is in."""
        return len([part for part in self.ns.split("|") if not part.isdigit()]) if self.ns else 0

    @property
    def turned(self) -> bool:
        """Whether its route is another than the original one."""
        return self.original is not None


class Timeline:
    """Put together from the events of a run, in their order."""

    def __init__(self, plan: Plan) -> None:
        self.rows: list[Row] = []
        self._originals = Originals(plan.recordings)
        self._does = plan.does
        self._going: dict[int, Going] = {}
        self._ended: dict[tuple[str, str], tuple[Row, bool]] = {}
        """By (namespace, id): tasks that have ended, and whether their output is on disk; those
        that are not told yet, in the order of their ends."""
        self._said = Said()

    @property
    def going(self) -> Sequence[Going]:
        return [replace(one, said=self._said.of(one.ns, one.id)) for one in self._going.values()]

    @property
    def turned(self) -> Sequence[Row]:
        return [row for row in self.rows if row.turned]

    def take(self, event: Event) -> list[Row]:
        """Note an event; the rows that are whole by it."""
        if event.name == "task_start":
            self._going[event["run"]] = Going(
                event["step"],
                event["ns"],
                event["node"],
                self._policy(event),
                event.at,
                event["id"],
            )
        elif event.name == "message":
            self._said.take(event)
        elif event.name == "task_end":
            self._going.pop(event["run"], None)
            return self._end(event)
        elif event.name == "writes":
            return self._stored(event)
        return []

    def flush(self) -> list[Row]:
        """The rows of tasks whose output never came to the disk."""
        rows = [row for row, _ in self._ended.values()]
        self._ended.clear()
        self.rows += rows
        return rows

    def _policy(self, event: Event) -> PolicyName:
        policy = self._does.get((bare(event["ns"]), event["node"]), "live")
        return "live" if policy == "pause" else policy

    def _end(self, event: Event) -> list[Row]:
        error = event["error"]
        row = Row(
            step=event["step"],
            ns=event["ns"],
            node=event["node"],
            policy=self._policy(event),
            seconds=event["seconds"],
            tokens=event["tokens"],
            route=None,
            original=None,
            error=None if error is None else _one_line(error),
            asks=event["stopped"],
            said=self._said.end(event["ns"], event["id"]),
        )
        if error is None and not event["stopped"]:
            self._ended[event["ns"], event["id"]] = row, False
            return []
        self.rows.append(row)
        return [row]

    def _stored(self, event: Event) -> list[Row]:
        ns, id_ = event["ns"], event["task"]
        row, is_whole = self._ended.get((ns, id_), (None, True))
        if row is None or is_whole:
            return []
        route = told_route(event["route"])
        send = parse_path(event["path"]).send
        was = self._originals.route(row.ns, row.node, row.step, send)
        whole = replace(row, route=route, original=was if was != route else None)
        self._ended[ns, id_] = whole, True
        return self._told(ns, row.step or 0)

    def _told(self, ns: str, step: int) -> list[Row]:
        """The rows of a namespace that nothing is waited for any more; `step`: of the task whose
        output has come. What ended before the super-step before it left none."""
        rows = []
        for key in [key for key in self._ended if key[0] == ns]:
            row, is_whole = self._ended[key]
            if not is_whole and (row.step or 0) >= step - 1:
                break
            del self._ended[key]
            rows.append(row)
        self.rows += rows
        return rows


def _one_line(error: dict[str, str]) -> str:
    kind = error["type"].rpartition(".")[2]
    text = " ".join(error["message"].split())
    return f"{kind}: {text}" if text else kind
