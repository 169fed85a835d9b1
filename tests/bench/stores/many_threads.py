"""100,000 threads of 3 checkpoints: most are done, some wait, failed or died."""

from __future__ import annotations

import operator
import random
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Annotated, TypedDict
from uuid import UUID

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from tests.bench.stores import cached
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

SHARES = {"done": 85, "interrupted": 10, "error": 3, "unfinished": 2}
"""In percent."""


class State(TypedDict, total=False):
    kind: str
    request: str
    draft: str
    notes: Annotated[list[str], operator.add]


def draft(state: State) -> State:
    return {"draft": f"A draft about {state['request']}. " * 8, "notes": ["drafted"]}


def review(state: State) -> State:
    if state["kind"] == "error":
        raise ValueError("the reviewer is out of office")
    return {"notes": [interrupt({"question": "Send this?"})]}


def after_draft(state: State) -> str:
    return END if state["kind"] == "done" else "review"


builder = StateGraph(State)
builder.add_node(draft)
builder.add_node(review)
builder.add_edge(START, "draft")
builder.add_conditional_edges("draft", after_draft, ["review", END])
builder.add_edge("review", END)


def templates() -> dict[str, Template]:
    """One thread of each status, of 3 checkpoints."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    graph = builder.compile(checkpointer=SqliteSaver(connection))
    found = {}
    for kind in SHARES:
        with suppress(ValueError):
            run(graph, kind, {"kind": kind, "request": "the spring collection"})
        found[kind] = Template.of(connection, kind)
        assert len(found[kind].checkpoints) == 3
    # A process that died in `review` left just what is there before it ends.
    died = found["unfinished"]
    died.writes[died.checkpoints[-1].id] = []
    return found


def many_threads(threads: int) -> Path:
    """The store of so many threads."""
    return cached(f"threads-{threads}-1.db", lambda path: _build(path, threads))


def _build(path: Path, threads: int) -> None:
    kinds = templates()
    dice = random.Random(1)
    chosen = dice.choices(list(SHARES), weights=list(SHARES.values()), k=threads)
    with new_store(path) as connection:
        rows: list[Checkpoint] = []
        writes: list[Write] = []
        for number, kind in enumerate(chosen):
            template = kinds[kind]
            thread_id = str(UUID(int=dice.getrandbits(128), version=4))
            parent = None
            for step, old in enumerate(template.checkpoints, start=-1):
                at = moment(number * 31 + (step + 1) * 1.7)
                new_id = checkpoint_id(at, step, dice)
                row, its = repeat(old, template.writes[old.id], thread_id, new_id, parent, step, at)
                rows.append(row)
                writes += its
                parent = new_id
            if number % 10_000 == 9_999 or number == threads - 1:
                insert(connection, rows, writes)
                rows, writes = [], []
