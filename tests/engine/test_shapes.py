"""What `--json` prints, against the contract's field names and what LangGraph says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retrograph.engine.model import Loader, ThreadQuery
from retrograph.engine.thread import Thread
from retrograph.engine.threads.status import describe
from retrograph.engine.views.redact import Redactor
from retrograph.engine.views.shapes import snapshot_shape, thread_shape, tree_shape
from retrograph.loaders.registry import open_source
from zoo import SCENARIOS, Store
from zoo.compare import UNTOLD_IDS, normal

FORMATS = Path(__file__).parent.parent / "data" / "formats"

# fmt: off
THREAD = [
    "thread_id", "status", "checkpoints", "namespaces", "first_at", "last_at", "head", "next",
    "size", "metadata",
]
TREE = [
    "thread_id", "head", "checkpoints", "leaves", "fork_points", "roots", "truncated",
    "orphan_writes",
]
CHECKPOINT = [
    "id", "parent_id", "ns", "step", "source", "at", "size", "run_id", "children", "leaf",
    "head", "next", "next_exact", "repaired", "ran", "came_by", "route", "interrupts",
    "errors",
]
SNAPSHOT = [
    "thread_id", "values", "metadata", "tasks", "writes", "channel_versions",
    "updated_channels",
]
TASK = ["id", "name", "ns", "error", "interrupts", "result"]
INTERRUPT = ["id", "node", "value", "answered"]
WRITE = ["task_id", "node", "channel", "value"]
# fmt: on


@pytest.fixture(scope="module")
def loader(zoo_store: Store) -> Iterator[Loader]:
    opened = open_source(str(zoo_store.path))
    yield opened
    opened.close()


def snapshots(thread: Thread, ns: str) -> Iterator[dict[str, Any]]:
    history = thread.history
    for i in history.span(ns):
        snapshot = thread.snapshot(ns, history.ids[i])
        yield snapshot_shape(history, snapshot, Redactor(enabled=False))


@pytest.mark.parametrize("scenario", [s.name for s in SCENARIOS])
def test_tasks_are_langgraphs(scenario: str, zoo_store: Store, loader: Loader) -> None:
    """Ids, names, errors, questions and results of every task of every snapshot."""
    for thread_id, ns, rows in zoo_store.of(scenario):
        if thread_id in UNTOLD_IDS:
            continue
        thread = Thread(loader, thread_id)
        for shape, row in zip(snapshots(thread, ns), rows, strict=True):
            if shape["repaired"]:
                continue
            ours = {task["id"]: task for task in shape["tasks"]}
            for theirs in row["tasks"]:
                task = ours[theirs["id"]]
                assert task["name"] == theirs["name"]
                assert task["error"] == theirs["error"]
                asked = [{"id": q["id"], "value": normal(q["value"])} for q in task["interrupts"]]
                assert asked == theirs["interrupts"]
                assert normal(task["result"]) == theirs["result"], (thread_id, shape["id"])
            assert len(ours) == len(row["tasks"])


def test_a_task_names_the_namespace_of_its_sub_graph(zoo_store: Store, loader: Loader) -> None:
    found = set()
    for thread_id in zoo_store.threads:
        thread = Thread(loader, thread_id)
        namespaces = thread.history.namespaces()
        for shape in (s for ns in namespaces for s in snapshots(thread, ns)):
            for task in shape["tasks"]:
                if task["ns"] is not None:
                    assert task["ns"] in namespaces
                    last = task["ns"].rpartition("|")[2]
                    assert last in (task["name"], f"{task['name']}:{task['id']}")
                    assert task["ns"].rpartition("|")[0] == shape["ns"]
                    found.add(task["ns"])
    assert len(found) > 10


@pytest.mark.parametrize("path", sorted(FORMATS.glob("*.db")), ids=lambda p: p.stem)
def test_the_fields_of_the_contract(path: Path) -> None:
    told = json.loads(path.with_suffix(".json").read_text())["threads"]
    loader = open_source(str(path))
    redact = Redactor()
    for row in loader.threads(ThreadQuery()):
        listed = thread_shape(describe(loader, row), redact)
        assert set(THREAD) <= set(listed)
        thread = Thread(loader, row.thread_id)
        tree = tree_shape(thread)
        assert list(tree) == TREE
        ids = [checkpoint["id"] for checkpoint in tree["checkpoints"]]
        assert ids == sorted(ids)
        assert tree["head"] == listed["head"] in ids
        assert len(ids) == listed["checkpoints"]
        for checkpoint in tree["checkpoints"]:
            assert list(checkpoint) == CHECKPOINT
            snapshot = thread.snapshot(checkpoint["ns"], checkpoint["id"])
            shape = snapshot_shape(thread.history, snapshot, redact)
            assert list(shape) == CHECKPOINT + SNAPSHOT
            assert {key: shape[key] for key in CHECKPOINT} == checkpoint
            assert all(list(task) == TASK for task in shape["tasks"])
            assert all(list(write) == WRITE for write in shape["writes"])
            asked = [q for task in shape["tasks"] for q in task["interrupts"]]
            assert all(list(question) == INTERRUPT for question in asked)
            json.dumps(shape, allow_nan=False)
            said = told.get(row.thread_id, {}).get(checkpoint["id"])
            if said and checkpoint["ns"] == "":
                place = [checkpoint[key] for key in ("parent_id", "source", "step")]
                assert place == [said["parent"], said["source"], said["step"]]
    loader.close()


@pytest.fixture
def newest() -> Iterator[Loader]:
    opened = open_source(str(FORMATS / "langgraph-1.2.24.db"))
    yield opened
    opened.close()


def test_family(newest: Loader) -> None:
    tree = tree_shape(Thread(newest, "loop"))
    by_id = {checkpoint["id"]: checkpoint for checkpoint in tree["checkpoints"]}
    for id_, checkpoint in by_id.items():
        for child in checkpoint["children"]:
            assert by_id[child]["parent_id"] == id_
        assert checkpoint["leaf"] == (not checkpoint["children"]) == (id_ in tree["leaves"])
        assert (len(checkpoint["children"]) > 1) == (id_ in tree["fork_points"])
        assert (checkpoint["parent_id"] is None) == (id_ in tree["roots"])
        assert checkpoint["head"] == (id_ == tree["head"])


def test_one_namespace(newest: Loader) -> None:
    thread = Thread(newest, "nested")
    ns = thread.history.namespaces()[1]
    tree = tree_shape(thread, ns)
    assert {checkpoint["ns"] for checkpoint in tree["checkpoints"]} == {ns}
    assert tree["head"] == tree["checkpoints"][-1]["id"]
    assert not tree["truncated"]
    root = tree_shape(thread, "")
    assert {checkpoint["ns"] for checkpoint in root["checkpoints"]} == {""}
    assert not root["truncated"]
    whole = tree_shape(thread)
    assert len(whole["checkpoints"]) == len(tree["checkpoints"]) + len(root["checkpoints"])
    assert whole["head"] == root["head"]


def test_the_newest(newest: Loader) -> None:
    thread = Thread(newest, "nested")
    whole = tree_shape(thread)["checkpoints"]
    for limit in (1, 3, len(whole), 99):
        tree = tree_shape(thread, limit=limit)
        assert tree["checkpoints"] == whole[-limit:]
        assert tree["truncated"] == (limit < len(whole))


def test_raw_and_some_channels(newest: Loader) -> None:
    thread = Thread(newest, "chat")
    history = thread.history
    snapshot = thread.snapshot("", history.ids[2])
    redact = Redactor()
    plain = snapshot_shape(history, snapshot, redact)["values"]
    raw = snapshot_shape(history, snapshot, redact, raw=True)["values"]
    assert set(raw) - set(plain) == {"branch:to:tools"}
    some = snapshot_shape(history, snapshot, redact, channels=["mood"])["values"]
    assert some == {"mood": plain["mood"]}
