"""Edits in memory, in every LangGraph: held, re-routed, and each reason for holding."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import ormsgpack
import pytest

from hosting import VERSIONS, plan_of, python_of, typed
from retrograph.engine.errors import HostError
from retrograph.engine.host.client import Host
from retrograph.engine.host.requests import (
    Begin,
    CheckpointRow,
    Edit,
    Preview,
    Rows,
    StoredWrite,
    launch,
    load,
    preview,
    run,
)
from retrograph.engine.model import RawWrite, Typed

GRAPHS = """
import operator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.managed import RemainingSteps
from langgraph.types import Command, Send
from pydantic import BaseModel, field_validator

@dataclass
class Customer:
    name: str
    age: int = 1

class State(TypedDict, total=False):
    path: str
    n: int
    customer: Customer
    log: Annotated[list[str], operator.add]
    messages: Annotated[list, add_messages]

def step(name):
    return lambda s: {"log": [name]}

def graph_of(*names, **nodes):
    g = StateGraph(State)
    for name in names:
        g.add_node(name, nodes.get(name) or step(name))
    g.add_edge(START, names[0])
    return g

g = graph_of("a", "b", "c_main", "c_alt", "d")
g.add_edge("a", "b")
g.add_conditional_edges("b", lambda s: "c_" + s["path"], ["c_main", "c_alt"])
g.add_edge("c_main", "d")
g.add_edge("c_alt", "d")
routed = g.compile()

def jump(state) -> Command[Literal["c_main", "c_alt"]]:
    return Command(goto="c_" + state["path"], update={"log": ["jump"]})

commanded = graph_of("jump", "c_main", "c_alt", jump=jump).compile()

# The router of p sees what q writes beside it only when it is asked again.
g = graph_of("a", "p", "q", "r1", "r2", p=lambda s: {"n": 1}, q=lambda s: {"path": "changed"})
g.add_edge("a", "p")
g.add_edge("a", "q")
g.add_conditional_edges("p", lambda s: "r1" if s["path"] == "main" else "r2", ["r1", "r2"])
beside = g.compile()

def fussy(state):
    if state["path"] not in ("main", "alt"):
        raise ValueError(f"no way {state['path']}")
    return "c_" + state["path"]

g = graph_of("b", "c_main", "c_alt")
g.add_conditional_edges("b", fussy, ["c_main", "c_alt"])
choosy = g.compile()

g = graph_of("a", "w", "z", a=lambda s: {"log": ["a"]}, w=lambda s: {"log": [str(s["n"])]})
g.add_conditional_edges("a", lambda s: [Send("w", {"n": k}) for k in range(s["n"])], ["w"])
g.add_edge("w", "z")
sending = g.compile()

class Counting(State, total=False):
    remaining_steps: RemainingSteps

# As an agent sends its tool calls: the state among their arguments, with what LangGraph counts,
# and in another order of its entries than where its node wrote nothing.
g = StateGraph(Counting)
g.add_node("a", step("a"))
g.add_node("tools", lambda calls: {"log": [call["args"]["q"] for call in calls]})
g.add_edge(START, "a")
g.add_conditional_edges(
    "a", lambda s: [Send("tools", [{"args": {"q": s["path"], "state": {**s}}}])], ["tools"]
)
calling = g.compile()

g = graph_of("a", "p", "q", "z")
g.add_edge("a", "p")
g.add_edge("a", "q")
g.add_edge(["p", "q"], "z")
joined = g.compile()

inner = graph_of("x", "y", "y2")
inner.add_conditional_edges("x", lambda s: "y" if s["path"] == "main" else "y2", ["y", "y2"])
nested = graph_of("pre", "sub", sub=inner.compile())
nested.add_edge("pre", "sub")
nested = nested.compile()

async def aroute(state):
    return "c_" + state["path"]

g = graph_of("b", "c_main", "c_alt")
g.add_conditional_edges("b", aroute, ["c_main", "c_alt"])
asynchronous = g.compile()

class Basket(BaseModel):
    count: int = 0
    total: float = 0.0

    @field_validator("count")
    @classmethod
    def some(cls, value):
        if value > 10:
            raise ValueError("at most ten")
        return value

g = StateGraph(Basket)
g.add_node("add", lambda s: {"count": s.count + 1})
g.add_node("end", lambda s: {"total": 1.0})
g.add_edge(START, "add")
g.add_edge("add", "end")
pydantic = g.compile()

try:
    from langgraph.channels import DeltaChannel
except ImportError:
    delta = None
else:
    class Delta(TypedDict, total=False):
        n: int
        rows: Annotated[list[str], DeltaChannel(lambda s, ws: s + [x for w in ws for x in w])]

    g = StateGraph(Delta)
    g.add_node("a", lambda s: {"rows": ["a"]})
    g.add_node("b", lambda s: {"rows": ["b"], "n": len(s["rows"])})
    g.add_edge(START, "a")
    g.add_edge("a", "b")
    delta = g.compile()
"""


@pytest.fixture(scope="module", params=VERSIONS)
def host(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Host]:
    """A host for all tests of one LangGraph: each loads its graph."""
    folder = tmp_path_factory.mktemp("graphs")
    (folder / "graphs.py").write_text(GRAPHS)
    with launch(plan_of(folder, "graphs.py:routed", python_of(request.param))) as host:
        yield host


class Thread:
    """A finished thread of a graph, to be edited at its checkpoints."""

    def __init__(self, host: Host, graph: str, given: dict[str, Any]) -> None:
        self.host = host
        load(host, plan_of(host.project, f"graphs.py:{graph}"))
        path = host.project / f"{graph}.db"
        for left in host.project.glob(f"{graph}.db*"):
            left.unlink()
        with run(host, path, "t", Begin("input", typed(given))) as job:
            for _ in job:
                pass
            assert job.reply["status"] == "done", job.reply["error"]
        with sqlite3.connect(path) as connection:
            self.checkpoints = [
                CheckpointRow(ns, id_, parent, Typed(kind, data), metadata)
                for ns, id_, parent, kind, data, metadata in connection.execute(
                    "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, "
                    "metadata FROM checkpoints ORDER BY checkpoint_id"
                )
            ]
            self.writes = [
                StoredWrite(*row[:6], Typed(*row[6:]))
                for row in connection.execute(
                    "SELECT checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, "
                    "value FROM writes ORDER BY task_path, task_id, idx"
                )
            ]

    def edit(self, at: str, *edits: Edit, step: int | None = None, **options: Any) -> Preview:
        """Edit the checkpoint at which the node `at` is due."""
        for row in self.checkpoints:
            content = ormsgpack.unpackb(row.checkpoint.data, ext_hook=lambda *_: None)
            values = content["channel_values"]
            due = {c.rpartition(":")[2] for c in values if c.startswith("branch:to:")}
            due |= {"__start__"} & set(values)
            due |= {"__pregel_tasks"} & set(values)
            if at in due:
                break
        else:
            raise AssertionError(f"nowhere is {at} due")
        earlier = [c for c in self.checkpoints if c.ns != row.ns or c.id <= row.id]
        ids = {c.id for c in earlier} - {row.id}
        rows = Rows("t", earlier, [w for w in self.writes if w.checkpoint_id in ids])
        parents = [
            RawWrite(w.task_id, w.task_path, w.idx, w.channel, w.value)
            for w in self.writes
            if w.checkpoint_id == row.parent_id and w.ns == row.ns
        ]
        return preview(self.host, rows, row.ns, row.id, edits, parents, **options)


def to(channel: str, value: Any, how: Any = "set") -> Edit:
    return Edit(channel, how, typed(value))


def values(done: Preview) -> dict[str, Any]:
    """The channel values of the made checkpoint."""
    found: dict[str, Any] = ormsgpack.unpackb(
        done.row.checkpoint.data, ext_hook=lambda code, data: ormsgpack.unpackb(data)
    )["channel_values"]
    return found


def test_a_flip(host: Host) -> None:
    thread = Thread(host, "routed", {"path": "main"})
    kept = thread.edit("c_main")
    assert (kept.next_before, kept.next, kept.rerouted, kept.held) == (
        ["c_main"], ["c_main"], False, None,
    )  # fmt: skip
    flipped = thread.edit("c_main", to("path", "alt"))
    assert (flipped.next_before, flipped.next, flipped.rerouted) == (["c_main"], ["c_alt"], True)
    assert values(flipped) == {"path": "alt", "log": ["a", "b"], "branch:to:c_alt": None}
    assert flipped.row.parent_id == kept.row.parent_id
    other = thread.edit("c_main", to("n", 5))
    assert (other.next, other.rerouted) == (["c_main"], False)
    assert [(p.node, p.recorded, p.trusted) for p in other.producers] == [("b", ["c_main"], True)]


def test_set_reduce_and_empty(host: Host) -> None:
    thread = Thread(host, "routed", {"path": "main"})
    assert values(thread.edit("d", to("log", ["only"])))["log"] == ["only"]
    assert values(thread.edit("d", to("log", ["x"], "reduce")))["log"] == ["a", "b", "c_main", "x"]
    emptied = values(thread.edit("d", Edit("path", "set", None)))
    assert "path" not in emptied


def test_input(host: Host) -> None:
    thread = Thread(host, "routed", {"path": "main"})
    done = thread.edit("__start__", to("__start__", {"path": "alt"}))
    assert done.next == ["__start__"]
    assert done.held == "No node led here that could be asked again."
    assert values(done)["__start__"] == {"path": "alt"}
    dropped = thread.edit("__start__", to("__start__", {"pth": "alt"}))
    assert dropped.warnings == ["The graph has no channel 'pth': it will drop it."]


def test_a_command_is_held(host: Host) -> None:
    thread = Thread(host, "commanded", {"path": "main"})
    done = thread.edit("c_main", to("path", "alt"))
    assert (done.next, done.rerouted) == (["c_main"], False)
    assert done.held == (
        "'jump' went to c_main by a Command, whose route is known only by running it."
    )


def test_a_router_that_saw_other_values_is_held(host: Host) -> None:
    thread = Thread(host, "beside", {"path": "main"})
    done = thread.edit("r1", to("n", 7))
    assert (done.next, done.rerouted) == (["r1"], False)
    assert done.held == (
        "On the unedited state 'p' would now go to r2, and it went to r1: "
        "it saw other values then, or its code has changed."
    )


def test_a_router_that_fails_is_held(host: Host) -> None:
    thread = Thread(host, "choosy", {"path": "main"})
    done = thread.edit("c_main", to("path", "nowhere"))
    assert (done.next, done.rerouted) == (["c_main"], False)
    assert done.held is not None
    assert done.held.startswith("A router failed on the edited state. It failed at graphs.py:")
    assert done.held.endswith("ValueError: no way nowhere.")


def test_sends(host: Host) -> None:
    thread = Thread(host, "sending", {"n": 2})
    same = thread.edit("__pregel_tasks", to("path", "x"))
    assert (same.next, same.rerouted) == (["w", "w"], False)
    more = thread.edit("__pregel_tasks", to("n", 3))
    assert (more.next_before, more.next, more.rerouted) == (["w", "w"], ["w", "w", "w"], True)


def test_sends_with_what_langgraph_counts(host: Host) -> None:
    thread = Thread(host, "calling", {"path": "main"})
    done = thread.edit("__pregel_tasks", to("path", "alt"))
    assert done.rerouted
    assert done.next == ["tools"]
    assert done.held is None


def test_a_join_is_kept(host: Host) -> None:
    thread = Thread(host, "joined", {})
    done = thread.edit("p", to("n", 3))
    assert (done.next, done.rerouted, done.held) == (["p", "q"], False, None)


def test_a_sub_graph(host: Host) -> None:
    thread = Thread(host, "nested", {"path": "main"})
    done = thread.edit("y", to("path", "alt"))
    assert done.row.ns.startswith("sub:")
    assert (done.next_before, done.next, done.rerouted) == (["y"], ["y2"], True)


def test_an_asynchronous_router(host: Host) -> None:
    thread = Thread(host, "asynchronous", {"path": "main"})
    done = thread.edit("c_main", to("path", "alt"))
    assert (done.next, done.rerouted) == (["c_alt"], True)


def test_as_node(host: Host) -> None:
    thread = Thread(host, "routed", {"path": "main"})
    done = thread.edit("c_main", to("path", "alt"), as_node="a")
    assert done.next == ["b"]
    assert done.warnings == ["As if 'a' had written this, c_main is no longer due."]
    ended = thread.edit("c_main", as_node="__end__")
    assert ended.next == []
    with pytest.raises(HostError, match=r"no node 'c_mian'; did you mean 'c_main'\?"):
        thread.edit("c_main", as_node="c_mian")


def test_values_are_made_to_fit(host: Host) -> None:
    thread = Thread(host, "routed", {"path": "main"})
    done = thread.edit("d", to("customer", {"name": "Ada", "age": "3"}))
    made = done.values["customer"]
    assert b"Customer" in made.data
    assert ormsgpack.unpackb(made.data, ext_hook=lambda code, data: ormsgpack.unpackb(data)) == [
        "graphs",
        "Customer",
        {"name": "Ada", "age": 3},
    ]
    chat = thread.edit("d", to("messages", [{"type": "human", "content": "hi", "id": "1"}]))
    assert b"HumanMessage" in chat.values["messages"].data


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (to("n", "many"), r"does not fit at /n: input should be a valid integer"),
        (to("customer", {"name": "Ada", "age": "x"}), r"does not fit at /customer/age: input"),
        (to("customer", {}), r"does not fit at /customer/name: "),
        (to("pth", "alt"), r"no 'pth'; did you mean 'path'\?"),
        (to("branch:to:d", None), r"no 'branch:to:d'"),
        (to("messages", [{"content": 1}]), r"A message cannot be made: "),
    ],
)
def test_values_are_refused(host: Host, edit: Edit, said: str) -> None:
    thread = Thread(host, "routed", {"path": "main"})
    with pytest.raises(HostError, match=said):
        thread.edit("d", edit)


def test_what_a_stored_object_holds_is_refused_too(host: Host) -> None:
    """It is made of its fields as they are stored, which asks for nothing."""
    thread = Thread(host, "routed", {"path": "main"})

    def stored(age: Any) -> Edit:
        fields = ormsgpack.packb(("graphs", "Customer", {"name": "Ada", "age": age}))
        return Edit("customer", "set", Typed("msgpack", ormsgpack.packb(ormsgpack.Ext(2, fields))))

    with pytest.raises(HostError, match=r"does not fit at /customer/age: input should be a valid"):
        thread.edit("d", stored("x"))
    assert b"Customer" in thread.edit("d", stored(4)).values["customer"].data


def test_a_pydantic_state(host: Host) -> None:
    thread = Thread(host, "pydantic", {"count": 1})
    assert values(thread.edit("end", to("count", 5)))["count"] == 5
    with pytest.raises(HostError, match=r"The state does not take 'count': .*at most ten"):
        thread.edit("end", to("count", 11))


def test_a_delta_channel(host: Host) -> None:
    if not host.greeting["langgraph"].startswith("1.2"):
        pytest.skip("DeltaChannel came with langgraph 1.2")
    thread = Thread(host, "delta", {"rows": ["in"]})
    done = thread.edit("b", to("rows", ["set"]))
    assert values(done)["rows"] == ["set"]
    done = thread.edit("b", to("rows", ["more"], "reduce"))
    assert values(done)["rows"] == ["in", "a", "more"]
    kept = thread.edit("b", to("n", 1))
    assert "rows" not in values(kept)
    assert b"counters_since_delta_snapshot" in kept.row.metadata
