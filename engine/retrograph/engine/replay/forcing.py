"""A forced route: a child of a checkpoint at which other nodes are due.

A node is due when a channel that triggers it is newer than what it has seen. So the triggers of all
that is due lose their values, and those of the nodes that shall run (`branch:to:NODE`) get one. No
router and no node is asked; the state stays as it is.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from retrograph.engine.errors import UsageError
from retrograph.engine.host.requests import CheckpointRow
from retrograph.engine.ids import WRAP, first_id_at
from retrograph.engine.model import RawCheckpoint, Typed
from retrograph.engine.sandbox.body import SENDS, Body, version_text
from retrograph.engine.sandbox.closure import Closure
from retrograph.engine.serde.packing import pack
from retrograph.engine.steps.due import TASKS, available, named_destination
from retrograph.engine.thread import Thread

INPUT = "__start__"
_TO = "branch:to:"
_FORMAT = 4


def forced(
    thread: Thread, closure: Closure, nodes: Sequence[str], known: Mapping[str, bool]
) -> CheckpointRow:
    """The child at which `nodes` are due and nothing else.

    `known`: the graph's nodes at that level, and whether each is deferred. Raises `UsageError`
    where that cannot be.
    """
    key = closure.key
    for node in nodes:
        if node not in known:
            names = ", ".join(known)
            raise UsageError(f"--goto: the graph has no node '{node}' here; it has {names}.")
    i = thread.history.find(key.ns, key.id)
    envelope = thread.envelopes_of(key.ns, [i])[i]
    if INPUT in envelope.present and envelope.source == "input":
        raise UsageError("--goto: the input is not taken in yet here; take the next checkpoint.")
    row = next(row for row in closure.rows.checkpoints if (row.ns, row.id) == (key.ns, key.id))
    raw = RawCheckpoint(key, row.parent_id, row.checkpoint, Typed("json", row.metadata))
    body = Body.read(raw, thread.serde)
    for channel in [c for c in body.values if _is_trigger(c) and available(envelope, c)]:
        del body.values[channel]
    body.entries.pop(SENDS, None)
    metadata = json.loads(row.metadata)
    step = int(metadata.get("step") or 0) + 1
    id_ = _new_id(step)
    versions = {name: version_text(version) for name, version in envelope.versions.items()}
    newest = max((int(v.split(".")[0]) for v in versions.values()), default=0)
    for node in nodes:
        # A deferred node's channel also holds whether the run has come to its end.
        body.values[_TO + node] = pack([None, True] if known[node] else None)
        versions[_TO + node] = f"{newest + 1:032}.{0:016}"
    body.entries.update(
        id=pack(id_),
        ts=pack(datetime.now(UTC).isoformat()),
        channel_versions=pack(versions),
        updated_channels=pack(None),
    )
    made = {**metadata, "source": "update", "step": step, "retrograph_from": key.id}
    made["retrograph_goto"] = ", ".join(nodes)
    return CheckpointRow(key.ns, id_, key.id, body.packed(), json.dumps(made).encode())


def _is_trigger(channel: str) -> bool:
    """Whether it only makes nodes due."""
    return channel == TASKS or named_destination(channel, _FORMAT) is not None


def _new_id(step: int) -> str:
    """A UUID of version 6 of now, with the step where LangGraph puts it."""
    now = first_id_at(datetime.now(UTC))
    return f"{now[:19]}{0x8000 | (step % WRAP):04x}-{secrets.token_hex(6)}"
