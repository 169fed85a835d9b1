"""Graphs of every kind in every LangGraph, and what can be wrong with one, a sentence each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hosting import OWN, hosted, plan_of
from retrograph.engine.errors import GraphError
from retrograph.engine.host.client import Host
from retrograph.engine.host.requests import launch, load, topology
from retrograph.engine.host.target import GraphTarget

KINDS = """
import contextlib, gc, operator, sqlite3
from typing import Annotated, TypedDict
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import END, START, StateGraph
from langgraph.store.memory import InMemoryStore

print("a module may print")
assert gc.isenabled(), "it was off while LangGraph was imported"
base = sqlite3.connect("opened.db")

class State(TypedDict, total=False):
    n: int
    log: Annotated[list[str], operator.add]

class Context(TypedDict):
    user: str

def build(name="a"):
    g = StateGraph(State)
    g.add_node(name, lambda s: {"n": 1, "log": [name]})
    g.add_node("b", lambda s: {})
    g.add_edge(START, name)
    g.add_conditional_edges(name, lambda s: "b" if s["n"] > 1 else END, {"b": "b", END: END})
    return g

async def anode(state):
    return {"n": 2}

builder = build()
graph = builder.compile(checkpointer=InMemorySaver(), store=InMemoryStore())
bound = graph.with_config(tags=["x"])
nested = StateGraph(State).add_node("inner", graph).add_edge(START, "inner").compile()
only_async = StateGraph(State).add_node("slow", anode).add_edge(START, "slow").compile()

def factory(): return build("plain").compile()
def of_config(config: RunnableConfig):
    return build(config["configurable"]["name"]).compile()
async def later(): return build("later")
@contextlib.contextmanager
def manager(): yield build("managed").compile()
@contextlib.asynccontextmanager
async def amanager(): yield build("amanaged").compile()
def optional(model="x", *, size=3): return build(model).compile()
def second(model="x", config: RunnableConfig = None):
    return build(model + config["configurable"]["name"]).compile()
def served(name="x", runtime=None): return build(name).compile()

@entrypoint()
def flow(x): return x + 1

class holder:
    graph = graph
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kinds")
    (path / "kinds.py").write_text(KINDS)
    (path / "package" / "inner").mkdir(parents=True)
    for name in ("package", "package/inner"):
        (path / name / "__init__.py").write_text("")
    (path / "package" / "inner" / "agent.py").write_text(
        "from ..parts import build\ngraph = build()"
    )
    (path / "package" / "parts.py").write_text("from kinds import build")
    return path


CONFIG = {"configurable": {"name": "configured"}}


def test_kinds(folder: Path, python: str) -> None:
    plan = plan_of(folder, "kinds.py:graph", python, config=CONFIG)
    with launch(plan) as host:
        first = load(host, plan)
        assert (first.kind, first.saver, first.store) == ("graph", "InMemorySaver", "InMemoryStore")
        assert first.notes == ["Loading kinds.py:graph opened the database opened.db."]
        found = {}
        for name in (
            "builder", "bound", "nested", "only_async", "factory", "of_config", "later", "manager",
            "amanager", "optional", "second", "served", "flow", "holder.graph",
        ):  # fmt: skip
            other = plan_of(folder, f"kinds.py:{name}", python, config=CONFIG)
            loaded = load(host, other)
            found[name] = (loaded.kind, [n.name for n in topology(host).nodes][1:2], loaded)
        host.close()
        assert "a module may print" in host.stdout.text()
    assert [found[name][0] for name in ("builder", "bound", "nested", "holder.graph")] == [
        "builder", "graph", "graph", "graph",
    ]  # fmt: skip
    assert {name: nodes for name, (kind, nodes, _) in found.items() if kind == "factory"} == {
        "factory": ["plain"],
        "of_config": ["configured"],
        "later": ["later"],
        "manager": ["managed"],
        "amanager": ["amanaged"],
        "optional": ["x"],
        "second": ["xconfigured"],
        "served": ["x"],
    }
    assert found["nested"][2].subgraphs == ["inner"]
    assert found["only_async"][2].asynchronous == "node 'slow' is async"
    assert found["flow"][2].asynchronous is None


CONTEXT = """
from dataclasses import dataclass
from typing import TypedDict
from langgraph.graph import START, StateGraph

@dataclass
class Who:
    user: str = "anybody"

graph = StateGraph(dict, context_schema=Who)
graph.add_node("a", lambda state: {})
graph.add_edge(START, "a")
"""


def test_a_context_that_does_not_fit(tmp_path: Path, python: str) -> None:
    (tmp_path / "who.py").write_text(CONTEXT)
    plan = plan_of(tmp_path, "who.py:graph", python, context={"user": "ada"})
    with launch(plan) as host:
        found = load(host, plan)
        assert (found.context, found.context_required) == ("Who", False)
        with pytest.raises(GraphError, match=r"does not fit the graph's Who: TypeError: .*'usr'"):
            load(host, plan_of(tmp_path, "who.py:graph", python, context={"usr": "ada"}))


def test_topology(folder: Path, python: str) -> None:
    with hosted(folder, "kinds.py:graph", python) as (host, _):
        found = topology(host)
    assert [(edge.source, edge.target, edge.conditional) for edge in found.edges] == [
        ("__start__", "a", False),
        ("a", "__end__", True),
        ("a", "b", True),
        *[("b", "__end__", False)] * any(e.source == "b" for e in found.edges),
    ]
    assert [(c.name, c.kind, c.type, c.reducer) for c in found.channels] == [
        ("n", "LastValue", "int", None),
        ("log", "BinaryOperatorAggregate", "list[str]", "operator.add"),
    ]
    assert found.mermaid.strip()


def test_modules_of_a_package_keep_their_names(folder: Path) -> None:
    with hosted(folder, "package/inner/agent.py:graph") as (_, loaded):
        assert loaded.kind == "builder"
    with hosted(folder, "package.inner.agent:graph") as (_, loaded):
        assert loaded.kind == "builder"


def test_a_server_s_graph_is_given_a_store(folder: Path) -> None:
    target = GraphTarget("f", "factory", path=str(folder / "kinds.py"), served=True)
    with hosted(folder, "kinds.py:factory", target=target) as (_, loaded):
        assert loaded.store == "empty"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """A host to load one bad graph after the other in."""
    with launch(plan_of(tmp_path_factory.mktemp("bad"), "none.py:graph")) as host:
        yield host


FAULTS = {
    "import sys\nsys.exit(2)": r"Importing F called sys\.exit at F:2: it is a program",
    "input('name? ')": r"Importing F asked for input at F:1, and there is nobody to give it\.",
    "1 / 0": r"Importing F failed at F:1: ZeroDivisionError: division by zero\.",
    "def f(:": r"F is not valid Python at F:1: ",
    "import nowhere": r"Importing F failed at F:1: .*python has no module nowhere; install it",
    "import argparse\nargparse.ArgumentParser().parse_args(['-x'])": r"called sys\.exit at F:2",
    "import langgraph.graph as g\ng.none": r"failed at F:2: AttributeError: module 'langgraph",
    "import psycopg\npsycopg.connect('host=127.0.0.1 port=1')": r"failed at F:2: OperationalError:",
    "graph = 3": r"F:graph is an int, not a graph: name a compiled graph, a StateGraph, or a func",
    "x = 1": r"F has no 'graph', and no graph by any other name",
    "from langgraph.graph import *\ngrahp = StateGraph(dict)": r"F has no 'graph'; its gr",
    "def graph(db): ...": r"F:graph\(\) needs an argument 'db' that only your program can give",
    "def graph(): return 3": r"F:graph\(\) gave an int, not a graph\.",
    "def graph(): raise OSError('off')": r"F:graph\(\) failed at F:1: OSError: off\.",
    "from langgraph.graph import *\ngraph = StateGraph(dict)": r"F:graph cannot be compiled: Val",
}


@pytest.mark.parametrize("code", FAULTS)
def test_what_is_wrong(host: Host, code: str) -> None:
    name = f"bad{list(FAULTS).index(code)}.py"
    (host.project / name).write_text(code)
    with pytest.raises(GraphError) as raised:
        load(host, plan_of(host.project, f"{name}:graph"))
    said = FAULTS[code].replace("F", re.escape(name), 1).replace(" F", " " + re.escape(name))
    assert re.search(said, str(raised.value)), str(raised.value)


def test_a_module_that_is_not_there(host: Host) -> None:
    with pytest.raises(GraphError, match=r"There is no module shop in .* or in .*python\."):
        load(host, plan_of(host.project, "shop.agent:graph"))


def test_no_langgraph(tmp_path: Path) -> None:
    """An interpreter without it, a broken one, and a file of the project in its place."""
    import venv

    venv.create(tmp_path / "env", symlinks=True)
    python = str(tmp_path / "env" / "bin" / "python")
    with pytest.raises(GraphError, match=r"env/bin/python has no LangGraph; name another"):
        launch(plan_of(tmp_path, "x.py:graph", python))
    packages = next((tmp_path / "env" / "lib").glob("python*/site-packages"))
    (packages / "langgraph").mkdir()
    (packages / "langgraph" / "graph.py").write_text("from types import ExecutionInfo")
    with pytest.raises(GraphError, match=r"cannot be imported \(ImportError: .*is broken"):
        launch(plan_of(tmp_path, "x.py:graph", python))
    (tmp_path / "langgraph").mkdir()
    (tmp_path / "langgraph" / "__init__.py").write_text("")
    (tmp_path / "langgraph" / "graph.py").write_text("1 / 0")
    with pytest.raises(GraphError, match=r"langgraph/graph\.py:1 is taken for a module of that"):
        launch(plan_of(tmp_path, "x.py:graph", OWN))


def test_the_worker_is_alone(folder: Path, python: str) -> None:
    """Retrograph is not installed there, and nothing of it can be imported."""
    (folder / "alone.py").write_text(
        "import os, sys\nfrom kinds import graph\n"
        "assert sys.path[0] == os.getcwd()\n"
        "assert not [n for n in os.environ if n.startswith('RETROGRAPH')]\n"
        "assert 'langgraph.checkpoint.sqlite' not in sys.modules\n"
        "try:\n import retrograph\nexcept ImportError: pass\nelse: raise SystemError('found')\n"
    )
    with hosted(folder, "alone.py:graph", python) as (_, loaded):
        assert loaded.kind == "graph"
