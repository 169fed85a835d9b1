"""The demo: what is in its store, told by LangGraph itself, and what it leaves alone."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from retrograph.cli.demo import DemoInfo, make_demo
from retrograph.engine.errors import ConfigError, SourceError, UsageError
from retrograph.engine.ids import step_of, time_of

pytestmark = pytest.mark.xdist_group("demo")

NOW = datetime(2025, 11, 29, 12, 0, tzinfo=UTC)

# Runs beside the demo's graph and prints what LangGraph says of each thread and checkpoint.
ORACLE = """
import json, sqlite3, sys
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
import support_agent

own = [("support_agent", name) for name in ("Customer", "Item", "Order")]
saver = SqliteSaver(
    sqlite3.connect("demo.db", check_same_thread=False),
    serde=JsonPlusSerializer(allowed_msgpack_modules=own),
)
graph = support_agent.graph.copy(update={"checkpointer": saver})

def plain(state):
    return {
        "id": state.config["configurable"]["checkpoint_id"],
        "parent": (state.parent_config or {"configurable": {"checkpoint_id": None}})[
            "configurable"]["checkpoint_id"],
        "next": sorted(state.next),
        "source": state.metadata["source"],
        "errors": [t.error for t in state.tasks if t.error],
        "questions": [i.value["question"] for i in state.interrupts],
        "path": state.values.get("path"),
        "said": [str(m.content) for m in state.values.get("messages", [])],
    }

out = {}
for thread in sys.argv[1:]:
    config = {"configurable": {"thread_id": thread}}
    history = [plain(s) for s in graph.get_state_history(config)]
    out[thread] = {"head": plain(graph.get_state(config)), "history": history}
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoInfo:
    return make_demo(tmp_path_factory.mktemp("made") / "new" / "folder", NOW)


def rows(db: Path, columns: str, table: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{db}?mode=ro&immutable=1", uri=True)) as connection:
        return sorted(connection.execute(f"select {columns} from {table}"))


@pytest.fixture(scope="module")
def told(demo: DemoInfo, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What LangGraph tells of a copy, by thread: it writes where it only reads."""
    copy = make_demo(tmp_path_factory.mktemp("told"), NOW)
    threads = {thread for (thread,) in rows(demo.db, "thread_id", "checkpoints")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ORACLE, *sorted(threads)],
        cwd=copy.folder,
        capture_output=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_folder_holds_the_store_the_graph_and_nothing_else(demo: DemoInfo) -> None:
    assert sorted(p.name for p in demo.folder.iterdir()) == [
        "demo.db",
        "langgraph.json",
        "support_agent.py",
    ]
    assert demo.made
    assert demo.graph == f"{demo.folder}/support_agent.py:graph"
    named = json.loads((demo.folder / "langgraph.json").read_text())["graphs"]["support"]
    assert (demo.folder / named.split(":")[0]).exists()


def test_the_threads_and_how_each_ended(told: dict[str, Any]) -> None:
    heads = {thread: said["head"] for thread, said in told.items()}
    assert {thread: head["next"] for thread, head in heads.items()} == {
        "return-4407": [],
        "order-4409": [],
        "order-4410": [],
        "order-4411": [],
        "order-4412": [],
        "order-4413": ["hold"],
        "order-4414": ["fraud"],
        "order-4415": ["ship"],
    }
    assert heads["order-4413"]["questions"] == ["Release order-4413 for 1080.00?"]
    assert ["no risk table" in error for error in heads["order-4414"]["errors"]] == [True]
    assert [thread for thread, head in heads.items() if head["errors"]] == ["order-4414"]
    assert [thread for thread, head in heads.items() if head["questions"]] == ["order-4413"]


def test_a_question_was_answered(told: dict[str, Any]) -> None:
    asked = [state for state in told["order-4410"]["history"] if state["questions"]]
    assert [state["next"] for state in asked] == [["hold"]]
    assert told["order-4410"]["head"]["said"][-1].startswith("order-4410 is on its way")


def test_a_return_is_a_map_reduce(told: dict[str, Any]) -> None:
    nexts = [state["next"] for state in told["return-4407"]["history"]]
    assert ["inspect"] * 3 in nexts


def test_the_main_thread_has_three_lines_of_which_two_took_different_routes(
    told: dict[str, Any], demo: DemoInfo
) -> None:
    history = {state["id"]: state for state in told[demo.thread]["history"]}
    children: dict[str, list[dict[str, Any]]] = {}
    for state in history.values():
        children.setdefault(state["parent"], []).append(state)
    forks = [parent for parent, below in children.items() if len(below) > 1]
    assert len(forks) == 1
    fork = history[forks[0]]
    assert (fork["next"], fork["path"]) == (["hold"], "review")

    below = {state["source"]: state for state in children[fork["id"]]}
    assert {source: state["next"] for source, state in below.items()} == {
        "loop": ["notify"],
        "fork": ["hold"],
        "update": ["ship"],
    }
    assert below["update"]["path"] == "express"
    assert below["fork"]["questions"] == ["Release order-4412 for 1195.10?"]
    assert "A colleague will call you." in children[below["loop"]["id"]][0]["said"][-1]
    assert any("is on its way with PostNord" in said for said in told[demo.thread]["head"]["said"])


def test_the_crash_left_a_sub_graph_half_way(demo: DemoInfo) -> None:
    namespaces = rows(demo.db, "thread_id, checkpoint_ns, count(*)", "checkpoints group by 1, 2")
    inside = {thread: n for thread, ns, n in namespaces if ns.startswith("ship:")}
    # The fifth is made when `book` has run.
    assert inside == {"order-4409": 5, "order-4410": 5, "order-4412": 5, "order-4415": 4}


def test_one_check_was_done_when_the_other_failed(demo: DemoInfo) -> None:
    left = rows(demo.db, "task_path, channel", "writes where thread_id = 'order-4414'")
    assert ("~__pregel_pull, stock", "in_stock") in left
    assert ("~__pregel_pull, fraud", "__error__") in left


def test_metadata_has_something_to_redact(demo: DemoInfo) -> None:
    metadata = [json.loads(m) for (m,) in rows(demo.db, "metadata", "checkpoints")]
    assert {m["user_id"] for m in metadata} == {"ada", "bram", "chiara", "einar"}
    assert all(m["authorization"].startswith("Bearer demo-") for m in metadata)


def test_times_are_counted_back_from_now(demo: DemoInfo) -> None:
    ids = [i for (i,) in rows(demo.db, "checkpoint_id", "checkpoints")]
    times = [time_of(i) for i in ids]
    assert all(t and NOW - timedelta(days=7) < t < NOW for t in times)
    assert NOW - max(t for t in times if t) < timedelta(minutes=10)


def test_the_content_is_the_same_each_time(demo: DemoInfo, tmp_path: Path) -> None:
    again = make_demo(tmp_path / "again", NOW)
    for table in ("checkpoints", "writes"):
        assert rows(again.db, "*", table) == rows(demo.db, "*", table)


def test_another_now_gives_other_ids_and_the_same_shape(demo: DemoInfo, tmp_path: Path) -> None:
    later = make_demo(tmp_path / "later", NOW + timedelta(days=100))

    def shape(db: Path) -> list[tuple[Any, ...]]:
        found = rows(db, "thread_id, checkpoint_id, checkpoint_ns", "checkpoints")
        return [(thread, step_of(i), ns.split(":")[0]) for thread, i, ns in found]

    assert shape(later.db) == shape(demo.db)
    ids = {i for (i,) in rows(later.db, "checkpoint_id", "checkpoints")}
    assert ids.isdisjoint(i for (i,) in rows(demo.db, "checkpoint_id", "checkpoints"))


def test_a_folder_that_has_it_is_left_as_it_is(demo: DemoInfo, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "demo.db").write_bytes(demo.db.read_bytes())
    (folder / "support_agent.py").write_text("# mine now\n")
    before = (folder / "demo.db").stat()

    info = make_demo(folder)

    assert not info.made
    after = (folder / "demo.db").stat()
    assert (after.st_mtime_ns, after.st_size) == (before.st_mtime_ns, before.st_size)
    assert (folder / "support_agent.py").read_text() == "# mine now\n"
    assert (folder / "langgraph.json").exists()


@pytest.mark.parametrize("name", ["demo.db", "demo.db-wal", "support_agent.py", "langgraph.json"])
def test_a_file_of_the_user_is_never_overwritten(name: str, tmp_path: Path) -> None:
    theirs = tmp_path / name
    theirs.write_text("mine")
    with pytest.raises(UsageError, match=rf"{name} is not the demo's: give another folder\."):
        make_demo(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert theirs.read_text() == "mine"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine")
    with pytest.raises(UsageError, match="is a file: give a folder"):
        make_demo(tmp_path / "x")
    with pytest.raises(SourceError, match="cannot be written"):
        make_demo(tmp_path / "x" / "y")


def test_now_must_be_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETROGRAPH_DEMO_NOW", "yesterday")
    with pytest.raises(ConfigError, match="RETROGRAPH_DEMO_NOW is 'yesterday'"):
        make_demo(tmp_path / "demo")
    assert not (tmp_path / "demo").exists()


def test_a_python_without_langgraph_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(bare))
    with pytest.raises(SourceError, match="No module named 'lang"):
        make_demo(tmp_path / "demo")
    assert list((tmp_path / "demo").iterdir()) == []


def test_making_it_imports_no_langgraph_here() -> None:
    code = (
        "import sys, retrograph.cli.demo; "
        "print([m for m in ('langgraph', 'langchain_core', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
