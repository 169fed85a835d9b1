"""Kinds of state: Pydantic, dataclasses, values of every type, channels of every class."""

from __future__ import annotations

import datetime as dt
import operator
from collections import deque
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import PosixPath
from typing import Annotated, Any, NamedTuple, TypedDict
from uuid import UUID

import langgraph.channels
import langgraph.types
from langgraph.channels import EphemeralValue, Topic, UntrackedValue
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel

from zoo.run import Run

# Not in every LangGraph: scenarios that need one cannot be made without.
DeltaChannel: Any = getattr(langgraph.channels, "DeltaChannel", None)
Overwrite: Any = getattr(langgraph.types, "Overwrite", None)


class Tier(Enum):
    GOLD = "gold"
    TIN = 3


class Point(NamedTuple):
    x: int
    y: float


@dataclass
class Address:
    street: str
    tier: Tier


@dataclass
class Customer:
    name: str
    address: Address
    since: dt.datetime
    tags: set[str] = field(default_factory=set)


class Line(BaseModel):
    sku: str
    count: int = 1


class Order(BaseModel):
    id: int
    lines: list[Line] = []
    note: str | None = None


class Basket(BaseModel):
    """A whole state as a Pydantic model."""

    order: Order
    total: float = 0.0
    log: Annotated[list[str], operator.add] = []


@dataclass
class Account:
    """A whole state as a dataclass."""

    owner: Customer
    balance: Decimal = Decimal("0")
    log: Annotated[list[str], operator.add] = field(default_factory=list)


ADA = Customer("Ada", Address("Rue 1", Tier.GOLD), dt.datetime(2024, 5, 6, 7, 8, 9), {"vip"})


def pydantic_state(run: Run) -> None:
    def price(state: Basket) -> dict[str, Any]:
        return {"total": 2.5 * sum(x.count for x in state.order.lines), "log": ["price"]}

    def extend(state: Basket) -> dict[str, Any]:
        lines = [*state.order.lines, Line(sku="b", count=3)]
        return {"order": state.order.model_copy(update={"lines": lines}), "log": ["extend"]}

    g = StateGraph(Basket)
    g.add_node("price", price)
    g.add_node("extend", extend)
    g.add_edge(START, "price")
    g.add_conditional_edges("price", lambda s: "extend" if s.total < 5 else END)
    g.add_edge("extend", "price")
    graph = g.compile()
    run.go(graph, Basket(order=Order(id=1, lines=[Line(sku="a")])), run.thread())
    run.go(graph, {"order": Order(id=2, lines=[Line(sku="a", count=9)])}, run.thread())


def dataclass_state(run: Run) -> None:
    g = StateGraph(Account)
    g.add_node("pay", lambda s: {"balance": s.balance + Decimal("1.10"), "log": ["pay"]})
    bo = Customer("Bo", Address("Rue 2", Tier.TIN), dt.datetime(2024, 1, 1), set())
    g.add_node("move", lambda s: {"owner": bo})
    g.add_edge(START, "pay")
    g.add_edge("pay", "move")
    run.go(g.compile(), Account(owner=ADA), run.thread())


class Anything(TypedDict, total=False):
    a: Any
    b: Any
    c: Any


ZONE = dt.timezone(dt.timedelta(hours=2))
SCALARS: dict[str, Any] = {
    "none": None, "true": True, "int": 2**63 - 1, "negative": -(2**63), "float": 0.1,
    "inf": float("inf"), "text": "naïve ☕ \x00\x1b[31m שלום", "empty": "", "bytes": b"\x00\xff",
    "datetime": dt.datetime(2024, 1, 2, 3, 4, 5, 678, tzinfo=dt.UTC),
    "zoned": dt.datetime(2024, 1, 2, tzinfo=ZONE), "date": dt.date(2024, 2, 29),
    "time": dt.time(1, 2, 3), "span": dt.timedelta(days=1, seconds=2, microseconds=3),
    "uuid": UUID("12345678-1234-5678-1234-567812345678"), "decimal": Decimal("12.340"),
    "path": PosixPath("/tmp/x"), "enum": Tier.TIN, "point": Point(1, 2.0),
}  # fmt: skip
CONTAINERS: dict[str, Any] = {
    "list": [1, [2, [3, []]], {}], "tuple": (1, ("two", 3.0)), "set": {3, 1, 2},
    "frozen": frozenset({"x"}), "deque": deque([1, 2]), "int keys": {1: "one", 2: {"three": 3}},
    "model": Order(id=7, lines=[Line(sku="a")]), "dataclass": ADA,
    "nested": {"deep": [{"customer": ADA, "tiers": [Tier.GOLD, Tier.TIN]}]},
}  # fmt: skip


def values(run: Run) -> None:
    outputs: dict[str, dict[str, Any]] = {
        "scalars": {"a": SCALARS},
        "containers": {"b": CONTAINERS, "a": None},
        "direct": {"a": ADA, "b": b"raw", "c": dt.date(2024, 1, 1)},
        "bare": {"a": "text", "b": (1, 2), "c": {1, 2}},
    }
    g = StateGraph(Anything)
    for name, output in outputs.items():
        g.add_node(name, partial(_give, output))
    g.add_edge(START, "scalars")
    g.add_edge("scalars", "containers")
    g.add_edge("containers", "direct")
    g.add_edge("direct", "bare")
    run.go(g.compile(), {"c": [1, "in"]}, run.thread())


def _give(output: dict[str, Any], state: Any) -> dict[str, Any]:
    return output


def fold(state: list[Any], writes: list[Any]) -> list[Any]:
    return state + [x for w in writes for x in w]


class Delta(TypedDict, total=False):
    n: int
    log: Annotated[list[str], DeltaChannel(fold, snapshot_frequency=3)]
    rare: Annotated[list[str], DeltaChannel(fold, snapshot_frequency=100)]


def delta(run: Run) -> None:
    """DeltaChannels: snapshots on the way, parallel writers, a fork, two turns, an overwrite."""

    def left(state: Delta) -> dict[str, Any]:
        return {"log": [f"left {state['n']}", f"of {len(state['log'])}"], "n": state["n"] + 1}

    g = StateGraph(Delta)
    g.add_node("left", left)
    g.add_node("right", lambda s: {"log": ["right"], "rare": [f"r{s['n']}"]})
    g.add_node("join", lambda s: {"rare": ["join"]})
    g.add_edge(START, "left")
    g.add_edge(START, "right")
    g.add_edge(["left", "right"], "join")
    g.add_conditional_edges("join", lambda s: ["left", "right"] if s["n"] < 3 else END)
    graph = g.compile()
    run.go(graph, {"n": 0, "log": ["in"]}, run.thread())
    run.go(graph, {"n": 2}, run.thread())
    old = run.at(graph, run.thread(), "join", nth=1)
    run.update(graph, old, {"log": ["edited"], "n": 2}, as_node="join")
    run.go(graph, None, run.thread())
    run.go(graph, None, old)
    run.update(graph, run.thread(), {"log": Overwrite(["only"])}, as_node="left")
    run.go(graph, {"n": 9, "log": ["more"]}, run.thread())


class Channels(TypedDict, total=False):
    shown: str
    once: Annotated[str, EphemeralValue]
    never: Annotated[str, UntrackedValue]
    topic: Annotated[list[str], Topic(str)]
    all: Annotated[list[str], Topic(str, accumulate=True)]


class Private(TypedDict, total=False):
    secret: str


def channels(run: Run) -> None:
    """Ephemeral, untracked, topic and private channels."""

    def a(state: Channels) -> Private:
        return {"secret": "from a"}

    def b(state: Private) -> dict[str, Any]:
        return {"shown": state["secret"], "once": "b", "never": "b", "topic": "t", "all": "1"}

    g = StateGraph(Channels)
    g.add_node("a", a)
    g.add_node("b", b)
    g.add_node("c", lambda s: {"shown": f"{s.get('once')}", "all": ["2", "3"]})
    g.add_node("d", lambda s: None)
    g.add_edge(START, "a")
    for pair in ("ab", "bc", "cd"):
        g.add_edge(*pair)
    run.go(g.compile(), {"shown": "in", "once": "in"}, run.thread())
    run.go(g.compile(), {"never": "in"}, run.thread())


class In(TypedDict):
    question: str


class Out(TypedDict):
    answer: str


class All(In, Out, total=False):
    steps: Annotated[list[str], operator.add]


def schemas(run: Run) -> None:
    """Input and output schemas of their own; a reducer's value overwritten."""
    g = StateGraph(All, input_schema=In, output_schema=Out)
    g.add_node("think", lambda s: {"steps": ["think", "more"]})
    g.add_node("forget", lambda s: {"steps": Overwrite(["forgot"])})
    g.add_node("say", lambda s: {"answer": s["question"].upper()})
    g.add_edge(START, "think")
    g.add_edge("think", "forget")
    g.add_edge("forget", "say")
    run.go(g.compile(), {"question": "why"}, run.thread())
    run.go(g.compile(), {"question": "how"}, run.thread())
