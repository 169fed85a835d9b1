"""A sandbox on disk: a SQLite file with SqliteSaver's tables, and what it remembers of itself.

Written by nobody but us and the host that runs a graph on it. Readable by its owner alone. It is
made under another name and takes its own when it is whole.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from retrograph.engine.errors import SourceError
from retrograph.engine.sandbox.recorded import RECORDED, Steps, put_recorded

if TYPE_CHECKING:
    from retrograph.engine.host.requests import CheckpointRow, StoredWrite

APPLICATION: Final = 0x52475342
"""SQLite's application id of a sandbox, "RGSB": bytes 68 to 71 of the file."""
TABLE: Final = "retrograph_sandbox"
_FORMAT: Final = 1
_SCHEMA: Final = """
CREATE TABLE checkpoints (
    thread_id TEXT NOT NULL,
    checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT,
    type TEXT,
    checkpoint BLOB,
    metadata BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
);
CREATE TABLE writes (
    thread_id TEXT NOT NULL,
    checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    task_path TEXT NOT NULL DEFAULT '',
    idx INTEGER NOT NULL,
    channel TEXT NOT NULL,
    type TEXT,
    value BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);
CREATE TABLE retrograph_sandbox (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a sandbox is from."""

    source: str
    """What opens the source again: a path, an address without credentials, `sandbox:ID`."""
    thread_id: str
    ns: str
    checkpoint_id: str
    """The checkpoint that was forked or run on from."""
    kind: str
    """"replay", "go on"; "full …" where all ancestors were copied."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A sandbox that is there."""

    id: str
    path: Path
    origin: Origin
    created_at: datetime

    @property
    def size(self) -> int:
        """Bytes, with its log."""
        return sum(p.stat().st_size for p in parts(self.path) if p.exists())

    @property
    def is_writable(self) -> bool:
        """Whether a run can go on in it: the file and its folder, for the log beside it."""
        return all(os.access(path, os.W_OK) for path in (self.path, self.path.parent))


class Draft:
    """A sandbox that is being made."""

    def __init__(self, path: Path, thread_id: str) -> None:
        self._thread_id = thread_id
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        self._db = sqlite3.connect(path, isolation_level=None)

    def begin(self) -> None:
        # Nobody else knows it yet: until it is whole it needs no journal.
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"):
            self._db.execute(f"PRAGMA {pragma}")
        self._db.execute(f"PRAGMA application_id = {APPLICATION}")
        self._db.executescript(_SCHEMA + RECORDED)
        self._db.execute("BEGIN")

    def add(
        self, checkpoints: Iterable[CheckpointRow] = (), writes: Iterable[StoredWrite] = ()
    ) -> None:
        put_rows(self._db, self._thread_id, checkpoints, writes)

    def record(self, recorded: Steps) -> None:
        put_recorded(self._db, recorded)

    def remember(self, **values: Any) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO retrograph_sandbox VALUES (?, ?)",
            [(name, json.dumps(value)) for name, value in values.items()],
        )

    def finish(self) -> None:
        self._db.execute("COMMIT")
        self.close()

    def close(self) -> None:
        self._db.close()


@contextmanager
def draft(folder: Path, origin: Origin) -> Iterator[tuple[Sandbox, Draft]]:
    """Make a sandbox: what is added within is in it afterwards. Where that fails nothing is left.

    Raises `SourceError` where the folder or the disk refuses it.
    """
    with _failing(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    id_ = secrets.token_hex(4)
    path = folder / f"{id_}.db"
    part = folder / f"{id_}.part"
    made = Sandbox(id_, path, origin, datetime.now(UTC))
    with _failing(path):
        open_ = Draft(part, origin.thread_id)
    try:
        with _failing(path):
            open_.begin()
            yield made, open_
            created = made.created_at.isoformat()
            open_.remember(format=_FORMAT, created_at=created, origin=asdict(origin))
            open_.finish()
            part.rename(path)
    except BaseException:
        open_.close()
        part.unlink(missing_ok=True)
        raise


def put_rows(
    db: sqlite3.Connection,
    thread_id: str,
    checkpoints: Iterable[CheckpointRow],
    writes: Iterable[StoredWrite],
) -> None:
    db.executemany(
        "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)",
        ((thread_id, *row[:3], *row.checkpoint, row.metadata) for row in checkpoints),
    )
    db.executemany(
        "INSERT OR REPLACE INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((thread_id, *row[:6], *row.value) for row in writes),
    )


def add_rows(
    path: Path,
    thread_id: str,
    checkpoints: Iterable[CheckpointRow] = (),
    writes: Iterable[StoredWrite] = (),
) -> None:
    """Add rows to a sandbox that is there. Raises `SourceError`."""
    with _failing(path), closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA busy_timeout = 5000")
        db.execute("BEGIN IMMEDIATE")
        put_rows(db, thread_id, checkpoints, writes)
        db.execute("COMMIT")


def read_sandbox(path: Path) -> Sandbox:
    """What a sandbox remembers. Raises `SourceError` where it is none, or broken."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            known = dict(db.execute(f"SELECT name, value FROM {TABLE}"))
    except sqlite3.Error as error:
        raise SourceError(f"{path} is not a sandbox, or is broken: {error}.") from error
    return sandbox_of(path, known)


def sandbox_of(path: Path, known: Mapping[str, str]) -> Sandbox:
    """A sandbox from the pairs in its table `TABLE`. Raises `SourceError`."""
    try:
        origin = Origin(**json.loads(known["origin"]))
        created = datetime.fromisoformat(json.loads(known["created_at"]))
        format_ = json.loads(known["format"])
    except (LookupError, ValueError, TypeError) as error:
        raise SourceError(f"{path} is not a sandbox, or is broken: {error!r}.") from error
    if format_ != _FORMAT:
        raise SourceError(f"{path} was made by another version of Retrograph (format {format_}).")
    return Sandbox(path.stem, path, origin, created)


def parts(path: Path) -> list[Path]:
    """The file, and what SQLite may have put beside it."""
    return [path, *(Path(f"{path}{end}") for end in ("-wal", "-shm", "-journal"))]


@contextmanager
def _failing(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise SourceError(f"The sandbox {path} cannot be written: {why}.") from error
