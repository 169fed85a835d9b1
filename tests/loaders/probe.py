"""Reads a source by every method and prints what it found, as a process of its own:

    python -m loaders.probe SOURCE [UID]

As user UID where one is given: whatever is imported late is imported before, since that user may
not be able to reach the interpreter's own files.

One JSON document: `{"threads", "checkpoints", "writes", "digest", "warnings"}` or `{"error"}`.
With PROBE_HOLD set it waits for a line on stdin, keeping the source open.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile  # noqa: F401 - imported late otherwise, when another user cannot reach it

from retrograph.engine.errors import RetrographError
from retrograph.engine.model import CheckpointKey, ThreadQuery
from retrograph.loaders.registry import open_source


def probe(source: str) -> dict[str, object]:
    try:
        loader = open_source(source)
    except RetrographError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    digest = hashlib.sha256()
    checkpoints = writes = 0
    try:
        rows = list(loader.threads(ThreadQuery(limit=None, sizes=True)))
        for row in rows:
            index = [r for batch in loader.rows(row.thread_id) for r in batch]
            written = [w for batch in loader.writes(row.thread_id) for w in batch]
            keys = [CheckpointKey(row.thread_id, r[0], r[1]) for r in index]
            for item in (
                row.thread_id,
                index,
                [tuple(w) for w in written],
                [e for batch in loader.envelopes(row.thread_id) for e in batch],
                loader.details(keys),
                [loader.read(key) for key in keys],
            ):
                digest.update(repr(item).encode())
            checkpoints += len(index)
            writes += len(written)
        loader.changed()
        if os.environ.get("PROBE_HOLD"):
            print("holding", flush=True)
            sys.stdin.readline()
    except RetrographError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    finally:
        loader.close()
    return {
        "threads": len(rows),
        "checkpoints": checkpoints,
        "writes": writes,
        "digest": digest.hexdigest(),
        "warnings": loader.warnings,
    }


def become(uid: int) -> None:
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        become(int(sys.argv[2]))
    print(json.dumps(probe(sys.argv[1])))
