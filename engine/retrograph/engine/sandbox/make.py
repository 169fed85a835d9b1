"""A closure made into a sandbox on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from retrograph.engine.host.requests import CheckpointRow
from retrograph.engine.sandbox.closure import Closure
from retrograph.engine.sandbox.file import Origin, Sandbox, draft
from retrograph.engine.sandbox.full import copy_ancestors
from retrograph.engine.sandbox.home import sandboxes_folder
from retrograph.engine.sandbox.recorded import Steps
from retrograph.engine.steps.arrivals import STAND_IN
from retrograph.engine.thread import Thread


def make_sandbox(
    thread: Thread,
    closure: Closure,
    source: str,
    *,
    full: bool = False,
    edited: Sequence[CheckpointRow] = (),
    recorded: Steps | None = None,
    folder: Path | None = None,
    copied: Callable[[int], None] = lambda count: None,
) -> Sandbox:
    """Write a sandbox: the closure, with `full` all ancestors, and edited children of it.

    `source` is what opens the source again, without credentials; `recorded` what nodes gave on the
    original line. `copied` is told how many
    ancestors have been copied. Raises `SourceError`.
    """
    key = closure.key
    kind = f"full {closure.kind}" if full else closure.kind
    origin = Origin(source, key.thread_id, key.ns, key.id, kind)
    with draft(folder or sandboxes_folder(), origin) as (sandbox, open_):
        rows, writes = closure.rows.checkpoints, closure.rows.writes
        if full:
            copy_ancestors(thread, closure, open_.add, copied)
            stubs = {(row.ns, row.id) for row in rows if is_stub(row.metadata)}
            rows = [row for row in rows if (row.ns, row.id) not in stubs]
            writes = [write for write in writes if (write.ns, write.checkpoint_id) not in stubs]
        open_.add(rows, writes)
        open_.add(edited)
        open_.record(recorded or {})
    return sandbox


def is_stub(metadata: bytes) -> bool:
    """Whether a checkpoint only stands in for ancestors, by its metadata."""
    return STAND_IN.encode() in metadata and json.loads(metadata).get(STAND_IN) is True
