"""A checkpoint that is not in a source, looked for in the sandboxes that were made of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from retrograph.engine.errors import RefError, RetrographError, UsageError
from retrograph.engine.model import CheckpointKey, Loader
from retrograph.engine.sandbox.file import Sandbox
from retrograph.engine.sandbox.home import SCHEME, list_sandboxes
from retrograph.engine.threads.lookup import LoaderIndex
from retrograph.engine.threads.refs import locate, parse
from retrograph.loaders.registry import open_source, opens_sandbox, reopens

_POINTS = ("root", "step:")


def find_in_sandboxes(
    loader: Loader, text: str | None, thread: str | None = None
) -> tuple[Loader, CheckpointKey] | None:
    """The sandbox of a source, opened, that has the checkpoint which `text` names by its id, and
    that checkpoint; `None` where none has. Raises `RefError` where several have different ones."""
    try:
        ref = parse(text, lambda name: loader.thread(name) is not None, thread)
    except (RefError, UsageError):
        return None
    end = (ref.point or "").split("~")[0]
    if not end or end.startswith(_POINTS):
        return None
    found: dict[str, Path] = {}
    for sandbox in _made_of(loader, ref.thread_id):
        for id_ in _ending(sandbox.path, ref.thread_id, end):
            found.setdefault(id_, sandbox.path)
    if len(found) > 1:
        listed = ", ".join(sorted(found)[:8])
        raise RefError(f"'@{end}' is the end of {len(found)} checkpoints of sandboxes: {listed}.")
    for path in found.values():
        there = open_source(str(path))
        try:
            return there, locate(text, LoaderIndex(there), thread)
        except RetrographError:
            there.close()
            raise
    return None


def _made_of(loader: Loader, thread_id: str) -> Iterator[Sandbox]:
    """The sandboxes of a source's thread, and those made of them, the oldest first: it is in these
    that a checkpoint was made which later ones have copied."""
    sources = {reopens(loader)}
    for sandbox in reversed(list_sandboxes()[0]):
        origin = sandbox.origin
        if origin.thread_id == thread_id and origin.source in sources:
            sources |= {opens_sandbox(sandbox), f"{SCHEME}{sandbox.id}"}
            yield sandbox


def _ending(path: Path, thread_id: str, end: str) -> list[str]:
    """Ids with that end, of the sandbox's own rows."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            rows = db.execute(
                "SELECT DISTINCT checkpoint_id FROM checkpoints WHERE thread_id = ? "
                "AND substr(checkpoint_id, -length(?)) = ?",
                (thread_id, end, end),
            ).fetchall()
    except sqlite3.Error:
        return []
    return [id_ for (id_,) in rows]
