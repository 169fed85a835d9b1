"""Recorded outputs in a sandbox: what nodes gave on the original line, so that they can stand in
when its source is not at hand."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from retrograph.engine.model import Typed

if TYPE_CHECKING:
    from retrograph.engine.host.runs import Task

RECORDED: Final = """
CREATE TABLE IF NOT EXISTS retrograph_recorded (
    ns TEXT NOT NULL,
    node TEXT NOT NULL,
    step INTEGER NOT NULL,
    task INTEGER NOT NULL,
    send INTEGER,
    idx INTEGER NOT NULL,
    channel TEXT,
    type TEXT,
    value BLOB,
    PRIMARY KEY (ns, node, step, task, idx)
);
"""

Steps = Mapping[tuple[str, str], Sequence[Sequence["Task"]]]


def put_recorded(db: sqlite3.Connection, recorded: Steps) -> None:
    """Store recordings, by (sub-graph, node): super-steps of tasks."""
    db.executemany("INSERT INTO retrograph_recorded VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   _rows(recorded))  # fmt: skip


def _rows(recorded: Steps) -> Iterator[tuple[Any, ...]]:
    for (ns, node), steps in recorded.items():
        for nth, step in enumerate(steps):
            for which, task in enumerate(step):
                head = (ns, node, nth, which, task.send)
                if not task.writes:
                    yield (*head, 0, None, None, None)
                for idx, (channel, typed) in enumerate(task.writes):
                    yield (*head, idx, channel, *typed)


def get_recorded(path: Path) -> dict[tuple[str, str], list[list[Task]]]:
    """The recordings of a sandbox; nothing where it has none."""
    from retrograph.engine.host.runs import Task

    found: dict[tuple[str, str], dict[int, dict[int, Task]]] = defaultdict(dict)
    query = "SELECT * FROM retrograph_recorded ORDER BY ns, node, step, task, idx"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            rows = db.execute(query).fetchall()
    except sqlite3.Error:
        return {}
    for ns, node, nth, which, send, _, channel, kind, value in rows:
        tasks = found[ns, node].setdefault(nth, {})
        task = tasks.setdefault(which, Task(send, []))
        if channel is not None:
            task.writes.append((channel, Typed(kind, value)))  # type: ignore[attr-defined]
    return {
        key: [list(tasks.values()) for _, tasks in sorted(steps.items())]
        for key, steps in found.items()
    }
