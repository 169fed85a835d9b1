"""Reading leaves every file as it was, whatever state the files are in and whoever reads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from loaders import sqlite_states
from loaders.fill import TESTS
from loaders.sqlite_files import snapshot

STORE = TESTS / "data" / "formats" / "langgraph-1.2.24.db"
NOBODY = 65534
CHECKPOINTS = 37

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
READERS = [
    pytest.param(None, id="self"),
    pytest.param(NOBODY, id="nobody", marks=needs_root),
]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user reaches, unlike pytest's own."""
    made = Path(tempfile.mkdtemp(prefix="retrograph-test-"))
    made.chmod(0o755)
    yield made
    made.chmod(0o755)
    shutil.rmtree(made)


@pytest.fixture
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the reader puts copies: must be empty at the end."""
    made = Path(tempfile.mkdtemp(prefix="retrograph-temp-"))
    made.chmod(0o777)
    yield made
    shutil.rmtree(made)


def probe(path: Path, uid: int | None, temporary: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "loaders.probe", str(path), *([str(uid)] if uid else [])]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run(
        command, cwd=TESTS, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("writable", [True, False], ids=["writable", "read-only"])
@pytest.mark.parametrize("uid", READERS)
@pytest.mark.parametrize("state", sqlite_states.STATES)
def test_every_state(
    state: str, uid: int | None, writable: bool, folder: Path, temporary: Path
) -> None:
    path = sqlite_states.make(state, STORE, folder)
    if uid is not None and writable:
        _give(folder, uid)
    if not writable:
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555)
    before = snapshot(folder)
    found = probe(path, uid, temporary)
    assert snapshot(folder) == before
    assert list(temporary.iterdir()) == []
    assert "error" not in found, found
    assert found["checkpoints"] == CHECKPOINTS + sqlite_states.ADDED
    assert found["warnings"] == []


def _give(folder: Path, uid: int) -> None:
    for path in (folder, *folder.iterdir()):
        os.chown(path, uid, uid)


def test_an_empty_database_beside_half_of_it(folder: Path, temporary: Path) -> None:
    """The older pages are gone; what the log holds is shown."""
    path = sqlite_states.make("wal_hot", STORE, folder)
    path.write_bytes(b"")
    before = snapshot(folder)
    found = probe(path, None, temporary)
    assert snapshot(folder) == before
    assert list(temporary.iterdir()) == []
    assert sqlite_states.ADDED <= found["checkpoints"] < CHECKPOINTS + sqlite_states.ADDED
    assert "rows of checkpoints can be read, up to" in found["warnings"][0]


@needs_root
@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_root_gives_no_file_another_owner(suffix: str, folder: Path, temporary: Path) -> None:
    path = sqlite_states.make("wal_hot", STORE, folder)
    os.chown(f"{path}{suffix}", NOBODY, NOBODY)
    before = snapshot(folder)
    found = probe(path, None, temporary)
    assert snapshot(folder) == before
    assert found["checkpoints"] == CHECKPOINTS + sqlite_states.ADDED


@needs_root
def test_a_log_that_may_not_be_read(folder: Path, temporary: Path) -> None:
    path = sqlite_states.make("wal_hot", STORE, folder)
    Path(f"{path}-wal").chmod(0o600)
    before = snapshot(folder)
    found = probe(path, NOBODY, temporary)
    assert snapshot(folder) == before
    assert "store.db-wal holds the newest rows and cannot be read" in found["error"]


@needs_root
def test_an_index_of_the_log_that_may_not_be_read(folder: Path, temporary: Path) -> None:
    path = sqlite_states.make("wal_hot", STORE, folder)
    Path(f"{path}-shm").chmod(0o600)
    before = snapshot(folder)
    found = probe(path, NOBODY, temporary)
    assert snapshot(folder) == before
    assert found["checkpoints"] == CHECKPOINTS + sqlite_states.ADDED


def _empty(folder: Path) -> Path:
    (folder / "x.db").write_bytes(b"")
    return folder / "x.db"


def _empty_beside_nonsense(folder: Path) -> Path:
    (folder / "x.db-wal").write_bytes(b"nonsense " * 500)
    return _empty(folder)


def _empty_beside_empty_log(folder: Path) -> Path:
    (folder / "x.db-wal").write_bytes(b"")
    return _empty(folder)


def _empty_beside_journal(folder: Path) -> Path:
    path = sqlite_states.make("hot_journal", STORE, folder)
    path.write_bytes(b"")
    return path


def _text(folder: Path) -> Path:
    (folder / "notes.txt").write_text("SQLite is nice\n" * 100)
    return folder / "notes.txt"


def _other_database(folder: Path) -> Path:
    return _database(folder, "CREATE TABLE users (id, name)", "CREATE TABLE posts (id)")


def _no_tables(folder: Path) -> Path:
    return _database(folder, "CREATE TABLE t (a)", "DROP TABLE t")


def _other_checkpoints(folder: Path) -> Path:
    return _database(
        folder, "CREATE TABLE checkpoints (checkpoint_id TEXT, type TEXT, epoch INT, path TEXT)"
    )


def _a_view(folder: Path) -> Path:
    return _database(
        folder,
        "CREATE VIEW checkpoints AS SELECT 't' thread_id, 'c' checkpoint_id, x'' checkpoint",
    )


def _database(folder: Path, *statements: str) -> Path:
    path = folder / "other.db"
    script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2])"
    subprocess.run([sys.executable, "-c", script, str(path), ";".join(statements)], check=True)
    return path


def _missing(folder: Path) -> Path:
    return folder / "typo.db"


def _missing_folder(folder: Path) -> Path:
    return folder / "no" / "such" / "typo.db"


def _folder(folder: Path) -> Path:
    (folder / "data").mkdir()
    return folder / "data"


def _fifo(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.db")
    return folder / "pipe.db"


def _loop(folder: Path) -> Path:
    (folder / "a.db").symlink_to("b.db")
    (folder / "b.db").symlink_to("a.db")
    return folder / "a.db"


def _dangling(folder: Path) -> Path:
    (folder / "a.db").symlink_to("gone.db")
    return folder / "a.db"


def _long_name(folder: Path) -> Path:
    return folder / ("x" * 5000)


def _device(folder: Path) -> Path:
    return Path("/dev/null")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (_empty, "is empty (0 bytes)"),
        (_empty_beside_empty_log, "is empty (0 bytes)"),
        (_empty_beside_nonsense, "is empty, and the -wal beside it"),
        (_empty_beside_journal, "is empty (0 bytes)"),
        (_text, "is not a SQLite database"),
        (_other_database, "holds no LangGraph checkpoints, only the tables posts, users"),
        (_no_tables, "without any table"),
        (_other_checkpoints, "is another program's (it has no column thread_id and no checkpoint)"),
        (_a_view, "without any table"),
        (_missing, "does not exist"),
        (_missing_folder, "does not exist"),
        (_folder, "There is no checkpoint store in "),
        (_fifo, "is not a regular file"),
        (_loop, "cannot be opened: "),
        (_dangling, "does not exist"),
        (_long_name, "cannot be opened: "),
        (_device, "is not a regular file"),
    ],
)
def test_refused_in_one_sentence(
    make: Callable[[Path], Path], says: str, folder: Path, temporary: Path
) -> None:
    path = make(folder)
    before = snapshot(folder)
    found = probe(path, None, temporary)
    assert snapshot(folder) == before
    assert list(temporary.iterdir()) == []
    assert found["error"].startswith("SourceError: ")
    assert says in found["error"]
    assert "\n" not in found["error"]
    assert found["error"].endswith(".")


@needs_root
@pytest.mark.parametrize("what", ["file", "folder"])
def test_no_permission(what: str, folder: Path, temporary: Path) -> None:
    (folder / "closed").mkdir()
    path = folder / "closed" / "store.db"
    shutil.copy(STORE, path)
    (path if what == "file" else path.parent).chmod(0o000)
    before = snapshot(folder)
    found = probe(path, NOBODY, temporary)
    assert snapshot(folder) == before
    assert "permission denied" in found["error"]
    path.parent.chmod(0o755)


@pytest.mark.parametrize(
    "name",
    ["a?b.db", "a#b.db", "50%25.db", "with spaces.db", "ünï 線.db", "a&mode=rwc.db", "'\".db"],
)
def test_odd_names(name: str, folder: Path, temporary: Path) -> None:
    path = folder / name
    shutil.copy(STORE, path)
    before = snapshot(folder)
    found = probe(path, None, temporary)
    assert snapshot(folder) == before
    assert found["checkpoints"] == CHECKPOINTS


def test_a_name_that_is_not_utf8(folder: Path, temporary: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.db"))
    shutil.copy(STORE, path)
    before = snapshot(folder)
    assert probe(path, None, temporary)["checkpoints"] == CHECKPOINTS
    assert snapshot(folder) == before


def test_through_a_symlink_the_log_of_the_real_file_counts(folder: Path, temporary: Path) -> None:
    (folder / "real").mkdir()
    path = sqlite_states.make("wal_hot", STORE, folder / "real")
    (folder / "link.db").symlink_to(path)
    before = snapshot(folder)
    found = probe(folder / "link.db", None, temporary)
    assert snapshot(folder) == before
    assert found["checkpoints"] == CHECKPOINTS + sqlite_states.ADDED
