"""The tasks whose finishing led to a checkpoint, so that their routers can be asked again.

They are those with output among the parent's writes. A copy (what a replay of langgraph 1.1 and
later begins with) and an edit of ours that only held were led to by what led to the checkpoint
before them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from retrograph.engine.history import NONE
from retrograph.engine.model import RawWrite
from retrograph.engine.steps.arrivals import led_on
from retrograph.engine.thread import Thread

HELD = "retrograph_held"
"""In the metadata of an edit of ours: what was due stayed due."""


class Producers(NamedTuple):
    """The writes of the step that led to a checkpoint."""

    writes: Sequence[RawWrite]
    nodes: Mapping[str, str]
    """Nodes by task id."""


def producers(thread: Thread, ns: str, checkpoint_id: str) -> Producers:
    """Nothing for an input, for an edit, and where the parent is gone."""
    history = thread.history
    i = history.find(ns, checkpoint_id)
    passed = set()
    while True:
        parent = history.parent(i)
        if parent == NONE or i in passed:
            return Producers((), {})
        passed.add(i)
        known = thread.envelopes_of(ns, [i, parent])
        here, before = known.get(i), known.get(parent)
        if here is None or before is None:
            return Producers((), {})
        copy = here.source == "fork" and not led_on(before, here)
        if not copy and not here.metadata.get(HELD):
            break
        i = parent
    if here.source not in ("loop", "fork"):
        return Producers((), {})
    id_ = history.ids[parent]
    writes = thread.loader.read_writes(thread.thread_id, ns, [id_]).get(id_, ())
    tasks = thread.step(ns, id_).tasks
    return Producers(writes, {task.id: task.node for task in tasks if task.id is not None})
