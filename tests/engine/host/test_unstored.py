"""A value that LangGraph cannot store is told by its node, its channel and its place in it."""

from __future__ import annotations

from pathlib import Path

from hosting import hosted, plan_of, typed
from retrograph.engine.host.requests import Begin, load, run

GRAPHS = """
import threading
from collections import namedtuple
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import Send

@dataclass
class Ticket:
    body: Any

Pair = namedtuple("Pair", "one other")

class State(TypedDict, total=False):
    bad: Any
    made: Annotated[Any, lambda old, new: (one for one in "ab")]

def of(value, channel="bad", asynchronous=False):
    graph = StateGraph(State)
    def node(state):
        return {channel: value}
    async def later(state):
        return {channel: value}
    graph.add_node("right", later if asynchronous else node)
    graph.add_edge(START, "right")
    return graph.compile()

top = of((n for n in range(3)))
later = of((n for n in range(3)), asynchronous=True)
nested = of({"a": 1, "tools": [1, {2: threading.Lock()}]})
inside = of(Ticket(Pair(1, open)))
huge = of({"n": 2**70})
reduced = of("text", "made")

def route(state):
    return Send("work", {"key": threading.Lock()})

sent = StateGraph(State)
sent.add_node("ask", lambda state: {})
sent.add_node("work", lambda state: {})
sent.add_edge(START, "ask")
sent.add_conditional_edges("ask", route, ["work"])
"""


def test_what_it_says(tmp_path: Path, python: str) -> None:
    (tmp_path / "graphs.py").write_text(GRAPHS)
    found = {}
    with hosted(tmp_path, "graphs.py:top", python) as (host, _):
        for name in ("top", "later", "nested", "inside", "huge", "reduced", "sent"):
            load(host, plan_of(tmp_path, f"graphs.py:{name}", python))
            begin = Begin("input", typed({"bad": 1, "made": "x"}))
            with run(host, tmp_path / f"{name}.db", "t", begin) as job:
                list(job)
            assert job.reply["status"] == "error", name
            error = job.reply["error"]
            assert (error["type"], error["traceback"]) == ("TypeError", "")
            assert error["message"] == error["sentence"]
            found[name] = error["sentence"]
    wrote, end = "Node 'right' wrote a value of type", "which LangGraph cannot store"
    huge = found.pop("huge")
    assert huge.startswith(f"{wrote} int to bad['n'], {end} (")
    assert found == {
        "top": f"{wrote} generator to bad, {end}.",
        "later": f"{wrote} generator to bad, {end}.",
        "nested": f"{wrote} _thread.lock to bad['tools'][1][2], {end}.",
        "inside": f"{wrote} builtin_function_or_method to bad.body.other, {end}.",
        "reduced": f"made holds a value of type generator, {end}.",
        "sent": f"Node 'ask' wrote a value of type _thread.lock to its Send to work['key'], {end}.",
    }
