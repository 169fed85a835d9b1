"""`retrograph graph` over the demo's graph and faulty ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from cli.running import Run

PROBE = """
import json, sys
from retrograph.cli.main import main
code = main(["graph", "support", "--json"])
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""


def test_for_people(run: Run, demo_folder: Path) -> None:
    done = run("graph", "support_agent.py:graph")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].split() == ["node", "leads", "to"]
    assert "START    receive" in lines
    assert "price    hold | ship" in lines
    assert any(line.startswith("messages  list[AnyMessage]") for line in lines)


def test_as_json(run: Run, demo_folder: Path) -> None:
    shape = run("graph", "support", "--json").json
    assert {"from": "price", "to": "ship", "conditional": True, "label": None} in shape["edges"]
    assert {"name": "ship", "kind": "subgraph", "deferred": False} in shape["nodes"]
    assert "messages" in [channel["name"] for channel in shape["channels"]]
    assert "mermaid" not in shape


def test_mermaid_of_a_source(run: Run, demo_folder: Path) -> None:
    done = run("graph", "demo.db", "--mermaid")
    assert done.code == 0, done.err
    assert "graph TD;" in done.out
    assert "\n    receive --> assist;\n" in done.out


def test_routers_that_do_not_state_their_ends(run: Run, demo_folder: Path) -> None:
    (demo_folder / "open.py").write_text(
        """
from langgraph.graph import END, START, StateGraph

graph = StateGraph(dict)
for name in ("ask", "left", "right"):
    graph.add_node(name, lambda state: {})
graph.add_edge(START, "ask")
graph.add_conditional_edges("ask", lambda state: "left" if state else "right")
graph.add_conditional_edges("left", lambda state: state["to"])
"""
    )
    done = run("graph", "open.py:graph")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert "ask    left | right" in lines
    assert "left   ask | left | right | END" in lines
    assert "right  END" in lines
    assert lines[-2:] == [
        "ends of ask: not stated; shown are those in its code",
        "ends of left: not stated; it may be any node",
    ]


def test_faults(run: Run, demo_folder: Path) -> None:
    for words, said in (
        (["none.py:graph"], "There is no file"),
        (["suport"], "did you mean 'support'?"),
        (["support_agent.py:grahp"], "its graphs are: shipping, builder, graph"),
        (["agent.ts:graph"], "is JavaScript"),
        (["support", "--python", "nowhere"], "There is no program nowhere"),
        (["support", "--config", "{"], "--config is not valid JSON"),
    ):
        done = run("graph", *words)
        assert done.code == 2
        assert done.out == ""
        assert said in done.err
        assert done.err.count("\n") == 1


def test_a_graph_that_ends_its_process(run: Run, demo_folder: Path) -> None:
    (demo_folder / "dies.py").write_text("import os\nos._exit(0)\n")
    done = run("graph", "dies.py:graph")
    assert done.code == 1
    assert "os._exit was called at dies.py:2 while the graph was loaded" in done.err


def test_the_viewer_imports_nothing_of_it(demo_folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=True, text=True)
    code, names = json.loads(done.stderr.splitlines()[-1])
    assert code == 0
    assert not {"langgraph", "langchain_core", "pydantic", "textual", "support_agent"} & set(names)
