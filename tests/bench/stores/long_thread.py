"""One thread of 100,000 checkpoints with a fork now and then; its values stay small."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

from langgraph.checkpoint.sqlite import SqliteSaver
from tests.bench.stores import cached
from tests.bench.stores.growing import builder
from tests.bench.stores.repeat import (
    Checkpoint,
    Template,
    Write,
    checkpoint_id,
    insert,
    moment,
    new_store,
    repeat,
    run,
)

THREAD = "long"
FORK_EVERY = 1_000


def long_thread(checkpoints: int) -> Path:
    """The store of a thread of so many checkpoints, named `THREAD`."""
    return cached(f"long-{checkpoints}-1.db", lambda path: _build(path, checkpoints))


def _build(path: Path, checkpoints: int) -> None:
    template = _template()
    # The loop's two nodes, over and over, after the real beginning.
    first, loop = template.checkpoints[:2], template.checkpoints[2:4]
    dice = random.Random(1)
    with new_store(path) as connection:
        rows: list[Checkpoint] = []
        writes: list[Write] = []
        ids: list[str] = []
        for number in range(checkpoints):
            old = first[number] if number < 2 else loop[number % 2]
            step, at = number - 1, moment(number * 0.8)
            new_id = checkpoint_id(at, step, dice)
            forked = number % FORK_EVERY == 0 and number > 20
            parent = ids[number - 11 if forked else number - 1] if ids else None
            row, its = repeat(old, template.writes[old.id], THREAD, new_id, parent, step, at)
            rows.append(row)
            writes += its
            ids.append(new_id)
            if len(rows) == 20_000 or number == checkpoints - 1:
                insert(connection, rows, writes)
                rows, writes = [], []


def _template() -> Template:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    graph = builder.compile(checkpointer=SqliteSaver(connection))
    run(graph, THREAD, {"wanted": 8, "done": 0})
    return Template.of(connection, THREAD)
