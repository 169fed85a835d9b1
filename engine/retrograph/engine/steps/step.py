"""Steps: which nodes are due, which ran, and where each went, told from stored data alone.

`derive` puts a checkpoint's own activity beside its parent's: what is due here and where it went
(`next`, `tasks`, `route`), and what led here (`ran`, `came_by`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from retrograph.engine.model import Envelope
from retrograph.engine.steps.activity import (
    Act,
    Activity,
    Decode,
    Question,
    computed_id,
    destinations,
    errors,
    questions,
)
from retrograph.engine.steps.due import START, Learned

__all__ = ["Question", "Step", "Task", "derive"]


@dataclass(frozen=True, slots=True)
class Task:
    """One due node of a super-step, and what its stored writes say of it."""

    id: str | None
    """`None` where the store does not tell it (it did not run, and its id cannot be computed)."""
    node: str
    path: str
    """LangGraph's task path (`~__pregel_pull, price`), "" where unknown."""
    finished: bool
    """It has at least one output write."""
    error: str | None
    """What LangGraph stored of the exception: its repr."""
    questions: tuple[Question, ...]
    wrote: tuple[str, ...]
    """Channels written, in order, without control channels."""
    route: tuple[str, ...] | None
    """Destinations of its stored writes; `None` when it has not run."""
    send: int | None = None
    """Which of the Sends that were due; `None` for a node that its channels triggered."""


@dataclass(frozen=True, slots=True)
class Step:
    """All that is known of one checkpoint's place in the run; fields as in the JSON contract."""

    next: tuple[str, ...]
    """Due when the step began, sorted, one entry a task."""
    next_exact: bool
    repaired: str | None
    tasks: tuple[Task, ...]
    """Due here: Sends first, then nodes by name."""
    ran: tuple[str, ...]
    """Nodes of the tasks whose finishing led from the parent to here, sorted, one entry a task."""
    came_by: Mapping[str, tuple[str, ...]]
    route: Mapping[str, tuple[str, ...]]
    questions: tuple[Question, ...]
    errors: tuple[tuple[str | None, str], ...] = field(default=())
    """(node, error)."""

    @property
    def waiting(self) -> tuple[str, ...]:
        """Nodes of the tasks that have no output yet, sorted."""
        return tuple(sorted(t.node for t in self.tasks if not t.finished))


def derive(
    own: Activity,
    parent: Activity | None,
    learned: Learned,
    decode: Decode,
    *,
    twins: int = 1,
    ids: bool = False,
) -> Step:
    """Put together the step of a checkpoint.

    `twins` is how many children of the parent were made by running on from it: with several, the
    parent's writes are those of one of them only. `ids` computes the ids of tasks that left no
    writes.
    """
    asked = [(act, question) for act, question in questions(own, decode)]
    failed = [(act, text) for act, text in errors(own.acts, decode)]
    tasks = tuple(_tasks(own, learned, asked, failed, ids=ids))
    route = _routes(own, learned)
    ran, came_by = _led_here(own, parent, learned, twins)
    return Step(
        next=tuple(sorted(task.node for task in own.due)),
        next_exact=own.exact,
        repaired=own.repaired,
        tasks=tasks,
        ran=ran,
        came_by=came_by,
        route=route,
        questions=tuple(question for _, question in asked),
        errors=tuple((act.node, text) for act, text in failed),
    )


def _tasks(
    own: Activity,
    learned: Learned,
    asked: Sequence[tuple[Act, Question]],
    failed: Sequence[tuple[Act, str]],
    *,
    ids: bool,
) -> list[Task]:
    tasks = []
    acts = own.acts_of_due()
    asked_by: dict[str, list[Question]] = {}
    for act, question in asked:
        asked_by.setdefault(act.task_id, []).append(question)
    failed_by = {act.task_id: text for act, text in failed}
    for due in own.due:
        left = acts.get((due.node, due.send))
        if left is None:
            id_ = computed_id(own.envelope, due, learned) if ids else None
            tasks.append(Task(id_, due.node, "", False, None, (), (), None, due.send))
            continue
        tasks.append(
            Task(
                id=left.task_id,
                node=due.node,
                path=left.path,
                finished=left.finished,
                error=failed_by.get(left.task_id),
                questions=tuple(asked_by.get(left.task_id, ())),
                wrote=tuple(row.channel for row in left.rows if not row.channel.startswith("__")),
                route=_route(left, own, learned) if left.finished else None,
                send=due.send,
            )
        )
    return tasks


def _route(act: Act, own: Activity, learned: Learned) -> tuple[str, ...]:
    return tuple(node for node, _ in destinations(act, own.envelope.v, learned))


def _done(activity: Activity) -> list[Act]:
    """Tasks of the graph that finished, those whose node is known."""
    return [a for a in activity.acts if a.finished and a.ran_as_task and a.node is not None]


def _routes(activity: Activity, learned: Learned) -> dict[str, tuple[str, ...]]:
    """Destinations by node: the tasks of one node are put together, each edge once, each Send
    counted."""
    merged: dict[str, dict[str, int]] = {}
    for act in _done(activity):
        into = merged.setdefault(act.node or "", {})
        for node, by_send in destinations(act, activity.envelope.v, learned):
            into[node] = into.get(node, 0) + 1 if by_send else max(into.get(node, 0), 1)
    return {
        node: tuple(d for d, times in where.items() for _ in range(times))
        for node, where in merged.items()
    }


def _led_here(
    own: Activity, parent: Activity | None, learned: Learned, twins: int
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    here = own.envelope
    if here.source in ("input", "update", "fork"):
        return (), {}
    if parent is None:
        ran = _last_seen(here)
        return ran, {node: tuple(t.node for t in own.due) for node in ran if len(ran) == 1}
    done = _done(parent)
    advanced = _advanced(parent.envelope, here)
    nodes = [
        act.node
        for act in done
        if act.node is not None
        and (twins < 2 or act.send is not None or advanced is None or act.node in advanced)
    ]
    nodes += [
        node for node in advanced or () if node not in nodes and not _only_failed(node, parent)
    ]
    ran = tuple(sorted(node for node in nodes if node != START))
    due = {task.node for task in own.due}
    written = _routes(parent, learned)
    came_by = {node: tuple(d for d in written.get(node, ()) if d in due) for node in ran}
    reached = {d for where in came_by.values() for d in where}
    triggered = tuple(task.node for task in own.due)
    if not due <= reached and (twins > 1 or not done) and len(came_by) == 1:
        came_by = dict.fromkeys(came_by, triggered)
    return ran, came_by


def _advanced(before: Envelope, after: Envelope) -> frozenset[str] | None:
    """Nodes that have seen newer versions than at the parent; `None` where it cannot be told.

    Tasks that no channel triggers (Sends, functions that a node calls) leave an empty entry.
    """
    if before.v == 0 or after.v == 0:
        return None
    return frozenset(
        node
        for node, seen in after.seen.items()
        if seen and not _reserved(node) and before.seen.get(node) != seen
    )


def _only_failed(node: str, parent: Activity) -> bool:
    """Whether the node's only traces are an error: its handler went on in its stead."""
    traces = [act for act in parent.acts if act.node == node and act.ran_as_task]
    return bool(traces) and not any(act.finished for act in traces)


def _last_seen(envelope: Envelope) -> tuple[str, ...]:
    """Without the parent: the nodes that have seen the newest versions ran last."""
    newest: dict[str, str] = {}
    for node, seen in envelope.seen.items():
        if seen and not _reserved(node):
            newest[node] = max(_comparable(version) for version in seen.values())
    if not newest:
        return ()
    last = max(newest.values())
    return tuple(sorted(node for node, version in newest.items() if version == last))


def _comparable(version: str | int | float) -> str:
    """The counting part of a version, padded: `00…03.0.1234` and 3 compare alike."""
    return str(version).partition(".")[0].rjust(40, "0")


def _reserved(node: str) -> bool:
    return node.startswith("__") and node.endswith("__")
