"""A replay kept as a test: a store beside a file for pytest, which runs offline on what was
recorded and says which nodes must run."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from retrograph.cli import talk
from retrograph.engine.errors import SourceError, UsageError
from retrograph.engine.model import ROOT, CheckpointKey
from retrograph.engine.replay.asked import Key, named
from retrograph.engine.replay.recordings import recordings
from retrograph.engine.sandbox.file import TABLE
from retrograph.engine.text import escape
from retrograph.engine.thread import Thread
from retrograph.loaders.launch import plan_launch
from retrograph.loaders.sqlite import SQLiteLoader

if TYPE_CHECKING:
    from retrograph.cli.running.carrying import Call
    from retrograph.cli.running.ending import Ending
    from retrograph.engine.host.target import Launch

_LONG = 90
_TEST = Template('''\
"""Kept by `retrograph replay --save-test`: $title

Runs your graph from that checkpoint, offline: the nodes in RECORDED give what they gave then, and
your routers decide. Take one out of it, and it runs itself.
"""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
STORE = HERE / $store
THREAD = $thread
REF = $ref
GRAPH = $graph
PROJECT = HERE / $project

RECORDED = $recorded
PAUSE_BEFORE = $pause
RAN = $ran
"""The nodes of each super-step."""
STATUS = $status
NEXT = $next


def replay(folder: Path) -> dict:
    program = [sys.executable, "-m", "retrograph"]
    if find_spec("retrograph") is None:
        program = [shutil.which("retrograph") or "retrograph"]
    call = ["replay", str(STORE), REF, "--thread", THREAD, "--json"]
    call += ["--graph", GRAPH] if GRAPH else []
    for node in RECORDED:
        call += ["--recorded", node]
    for node in PAUSE_BEFORE:
        call += ["--pause-before", node]
    done = subprocess.run(
        [*program, *call],
        cwd=PROJECT,
        env={**os.environ, "XDG_DATA_HOME": str(folder)},  # where its sandbox is made
        capture_output=True,
        text=True,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def $name(tmp_path: Path) -> None:
    done = replay(tmp_path)
    steps = {}
    for task in done["ran"]:
        if not task["ns"]:
            steps.setdefault(task["step"], []).append(task["node"])
    assert [sorted(nodes) for nodes in steps.values()] == RAN, done["error"]
    assert done["status"] == STATUS, done["error"]
    assert done["next"] == NEXT
''')


def keep(path: Path, ending: Ending, call: Call) -> None:
    """Write the test and its store. Raises `UsageError`, `SourceError`."""
    path = path.expanduser().absolute()
    store = path.with_suffix(".db")
    if ending.status not in ("done", "interrupted", "paused"):
        raise UsageError("Only a replay that went well can be kept as a test.")
    launch = plan_launch(call.stated, call.config)
    try:
        _copy(ending.sandbox.path, store)
        with closing(SQLiteLoader(store)) as loader:
            thread = Thread(loader, ending.key.thread_id)
            path.write_text(_text(path, store, thread, ending, launch), "utf-8")
    except (OSError, sqlite3.Error) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise SourceError(f"{path} cannot be written: {why}.") from error
    talk.say(f"Kept as {path.name}, with {store.name} beside it.")


def check_name(text: str) -> Path:
    """The file of `--save-test`. Raises `UsageError` before anything runs."""
    path = Path(text).expanduser()
    if path.suffix != ".py" or not path.stem.startswith("test_") or not path.stem.isidentifier():
        raise UsageError(f"--save-test {path.name}: pytest finds tests in files test_….py.")
    for file in (path, path.with_suffix(".db")):
        if file.exists():
            raise UsageError(f"--save-test: {file} is there already.")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"--save-test: there is no folder {path.absolute().parent}.")
    return path


def _text(path: Path, store: Path, thread: Thread, ending: Ending, launch: Launch) -> str:
    result = ending.result
    recorded = list(recordings(thread, ending.start, result.head))
    steps = _steps(thread, ending)
    title = " → ".join(", ".join(nodes) for nodes in steps) or "nothing runs"
    pauses = result.next if ending.status == "paused" and not result.held else ()
    return _TEST.substitute(
        title=_said(f"{ending.key.thread_id}: {title}."),
        store=_text_of(store.name),
        thread=_text_of(ending.start.thread_id),
        ref=_text_of(_within(ending.start)),
        graph=_text_of(_graph(launch)),
        project=_text_of(os.path.relpath(launch.project, path.parent)),
        recorded=_list([named(key) for key in recorded if not _inside(key, recorded)]),
        pause=_list(pauses),
        ran=_list(steps),
        status=_text_of(ending.status),
        next=_list(result.next),
        name=path.stem,
    )


def _steps(thread: Thread, ending: Ending) -> list[list[str]]:
    """The nodes of each super-step from the start on; what had finished there runs again."""
    history, key = thread.history, ending.start
    if key.ns:
        return ending.super_steps
    line = [history.ids[i] for i in history.line(history.find(ROOT, ending.result.head))]
    steps = [list(thread.step(ROOT, id_).ran) for id_ in line[line.index(key.id) + 1 :]]
    if ending.status == "interrupted":
        steps.append(list(thread.step(ROOT, ending.result.head).next))
    return [step for step in steps if step]


def _inside(key: Key, recorded: Sequence[Key]) -> bool:
    """Whether the sub-graph that a node is in is recorded as a whole."""
    parts = key[0].split("|") if key[0] else []
    return any(("|".join(parts[:n]), parts[n]) in recorded for n in range(len(parts)))


def _copy(sandbox: Path, store: Path) -> None:
    """The sandbox as an ordinary store of SqliteSaver's."""
    with closing(sqlite3.connect(f"{sandbox.as_uri()}?mode=ro", uri=True)) as db:
        db.execute("VACUUM INTO ?", (str(store),))
    with closing(sqlite3.connect(store, isolation_level=None)) as db:
        db.execute(f"DROP TABLE IF EXISTS {TABLE}")
        db.execute("DROP TABLE IF EXISTS retrograph_recorded")
        db.execute("PRAGMA application_id = 0")
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("VACUUM")


def _within(key: CheckpointKey) -> str:
    """The reference, for `--thread`."""
    return f"::{key.ns.replace('@', chr(92) + '@')}@{key.id}" if key.ns else f"@{key.id}"


def _graph(launch: Launch) -> str:
    """What `--graph` takes in the project's folder."""
    target = launch.target
    if target.served:
        return target.shown.partition(" (")[0]
    if target.path is None:
        return f"{target.module}:{target.attribute}"
    return f"{os.path.relpath(target.path, launch.project)}:{target.attribute}"


def _text_of(value: str) -> str:
    """As Python writes it."""
    return json.dumps(value)


def _list(value: Sequence[object]) -> str:
    """Texts, or lists of texts, as Python writes them."""
    line = json.dumps(list(value))
    return line if len(line) < _LONG else json.dumps(list(value), indent=4)


def _said(text: str) -> str:
    """In a docstring."""
    return escape(text).replace("\\", "/").replace('"', "'")
