"""DeltaChannels, whole where the graph is given: `show` and `diff` with --graph."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cli.running import Run

AGENT = """
import sys
from typing import Annotated, TypedDict

from langgraph.channels import DeltaChannel
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph


def joined(log, writes):
    return [*log, *(line for write in writes for line in write)]


class State(TypedDict):
    log: Annotated[list, DeltaChannel(joined)]
    n: int


def work(state):
    return {"log": [f"step {state['n']}"], "n": state["n"] + 1}


builder = StateGraph(State)
builder.add_node(work)
builder.add_edge(START, "work")
builder.add_conditional_edges("work", lambda s: "work" if s["n"] < 3 else END, ["work", END])
graph = builder.compile()

if __name__ == "__main__":
    with SqliteSaver.from_conn_string("store.db") as saver:
        graph = builder.compile(checkpointer=saver)
        graph.invoke({"log": ["begin"], "n": 0}, {"configurable": {"thread_id": "t"}})
"""
WHOLE = ["begin", "step 0", "step 1", "step 2"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "agent.py").write_text(AGENT)
    subprocess.run([sys.executable, "agent.py"], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_show(run: Run, project: Path) -> None:
    before = (project / "store.db").read_bytes()
    kept = run("show", "store.db", "t", "--json").json["values"]["log"]["$delta"]
    assert [line for write in kept["writes"] for line in write] == WHOLE
    folded = run("show", "store.db", "t", "--graph", "agent.py:graph", "--json")
    assert folded.json["values"] == {"log": WHOLE, "n": 3}
    assert (project / "store.db").read_bytes() == before


def test_diff(run: Run, project: Path) -> None:
    done = run("diff", "store.db", "t~1", "t", "--graph", "agent.py:graph", "--json")
    changes = [(c["op"], c["path"], c["new"]) for c in done.json["changes"]]
    assert sorted(changes) == [("add", "/log/3", "step 2"), ("replace", "/n", 3)]


def test_without_a_delta_no_code_runs(run: Run, project: Path) -> None:
    (project / "agent.py").write_text("raise SystemExit('imported')")
    done = run("show", "store.db", "t@root", "--graph", "agent.py:graph", "--json")
    assert done.code == 0, done.err


def test_a_wrong_graph(run: Run, project: Path) -> None:
    done = run("show", "store.db", "t", "--graph", "agent.py:none")
    assert (done.code, done.out) == (2, "")
    assert "its graphs are: builder, graph" in done.err
