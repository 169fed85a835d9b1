"""What has truly reached a join, told by the writes that led to a checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrograph.engine.history import NONE, History
from retrograph.engine.model import Envelope
from retrograph.engine.steps.due import Barrier, names_in

if TYPE_CHECKING:
    from retrograph.engine.thread import Thread

STAND_IN = "retrograph_stub"
"""In the metadata of a sandbox's row that stands in for ancestors which are not there."""
_NEAR = 8
"""Ancestors that are read at once."""


def arrived(thread: Thread, i: int, envelope: Envelope, gate: Barrier) -> set[str] | None:
    """The names written to a join by the ancestors of `i` since its node last ran; `None` where
    one of these ancestors is not at hand.

    An edit is saved at once, so what it stored is true; its writes are not always kept.
    """
    names: set[str] = set()
    stored = set(names_in(envelope.control.get(gate.channel))[0])
    after = envelope
    passed = {i}
    if after.source == "update":
        return stored
    while chunk := _ancestors(thread.history, i, passed):
        ids = [thread.history.ids[k] for k in chunk]
        envelopes = thread.envelopes_of(envelope.ns, chunk)
        written = thread.loader.read_writes(thread.thread_id, envelope.ns, ids, [gate.channel])
        for k, id_ in zip(chunk, ids, strict=True):
            before = envelopes.get(k)
            if before is None or before.metadata.get(STAND_IN):
                return None
            if led_on(before, after):
                for write in written.get(id_, ()):
                    name = thread.serde.decode(write.value)
                    if isinstance(name, str):
                        names.add(name)
                # Until langgraph 1.1 what came from a cache left no writes: that a node ran tells.
                ran = (n for n in stored - names if after.seen.get(n) != before.seen.get(n))
                names.update(ran)
                if names >= stored:
                    return names  # what is stored is never less than what is true
            was = before.seen.get(gate.node, {}).get(gate.channel)
            if after.seen.get(gate.node, {}).get(gate.channel) != was:
                return names  # the node ran here, emptying the join before these writes
            if before.source == "update":
                return names.union(names_in(before.control.get(gate.channel))[0])
            i, after = k, before
    return names if after.parent_id is None else None


def _ancestors(history: History, i: int, passed: set[int]) -> list[int]:
    """The next few ancestors of `i`, nearest first, up to one that has been passed."""
    found: list[int] = []
    while len(found) < _NEAR and (i := history.parent(i)) != NONE and i not in passed:
        passed.add(i)
        found.append(i)
    return found


def led_on(before: Envelope, after: Envelope) -> bool:
    """Whether the writes of `before` went into `after`: new input drops them, and a copy that a
    replay begins with has seen nothing new."""
    if after.source != "fork":
        return after.source != "input"
    return any(
        node != "__interrupt__" and before.seen.get(node) != seen
        for node, seen in after.seen.items()
    )
