"""Run by a user's interpreter: the worker's saver beside SqliteSaver, on the same graphs.

    python savers.py WORKER_FOLDER

fails where the two give different histories or rows, or SqliteSaver cannot read ours.
"""

from __future__ import annotations

import asyncio
import operator
import re
import sqlite3
import sys
import warnings
from types import ModuleType
from typing import Annotated, Any, TypedDict

warnings.simplefilter("ignore")
package = ModuleType("_rg_worker")
package.__path__ = [sys.argv[1]]
sys.modules["_rg_worker"] = package

from _rg_worker.gate import Gate  # type: ignore[import-not-found]
from _rg_worker.saver import WorkerSaver  # type: ignore[import-not-found]
from _rg_worker.serde import GateSerde  # type: ignore[import-not-found]
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.types import Command, Send, interrupt


class State(TypedDict, total=False):
    n: int
    log: Annotated[list[str], operator.add]
    messages: Annotated[list[Any], add_messages]


def step(name: str) -> Any:
    return lambda s: {"log": [name], "n": s.get("n", 0) + 1}


def loop() -> Any:
    g = StateGraph(State)
    for name in ("a", "b"):
        g.add_node(name, lambda s, name=name: {"log": [name]})
    g.add_node("c", step("c"))
    g.add_edge(START, "a")
    g.add_edge(START, "b")
    g.add_edge(["a", "b"], "c")
    g.add_conditional_edges("c", lambda s: ["a", "b"] if s["n"] < 3 else END)
    return g


def sends() -> Any:
    g = StateGraph(State)
    g.add_node("w", lambda s: {"log": [str(s["n"])]})
    g.add_node("z", step("z"))
    g.add_conditional_edges(START, lambda s: [Send("w", {"n": k}) for k in range(3)], ["w"])
    g.add_edge("w", "z")
    return g


def asking() -> Any:
    inner = StateGraph(State)
    inner.add_node("ask", lambda s: {"log": [interrupt("really?")]})
    inner.add_edge(START, "ask")
    g = StateGraph(State)
    g.add_node("pre", lambda s: {"messages": [HumanMessage("hi", id="1"), AIMessage("ho", id="2")]})
    g.add_node("sub", inner.compile())
    g.add_edge(START, "pre")
    g.add_edge("pre", "sub")
    return g


def one(saver: Any, builder: Any, asynchronous: bool) -> None:
    graph = builder.compile(checkpointer=saver)
    config = {"configurable": {"thread_id": "t", "user_id": "u1"}, "metadata": {"k": 1}}
    inputs: list[Any] = [{"n": 1}, Command(resume="yes"), {"n": 4}]
    for given in inputs:
        if asynchronous:
            asyncio.run(graph.ainvoke(given, config, durability="sync"))
        else:
            graph.invoke(given, config, durability="sync")


def history(saver: Any, builder: Any) -> list[Any]:
    graph = builder.compile(checkpointer=saver)
    found = []
    for s in graph.get_state_history({"configurable": {"thread_id": "t"}}):
        tasks = [(t.name, t.error, [i.value for i in t.interrupts], t.result) for t in s.tasks]
        found.append((s.values, s.next, {**s.metadata, "run_id": 0}, tasks))
    return found


ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d+\.0\.\d+")


def rows(path: str) -> Any:
    """Rows as stored, with ids by their order of appearance."""
    known: dict[str, int] = {}

    def named(value: Any) -> Any:
        if isinstance(value, bytes):
            return ID.sub(b"", value)[:0] if b"channel_versions" in value else ID.sub(b"", value)
        if isinstance(value, str) and ID.search(value.encode()):
            return "|".join(
                str(known.setdefault(part, len(known))) for part in re.split(r"[|]", value)
            )
        return value

    with sqlite3.connect(path) as connection:
        return [
            [tuple(map(named, row)) for row in connection.execute(query)]
            for query in (
                "SELECT checkpoint_id, parent_checkpoint_id, type, metadata FROM checkpoints "
                "WHERE checkpoint_ns = '' ORDER BY checkpoint_id",
                "SELECT checkpoint_id, idx, channel, type, length(value) FROM writes "
                "WHERE checkpoint_ns = '' ORDER BY 1, 2, 3, 4, 5",
            )
        ]


def main() -> None:
    for name, make in (("loop", loop), ("sends", sends), ("asking", asking)):
        theirs = f"{name}-theirs.db"
        with SqliteSaver.from_conn_string(theirs) as saver:
            one(saver, make(), False)
            expected = history(saver, make())
        for asynchronous in (False, True):
            ours = f"{name}-{asynchronous}.db"
            told: list[tuple[str, Any]] = []
            mine = WorkerSaver(ours, GateSerde(Gate()), lambda *event: told.append(event))  # noqa: B023
            one(mine, make(), asynchronous)
            assert history(mine, make()) == expected, (name, asynchronous)
            mine.close()
            with SqliteSaver.from_conn_string(ours) as saver:
                assert history(saver, make()) == expected, (name, "read by SqliteSaver")
            assert rows(ours) == rows(theirs), (name, rows(ours), rows(theirs))
            with sqlite3.connect(ours) as connection:
                for table, event in (("checkpoints", "checkpoint"), ("writes", "writes")):
                    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
                    seen = [data for kind, data in told if kind == event]
                    number = (
                        len(seen)
                        if table == "checkpoints"
                        else sum(len(data["channels"]) for data in seen)
                    )
                    assert number >= count > 0, (name, table, number, count)
    print("same")


main()
