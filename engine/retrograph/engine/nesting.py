"""Which checkpoint of the parent graph a sub-graph's checkpoint ran under.

LangGraph stores it in the metadata of the sub-graph's checkpoint: `parents` maps each namespace
above to the checkpoint that was current there. The namespace alone would not do, since a
sub-graph with a checkpointer of its own keeps one namespace through all its runs.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping

from retrograph.engine.history import NONE, History
from retrograph.engine.model import ROOT, Envelope
from retrograph.engine.steps import Step


def owners(
    history: History,
    envelopes: Mapping[tuple[str, str], Envelope],
    steps: Mapping[tuple[str, str], Step] | None = None,
) -> Callable[[int], int]:
    """A function from a checkpoint to the one that it ran under, `NONE` where that is not known.

    Where metadata does not tell, the task that the namespace names (`node:task_id`) is looked for
    among the tasks of `steps`.
    """
    found = array("i", [NONE]) * len(history)
    tasks: dict[str, int] | None = None
    for ns in history.namespaces():
        if ns == ROOT:
            continue
        above = list(_above(ns))
        for i in history.span(ns):
            envelope = envelopes.get((ns, history.ids[i]))
            parents = envelope.metadata.get("parents") if envelope is not None else None
            if isinstance(parents, Mapping):
                found[i] = _by_metadata(history, parents, above)
            if found[i] < 0 and steps is not None:
                if tasks is None:
                    tasks = _tasks(history, steps)
                found[i] = tasks.get(_task_id(ns), NONE)
    return found.__getitem__


def _above(ns: str) -> Iterator[str]:
    """The namespaces that hold `ns`, the nearest first."""
    while ns:
        ns = ns.rpartition("|")[0]
        yield ns


def _by_metadata(history: History, parents: Mapping[object, object], above: list[str]) -> int:
    for ns in above:
        checkpoint_id = parents.get(ns)
        if isinstance(checkpoint_id, str):
            i = history.find(ns, checkpoint_id)
            if i >= 0:
                return i
    return NONE


def _task_id(ns: str) -> str:
    """The task that ran a sub-graph. The second one that a task ran has a counter behind:
    `node:task_id|1`."""
    named = [segment for segment in ns.split("|") if ":" in segment]
    return named[-1].rpartition(":")[2] if named else ""


def _tasks(history: History, steps: Mapping[tuple[str, str], Step]) -> dict[str, int]:
    """Checkpoints by the ids of the tasks due there."""
    found: dict[str, int] = {}
    for (ns, checkpoint_id), step in steps.items():
        i = history.find(ns, checkpoint_id)
        if i >= 0:
            found.update((task.id, i) for task in step.tasks if task.id)
    return found
