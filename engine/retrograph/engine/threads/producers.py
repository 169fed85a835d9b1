"""The tasks whose finishing led to a checkpoint, so that their routers can be asked again.

They are those with output among the parent's writes. A copy (what a replay of langgraph 1.1 and
later begins with) and an edit of ours that only held were led to by what led to the checkpoint
before them; so was one of ours whose routes turned, but its routes are what was answered then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from retrograph.engine.history import NONE
from retrograph.engine.model import RawWrite, Typed
from retrograph.engine.steps.arrivals import led_on
from retrograph.engine.thread import Thread

HELD = "retrograph_held"
"""In the metadata of an edit of ours: what was due stayed due."""
REROUTED = "retrograph_rerouted"
"""In that of one whose routes turned."""
AS_NODE = "retrograph_as_node"
"""In that of one that a node is said to have written: the node."""


class Producers(NamedTuple):
    """The writes of the step that led to a checkpoint."""

    writes: Sequence[RawWrite]
    nodes: Mapping[str, str]
    """Nodes by task id."""
    edited: bool = False
    """Where these tasks went is not among the writes: an edit of ours asked them since."""
    alone: str | None = None
    """Why no task is known to have led there, in a sentence."""


_GONE = "What led here is gone from the store, so no node can be asked again."
_BY: dict[str | None, str] = {
    "input": "An input led here, and no node that could be asked again.",
    "update": "An edit led here, and which node it stood for is not stored, so none can be asked "
    "again.",
}


def producers(thread: Thread, ns: str, checkpoint_id: str) -> Producers:
    """Nothing for an input, for an edit, and where the parent is gone."""
    history = thread.history
    i = history.find(ns, checkpoint_id)
    passed = set()
    edited = False
    while True:
        parent = history.parent(i)
        if parent == NONE or i in passed:
            first = thread.envelopes_of(ns, [i]).get(i)
            if first is None or history.parent_id(i) is not None:
                return _alone(_GONE)
            return _alone(_BY.get(first.source, _GONE))
        passed.add(i)
        known = thread.envelopes_of(ns, [i, parent])
        here, before = known.get(i), known.get(parent)
        if here is None or before is None:
            return _alone(_GONE)
        copy = here.source == "fork" and not led_on(before, here)
        as_node = here.metadata.get(AS_NODE)
        if isinstance(as_node, str):
            write = RawWrite(as_node, f"~__pregel_pull, {as_node}", 0, "", Typed("null", b""))
            return Producers([write], {as_node: as_node}, edited=True)
        edited = edited or bool(here.metadata.get(REROUTED))
        if not copy and not here.metadata.get(HELD) and not here.metadata.get(REROUTED):
            break
        i = parent
    if here.source not in ("loop", "fork"):
        return _alone(_BY.get(here.source, _GONE))
    id_ = history.ids[parent]
    writes = thread.loader.read_writes(thread.thread_id, ns, [id_]).get(id_, ())
    tasks = thread.step(ns, id_).tasks
    nodes = {task.id: task.node for task in tasks if task.id is not None}
    return Producers(writes, nodes, edited)


def unedited(thread: Thread, ns: str, checkpoint_id: str) -> str:
    """The checkpoint that an edit of ours, or one of such an edit, was made from."""
    history = thread.history
    i = history.find(ns, checkpoint_id)
    while history.parent(i) != NONE:
        here = thread.envelopes_of(ns, [i]).get(i)
        if here is None or not any(here.metadata.get(mark) for mark in (HELD, REROUTED, AS_NODE)):
            break
        i = history.parent(i)
    return history.ids[i]


def _alone(why: str) -> Producers:
    return Producers((), {}, alone=why)
