"""What LangGraph says of every checkpoint of a thread, as plain JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel
from langgraph.types import StateSnapshot

from zoo.jsonform import to_json
from zoo.run import Seen

Graph = Pregel[Any, Any, Any, Any]


def describe(saver: BaseCheckpointSaver[Any], graph: Graph, thread_id: str, seen: Seen
             ) -> dict[str, list[dict[str, Any]]]:  # fmt: skip
    """Namespace to its rows, oldest first."""
    return {ns: rows(saver, graph, thread_id, ns, seen) for ns in _namespaces(saver, thread_id)}


def now(saver: BaseCheckpointSaver[Any], graph: Graph, thread_id: str) -> dict[str, Any]:
    """The thread's live state, in which finished tasks have left `next`."""
    where = {"thread_id": thread_id, "checkpoint_ns": "", "__pregel_checkpointer": saver}
    state = graph.get_state({"configurable": where})
    if any(t.error for t in state.tasks):
        status = "error"
    elif state.interrupts:
        status = "interrupted"
    else:
        status = "unfinished" if state.next else "done"
    return {
        "head": _id(state),
        "status": status,
        "next": sorted(state.next),
        "questions": [i.id for i in state.interrupts],
    }


def _namespaces(saver: BaseCheckpointSaver[Any], thread_id: str) -> list[str]:
    found = saver.list({"configurable": {"thread_id": thread_id}})
    return sorted({t.config["configurable"].get("checkpoint_ns", "") for t in found})


def rows(saver: BaseCheckpointSaver[Any], graph: Graph, thread_id: str, ns: str, seen: Seen
         ) -> list[dict[str, Any]]:  # fmt: skip
    owner = _graph_of(graph, ns)
    # With a saver in the config, a graph reads the namespace as its own.
    where = {"thread_id": thread_id, "checkpoint_ns": ns, "__pregel_checkpointer": saver}
    config: Any = {"configurable": where}
    history = list(Pregel.get_state_history(owner, config))[::-1]
    due = {_id(s): {t.id: t.name for t in s.tasks} for s in history}
    delta = [name for name, c in owner.channels.items() if isinstance(c, DeltaChannel)]
    steps = {_id(s): (s.metadata or {}).get("step") for s in history}
    return [_row(saver, s, due, steps, seen, delta) for s in history]


def _graph_of(graph: Graph, ns: str) -> Graph:
    """The (sub-)graph that a namespace belongs to, by the node names of its segments."""
    for segment in ns.split("|") if ns else ():
        node = segment.partition(":")[0]
        if node.isdigit():
            continue  # a counter for several sub-graphs called in one node
        graph = dict(graph.get_subgraphs())[node]
    return graph


def _row(saver: BaseCheckpointSaver[Any], s: StateSnapshot, due: dict[str, dict[str, str]],
         steps: dict[str, int | None], seen: Seen, delta: list[str]
         ) -> dict[str, Any]:  # fmt: skip
    metadata = s.metadata or {}
    parent = s.parent_config["configurable"]["checkpoint_id"] if s.parent_config else None
    row: dict[str, Any] = {
        "id": _id(s),
        "parent": parent,
        "step": metadata.get("step"),
        "source": metadata.get("source"),
        "next": sorted(t.name for t in s.tasks),
        "tasks": [
            {
                "id": t.id,
                "name": t.name,
                "error": None if t.error is None else str(t.error),
                "interrupts": [{"id": i.id, "value": to_json(i.value)} for i in t.interrupts],
                "result": to_json(t.result),
            }
            for t in s.tasks
        ],
        "values": to_json(s.values),
        "metadata": to_json(dict(metadata)),
        "created_at": s.created_at,
        "within": seen.within.get(_id(s)),
    }
    row["route"] = _route(due[_id(s)], seen)
    row.update(_came(row, due.get(parent or ""), steps.get(parent or ""), seen))
    if delta:
        row["delta"] = _delta(saver, s, delta)
    return row


def _id(s: StateSnapshot) -> str:
    return s.config["configurable"]["checkpoint_id"]


def _route(tasks: dict[str, str], seen: Seen) -> dict[str, list[str]] | None:
    """Node to where its tasks went; nothing where nobody saw the thread run, or where a
    task ran again and went elsewhere."""
    if not seen.made or seen.turned & set(tasks):
        return None
    route: dict[str, set[str]] = {}
    for task, name in tasks.items():
        if task in seen.finished:
            route.setdefault(name, set()).update(seen.wrote.get(task, ()))
    return {name: sorted(where) for name, where in route.items()}


def _came(row: dict[str, Any], before: dict[str, str] | None, step_before: int | None, seen: Seen
          ) -> dict[str, Any]:  # fmt: skip
    """Who ran between the parent and this checkpoint; nothing where that was not seen, or where
    it was not made by finishing the parent's step."""
    made = seen.made.get(row["id"])
    if made is None or before is None or row["source"] != "loop":
        return {"ran": None, "came_by": None}
    if row["step"] != (step_before or 0) + 1:
        return {"ran": None, "came_by": None}
    # What was due at the parent, and what a `Command` or an error handler added while it ran;
    # not the functions that a node called.
    added = {t: seen.names[t] for t in seen.lately[row["id"]] if t in seen.wrote}
    added = {t: name for t, name in added.items() if t not in seen.calls}
    names = {t: name for t, name in {**added, **before}.items() if name != "__start__"}
    done = [t for t in made if t in names]
    came: dict[str, set[str]] = {}
    for task in done:
        went = {d for d in seen.wrote.get(task, ()) if d in row["next"]}
        came.setdefault(names[task], set()).update(went)
    return {
        "ran": sorted(names[t] for t in done),
        "came_by": None
        if seen.turned & set(done)
        else {name: sorted(where) for name, where in came.items()},
    }


def _delta(saver: BaseCheckpointSaver[Any], s: StateSnapshot, channels: list[str]
           ) -> dict[str, Any]:  # fmt: skip
    history = saver.get_delta_channel_history(config=s.config, channels=channels)
    return {name: dict(_delta_parts(h)) for name, h in history.items()}


def _delta_parts(history: Any) -> Iterator[tuple[str, Any]]:
    if "seed" in history:
        seed = history["seed"]
        yield "snapshot", to_json(getattr(seed, "value", seed))
    yield "writes", [to_json(value) for _task, _channel, value in history.get("writes", ())]
