"""A thread of 10,000 checkpoints, run by LangGraph, whose messages grow: one of 200 characters
every 25 steps, and 200 small threads beside it."""

from __future__ import annotations

import operator
import sqlite3
from pathlib import Path
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from tests.bench.stores import cached
from tests.bench.stores.repeat import new_store, run

THREAD = "growing"
MESSAGE_EVERY = 25
TEXT = "The quick brown fox jumps over the lazy dog, and nobody minds. " * 4


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    wanted: int
    done: Annotated[int, operator.add]


def work(state: State) -> State:
    step = state["done"] + 1
    if step % MESSAGE_EVERY:
        return {"done": 1}
    return {"done": 1, "messages": [AIMessage(TEXT[:200], id=f"message-{step}")]}


def check(state: State) -> State:
    return work(state)


def enough(state: State) -> str:
    return END if state["done"] >= state["wanted"] else "check"


builder = StateGraph(State)
builder.add_node(work)
builder.add_node(check)
builder.add_edge(START, "work")
builder.add_conditional_edges("work", enough, ["check", END])
builder.add_edge("check", "work")


def growing(checkpoints: int) -> Path:
    """The store of a thread of some so many checkpoints, named `THREAD`."""
    return cached(f"growing-{checkpoints}-1.db", lambda path: _build(path, checkpoints))


def graph(path: Path) -> object:
    """The graph, with the store as LangGraph opens it."""
    connection = sqlite3.connect(path, check_same_thread=False)
    return builder.compile(checkpointer=SqliteSaver(connection))


def _build(path: Path, checkpoints: int) -> None:
    with new_store(path) as connection:
        graph = builder.compile(checkpointer=SqliteSaver(connection))
        run(graph, THREAD, {"wanted": checkpoints, "done": 0}, recursion_limit=checkpoints + 10)
        for number in range(200):
            run(graph, f"small-{number}", {"wanted": 5, "done": 0})
