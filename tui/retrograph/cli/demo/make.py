"""Makes the demo's folder: the store, written by a real LangGraph, and its graph beside it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from platformdirs import user_data_path

from retrograph.engine.errors import ConfigError, SourceError, UsageError

_HERE = Path(__file__).parent
_GRAPH = "support_agent.py"
_PROJECT = (_GRAPH, "langgraph.json")
_STORE = "demo.db"

# The writer's last thread dies in the middle of a node, and its process with it.
_KILLED = 86
_SECONDS = 120

_SQLITE_MAGIC = b"SQLite format 3\0"
# SQLite's `application_id` (bytes 68 to 71 of the file's header): how we know our own store again.
_APPLICATION_ID = int.from_bytes(b"RgDm", "big")


@dataclass(frozen=True, slots=True)
class DemoInfo:
    """Where the demo is."""

    folder: Path
    db: Path
    graph: str
    """What `--graph` takes: `/…/support_agent.py:graph`."""
    thread: str
    """The main thread: several turns, three lines, of which two took different routes."""
    made: bool
    """False where the folder had the demo already."""


def default_folder() -> Path:
    """The demo's place in the user's data folder, so that it is found again from anywhere and the
    current folder stays clean (`~/.local/share/retrograph/demo` on Linux)."""
    return user_data_path("retrograph", appauthor=False) / "demo"


def make_demo(folder: Path, now: datetime | None = None) -> DemoInfo:
    """Makes the demo in `folder`, or finds it there. Takes about two seconds, once.

    Threads, values and the shape of each tree are the same at each making; ids and times as well
    for the same `now`, the moment that the threads' ages are counted back from. Without `now`
    that is `RETROGRAPH_DEMO_NOW` (ISO 8601), or the current minute.

    Nothing is overwritten. Raises `UsageError` where a file of the user's stands in the way,
    `SourceError` where the demo cannot be written.
    """
    folder = folder.expanduser().absolute()
    info = DemoInfo(folder, folder / _STORE, f"{folder / _GRAPH}:graph", "order-4412", made=False)
    now = now or _now()
    try:
        if _is_ours(info.db):
            _put_project(folder)
            return info
        _check_free(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".demo-", dir=folder) as scratch:
            store = _write(Path(scratch), now)
            _put_project(folder)
            # Last, since its presence says that the demo is complete.
            store.replace(info.db)
    except OSError as error:
        raise SourceError(f"The demo cannot be written to {folder}: {error.strerror}.") from error
    return DemoInfo(info.folder, info.db, info.graph, info.thread, made=True)


def _now() -> datetime:
    given = os.environ.get("RETROGRAPH_DEMO_NOW")
    if not given:
        return datetime.now(UTC).replace(second=0, microsecond=0)
    try:
        now = datetime.fromisoformat(given)
    except ValueError:
        raise ConfigError(
            f"RETROGRAPH_DEMO_NOW is {given!r}, not a time such as 2025-06-01T12:00:00Z."
        ) from None
    return now.replace(tzinfo=UTC) if now.tzinfo is None else now.astimezone(UTC)


def _is_ours(db: Path) -> bool:
    """Whether this is a demo's store, by the file's header alone: opening it would touch it."""
    try:
        with db.open("rb") as file:
            header = file.read(100)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False
    application_id = int.from_bytes(header[68:72], "big")
    return header.startswith(_SQLITE_MAGIC) and application_id == _APPLICATION_ID


def _check_free(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: give a folder for the demo.")
    for name in (_STORE, f"{_STORE}-wal", f"{_STORE}-journal"):
        if (folder / name).exists():
            raise UsageError(f"{folder / name} is not the demo's: give another folder.")
    for name in _PROJECT:
        path = folder / name
        if path.exists() and path.read_bytes() != (_HERE / "project" / name).read_bytes():
            raise UsageError(f"{path} is not the demo's: give another folder.")


def _put_project(folder: Path) -> None:
    for name in _PROJECT:
        if not (folder / name).exists():
            shutil.copyfile(_HERE / "project" / name, folder / name)


def _write(scratch: Path, now: datetime) -> Path:
    """Runs the writer in `scratch`, and closes properly the store that its death left open."""
    _put_project(scratch)
    # -B: no __pycache__. Warnings of the user's LangGraph are not the demo's to show.
    writer = [sys.executable, "-B", "-W", "ignore", str(_HERE / "writer" / "write.py")]
    try:
        done = subprocess.run(
            [*writer, str(scratch), now.isoformat()],
            cwd=scratch,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SourceError(f"The demo was not written within {_SECONDS} seconds.") from None
    if done.returncode != _KILLED:
        why = done.stderr.decode(errors="replace").strip().splitlines() or ["it gave no reason"]
        raise SourceError(f"The demo cannot be written by {sys.executable}: {why[-1]}.")
    store = scratch / _STORE
    with closing(sqlite3.connect(store)) as connection:
        connection.execute(f"pragma application_id = {_APPLICATION_ID}")
        connection.execute("pragma wal_checkpoint(truncate)")
    return store


def _environment() -> dict[str, str]:
    """Ours, without what would change the content or send it somewhere."""
    drop = ("PYTHONSAFEPATH", "LANGGRAPH_STRICT_MSGPACK", "LANGGRAPH_AES_KEY")
    kept = {name: value for name, value in os.environ.items() if name not in drop}
    # The order of sets, which LangGraph stores for joins, follows the hash seed.
    fixed = {"PYTHONHASHSEED": "0", "LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"}
    return {**kept, **fixed}
