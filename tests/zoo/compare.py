"""The engine's reading of a thread against what LangGraph said of it, row by row.

The differences that the contract names are the only ones let through: a reducer channel that was
never written is absent in ours, the functional API has another shape, and what is folded by a
DeltaChannel is compared as snapshot and writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from retrograph.engine.model import NULL_TASK
from retrograph.engine.steps.step import Step, Task
from retrograph.engine.thread import Snapshot, Thread
from retrograph.engine.threads.pages import read_page
from retrograph.engine.threads.quick import quick_walk
from retrograph.engine.values import to_json

EMPTY: tuple[Any, ...] = ([], {}, "", 0, 0.0, False, {"$set": []}, {"$tuple": []}, None)
"""What the types of reducer channels give before anything is written."""

UNTOLD_IDS = frozenset({"chance-5"})
"""Threads in which a node is due that has left no writes and waits for a join, too, that was never
written to: its task's id hashes the names of all its trigger channels, and that one's is not in
the store."""

Row = Mapping[str, Any]


def mismatches(thread: Thread, ns: str, rows: list[Row]) -> Iterator[str]:
    """One line for each field of each checkpoint that differs; steps of repaired checkpoints
    are left to `steps_apart`."""
    yield from step_mismatches(thread, ns, rows)
    steps = thread.steps(ns)
    for row in rows:
        where = _where(thread, ns, row)
        snapshot = thread.snapshot(ns, row["id"])
        one = thread.step(ns, row["id"])
        if snapshot.step != one:
            yield f"{where}: the snapshot has another step"
        yield from _same(f"{where}, alone", steps[ns, row["id"]], one)
        pairs = {"parent": (snapshot.parent_id, row["parent"])}
        pairs.update(_value_pairs(snapshot, row))
        pairs.update(_results(snapshot, row))
        if one.repaired is None:
            both = [
                (task.id, other["id"])
                for task, other in zip(one.tasks, _by_path(row, one), strict=False)
                if task.path or thread.thread_id not in UNTOLD_IDS
            ]
            pairs["task ids"] = ([ours for ours, _ in both], [theirs for _, theirs in both])
        yield from _differing(where, pairs)


def step_mismatches(thread: Thread, ns: str, rows: list[Row]) -> Iterator[str]:
    """The same for what is read in one pass, without values: the tree and its steps."""
    history = thread.history
    ids = [history.ids[i] for i in history.span(ns)]
    if ids != [row["id"] for row in rows]:
        yield f"{thread.thread_id} {ns}: the checkpoints are {ids}"
        return
    steps = thread.steps(ns)
    for row in rows:
        parent = history.parent_id(history.find(ns, row["id"]))
        pairs = {"parent": (parent, row["parent"]), **_step_pairs(steps[ns, row["id"]], row)}
        yield from _differing(_where(thread, ns, row), pairs)


def shortcuts(thread: Thread, ns: str) -> Iterator[str]:
    """Differences of the steps that are told without reading checkpoints, and of those that are
    read a page at a time, from those of the whole namespace."""
    history = thread.history
    steps = {history.find(*key): step for key, step in thread.steps(ns).items()}
    quick = {i: step for i, _, step in quick_walk(thread, ns)}
    page = {i: step for i, (_, step) in read_page(thread, list(history.span(ns))).items()}
    for name, others in (("quick", quick), ("a page", page)):
        if others.keys() != steps.keys():
            yield f"{thread.thread_id} {ns}: {name} lacks {steps.keys() - others.keys()}"
        for i, step in others.items():
            yield from _same(f"{thread.thread_id} {ns} {history.ids[i]}, {name}", steps[i], step)


def _differing(where: str, pairs: Mapping[str, tuple[Any, Any]]) -> Iterator[str]:
    for field, (ours, theirs) in pairs.items():
        if ours != theirs:
            yield f"{where}: {field}: ours {ours!r}, LangGraph {theirs!r}"


def _where(thread: Thread, ns: str, row: Row) -> str:
    return f"{thread.thread_id} {ns or 'root'} @{row['id'][-12:]} step {row['step']}"


def _same(where: str, together: Step, other: Step) -> Iterator[str]:
    """Differences between two readings of one step, but for ids that only one computes."""
    for name in ("next", "next_exact", "repaired", "ran", "came_by", "route", "errors"):
        one, two = getattr(together, name), getattr(other, name)
        if one != two:
            yield f"{where}: {name}: {two!r}, in one pass {one!r}"
    if [replace(t, id=None) for t in together.tasks] != [replace(t, id=None) for t in other.tasks]:
        yield f"{where}: tasks: {other.tasks!r}, in one pass {together.tasks!r}"


def _by_path(row: Row, step: Step) -> list[Row]:
    """LangGraph's tasks in the order of ours: by node, and for one node's as they come."""
    left = list(row["tasks"])
    found = []
    for task in step.tasks:
        match = next((t for t in left if t["name"] == task.node), None)
        if match is not None:
            left.remove(match)
            found.append(match)
    return found + left


def _step_pairs(step: Step, row: Row) -> dict[str, tuple[Any, Any]]:
    if step.repaired is not None:
        return {}
    tasks = _by_path(row, step)
    pairs: dict[str, tuple[Any, Any]] = {
        "next": (list(step.next), row["next"]),
        "next_exact": (step.next_exact, True),
        "tasks": ([_task(t) for t in step.tasks], [_their_task(t) for t in tasks]),
        "finished": ([t.finished for t in step.tasks], [t["result"] is not None for t in tasks]),
        "answered": (
            [q.answered for t in step.tasks for q in t.questions],
            [t["result"] is not None for t in tasks for _ in t["interrupts"]],
        ),
    }
    pairs.update(_ways(step, row))
    return pairs


def _ways(step: Step, row: Row) -> dict[str, tuple[Any, Any]]:
    """Who ran and where each went, as far as it was seen."""
    pairs: dict[str, tuple[Any, Any]] = {}
    if row["route"] is not None:
        # A `Command` given with the input makes tasks that were not due: theirs are let through.
        due = {node: where for node, where in step.route.items() if node in step.next}
        pairs["route"] = (_sorted(due), row["route"])
    if row["ran"] is not None:
        pairs["ran"] = (list(step.ran), row["ran"])
    if row["came_by"] is not None:
        pairs["came_by"] = (_sorted(step.came_by), row["came_by"])
    return pairs


def _results(snapshot: Snapshot, row: Row) -> dict[str, tuple[Any, Any]]:
    """What each task wrote to the state, as LangGraph shows it: several writes to one channel
    are `{"$writes": [...]}` there."""
    wrote: dict[str, dict[str, list[Any]]] = {}
    for write in snapshot.writes:
        value = normal(to_json(write.value))
        wrote.setdefault(write.task_id, {}).setdefault(write.channel, []).append(value)
    pairs = {}
    for task in row["tasks"]:
        if isinstance(task["result"], dict):
            ours = wrote.get(task["id"], {})
            if ours.get("__end__") == [task["result"]]:
                continue  # an entrypoint's result is bare
            for channel, result in task["result"].items():
                several = isinstance(result, dict) and "$writes" in result
                theirs = result["$writes"] if several else [result]
                pairs[f"{task['name']} wrote {channel}"] = (ours.get(channel), theirs)
    return pairs


def _task(task: Task) -> Any:
    return task.node, task.error, [(q.id, normal(to_json(q.value))) for q in task.questions]


def _their_task(task: Row) -> Any:
    return task["name"], task["error"], [(q["id"], q["value"]) for q in task["interrupts"]]


def _sorted(routes: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    return {node: sorted(set(where)) for node, where in routes.items()}


def _value_pairs(snapshot: Snapshot, row: Row) -> dict[str, tuple[Any, Any]]:
    envelope = snapshot.envelope
    ours = {name: normal(to_json(value)) for name, value in snapshot.values.items()}
    pairs = {
        "step": (envelope.step, row["step"]),
        "source": (envelope.source, row["source"]),
        "metadata": (normal(to_json(dict(envelope.metadata))), row["metadata"]),
    }
    theirs = row["values"]
    if ours.keys() & {"__end__", "__previous__"} or not isinstance(theirs, dict):
        return {**pairs, "value": (ours.get("__end__"), theirs)}
    folded = row.get("delta", {})
    for name in ours.keys() | theirs.keys():
        if name in folded and isinstance(ours.get(name), dict) and "$delta" in ours[name]:
            pairs[f"delta {name}"] = (ours[name]["$delta"], folded[name])
        elif not _allowed(name, ours, theirs, snapshot):
            absent = "(absent)"
            pairs[f"value {name}"] = (ours.get(name, absent), theirs.get(name, absent))
    return pairs


def _allowed(name: str, ours: Row, theirs: Row, snapshot: Snapshot) -> bool:
    """Differences that only the graph could take away, each of them narrow."""
    if name not in ours and name not in snapshot.envelope.versions and theirs[name] in EMPTY:
        return True  # a reducer channel that was never written
    if name not in theirs and ours[name] == []:
        return True  # a Topic without items, stored as any empty list is
    # An update that came with an answer: LangGraph folds it in, ours is among the writes.
    return any(w.channel == name and w.task_id == NULL_TASK for w in snapshot.writes)


def nesting(thread: Thread, ns: str, rows: list[Row]) -> Iterator[str]:
    """Sub-graph checkpoints whose owner is not the checkpoint that the caller was at."""
    history, owners = thread.history, thread.owners()
    for row in rows:
        if row["within"] is not None:
            owner = owners.get(history.find(ns, row["id"]))
            ours = None if owner is None else history.ids[owner]
            if ours != row["within"]:
                yield f"{thread.thread_id} {ns} @{row['id']}: within {ours}, not {row['within']}"


def steps_apart(thread: Thread, ns: str, rows: list[Row], true: list[Row]) -> Iterator[str]:
    """Differences between our steps and what LangGraph said of the same run when it was saved
    synchronously: the rows are aligned by position, since ids differ."""
    steps = thread.steps(ns)
    if len(rows) != len(true):
        yield f"{thread.thread_id} {ns}: {len(rows)} rows, {len(true)} in the synchronous run"
        return
    for row, same in zip(rows, true, strict=True):
        step = steps[ns, row["id"]]
        mine, theirs = step.tasks, _by_path(same, step)
        pairs = {
            "next": (list(step.next), same["next"]),
            "tasks": (
                [(t.node, t.error, [normal(to_json(q.value)) for q in t.questions]) for t in mine],
                [(t["name"], t["error"], [q["value"] for q in t["interrupts"]]) for t in theirs],
            ),
            **_ways(step, same),
        }
        for field, (ours, other) in pairs.items():
            if ours != other:
                where = _where(thread, ns, row)
                yield f"{where}: {field}: ours {ours!r}, synchronous {other!r}"


def normal(value: Any) -> Any:
    """JSON whose sets are sorted by repr, as the oracle writes them."""
    if isinstance(value, list):
        return [normal(v) for v in value]
    if isinstance(value, dict):
        out = {k: normal(v) for k, v in value.items()}
        if "$set" in out:
            out["$set"] = sorted(out["$set"], key=repr)
        return out
    return value
