"""A state full of classes whose modules are not on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.running import Run

CLASSES = 40

MODELS = """
from dataclasses import dataclass, field
from enum import Enum

from pydantic import BaseModel


class Tier(Enum):
    GOLD = "gold"


class Customer(BaseModel):
    name: str
    tier: Tier


@dataclass
class Order:
    item: str
    total: float = field(init=False)

    def __post_init__(self) -> None:
        self.total = 12.5
""" + "".join(
    f"""

@dataclass
class Part{n}:
    size: int
"""
    for n in range(CLASSES)
)

WRITER = """
import sys
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph

import gone_shop as shop

State = TypedDict("State", {"customer": Any, "order": Any, "tier": Any, "parts": Any, "n": int})


def fill(state):
    parts = [getattr(shop, f"Part{n}")(n) for n in range(%d)]
    customer = shop.Customer(name="Ada", tier=shop.Tier.GOLD)
    order = shop.Order("tea")
    return {"customer": customer, "order": order, "tier": shop.Tier.GOLD, "parts": parts}


graph = StateGraph(State)
graph.add_node("fill", fill)
graph.add_edge(START, "fill")
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    graph.compile(checkpointer=saver).invoke({"n": 1}, {"configurable": {"thread_id": "t"}})
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written where the module was; it is nowhere that this process looks."""
    folder = tmp_path_factory.mktemp("classes")
    (folder / "gone_shop.py").write_text(MODELS)
    writer = [sys.executable, "-W", "ignore", "-c", WRITER % CLASSES, str(folder / "s.db")]
    subprocess.run(writer, check=True, env={**os.environ, "PYTHONPATH": str(folder)})
    return folder / "s.db"


def test_names_and_fields_are_shown(run: Run, store: Path) -> None:
    values = run("show", store, "t", "--json").json["values"]
    assert values["order"] == {"$type": "gone_shop.Order", "item": "tea", "total": 12.5}
    assert values["customer"]["name"] == "Ada"
    assert values["customer"]["$type"] == "gone_shop.Customer"
    assert values["n"] == 1
    for tier in (values["tier"], values["customer"]["tier"]):
        assert tier["$type"] == "gone_shop.Tier"
        assert "gold" in repr(tier)
    assert [part["size"] for part in values["parts"]] == list(range(CLASSES))
    assert len({part["$type"] for part in values["parts"]}) == CLASSES


@pytest.mark.parametrize("words", [("threads",), ("tree", "t"), ("show", "t"), ("show", "t~1")])
def test_nothing_is_said_of_them_and_nothing_is_imported(
    run: Run, store: Path, words: tuple[Any, ...]
) -> None:
    command, *rest = words
    done = run(command, store, *rest)
    assert (done.code, done.err) == (0, "")
    assert "gone_shop" not in sys.modules
    if words == ("show", "t"):
        for word in ("Customer", "Ada", "Order", "12.5", "Tier", "gold"):
            assert word in done.out
