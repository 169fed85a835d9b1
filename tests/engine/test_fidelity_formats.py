"""Stores written by eight versions of LangGraph and by LangGraph.js, against what each of these
said of its own store at the time (`tests/data/formats`).

Formats 1 and 2 (0.2, 0.3) do not name the successors of the last node that ran: a leaf there may
be unknown, and must then be marked so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from retrograph.engine.model import Loader
from retrograph.engine.steps.step import Step
from retrograph.engine.thread import Snapshot, Thread
from retrograph.engine.values import to_json
from retrograph.loaders.registry import open_source

FORMATS = Path(__file__).parents[1] / "data" / "formats"
ORACLES = sorted(FORMATS.glob("*.json"))
INEXACT = {
    "langgraph-0.2.0": {"failed", "nested", "paused"},
    "langgraph-0.2.45": {"failed", "paused"},
    "langgraph-0.3.0": {"failed", "paused"},
}
"""Threads whose leaf cannot be told."""

Row = Mapping[str, Any]


@pytest.fixture(params=ORACLES, ids=lambda path: path.stem)
def oracle(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


@pytest.fixture
def loader(oracle: Path) -> Iterator[Loader]:
    opened = open_source(str(oracle.with_suffix(".db")))
    yield opened
    opened.close()


def rows(oracle: Path) -> Iterator[tuple[str, str, Row]]:
    for thread_id, checkpoints in json.loads(oracle.read_text())["threads"].items():
        for checkpoint_id, row in checkpoints.items():
            yield thread_id, checkpoint_id, row


def test_as_that_version_said(oracle: Path, loader: Loader) -> None:
    found: list[str] = []
    unknown: set[str] = set()
    for thread_id, checkpoint_id, row in rows(oracle):
        thread = Thread(loader, thread_id)
        snapshot = thread.snapshot("", checkpoint_id)
        pairs = _pairs(snapshot, row)
        if pairs["next"][0] != pairs["next"][1] and not snapshot.step.next_exact:
            assert thread.history.children(thread.history.find("", checkpoint_id)) == []
            unknown.add(thread_id)
            del pairs["next"], pairs["tasks"]
        where = f"{thread_id} @{checkpoint_id[-12:]} step {row['step']}"
        found += [
            f"{where}: {field}: ours {ours!r}, theirs {theirs!r}"
            for field, (ours, theirs) in pairs.items()
            if ours != theirs
        ]
    assert not found, "\n".join(found)
    assert unknown == INEXACT.get(oracle.stem, set())


def test_nothing_is_left_out(oracle: Path, loader: Loader) -> None:
    told: dict[str, list[str]] = {}
    for thread_id, checkpoint_id, _ in rows(oracle):
        told.setdefault(thread_id, []).append(checkpoint_id)
    for thread_id, ids in told.items():
        history = Thread(loader, thread_id).history
        assert [history.ids[i] for i in history.span("")] == sorted(ids)


def test_one_pass_and_alone_agree(oracle: Path, loader: Loader) -> None:
    for thread_id in json.loads(oracle.read_text())["threads"]:
        thread = Thread(loader, thread_id)
        for (ns, checkpoint_id), step in thread.steps().items():
            alone = thread.step(ns, checkpoint_id)
            assert _seen(alone) == _seen(step), f"{thread_id} {ns} {checkpoint_id}"


def _seen(step: Step) -> Any:
    tasks = [(t.node, t.finished, t.error, t.questions, t.wrote, t.route) for t in step.tasks]
    return step.next, step.next_exact, tasks, step.ran, step.came_by, step.route


def _pairs(snapshot: Snapshot, row: Row) -> dict[str, tuple[Any, Any]]:
    step, envelope = snapshot.step, snapshot.envelope
    tasks = [[t.node, t.error, [to_json(q.value) for q in t.questions]] for t in step.tasks]
    pairs: dict[str, tuple[Any, Any]] = {
        "parent": (snapshot.parent_id, row["parent"]),
        "step": (envelope.step, row["step"]),
        "source": (envelope.source, row["source"]),
        "next": (list(step.next), sorted(row["next"])),
        # 0.2.0 gave no tasks with its history.
        "tasks": (sorted(tasks) if row["tasks"] else [], sorted(row["tasks"])),
    }
    theirs = row["values"]
    ours = {name: to_json(value) for name, value in snapshot.values.items()}
    for name in ours.keys() | theirs.keys():
        never_written = name not in envelope.versions and theirs.get(name) == []
        if name in ours or not never_written:
            told = _told(theirs.get(name))
            pairs[f"value {name}"] = (_like(ours.get(name), told), told)
    return pairs


def _told(theirs: Any) -> Any:
    """The oracle's value; LangGraph.js says its messages as constructors."""
    if isinstance(theirs, list):
        return [_told(v) for v in theirs]
    if isinstance(theirs, dict) and theirs.get("lc") == 1:
        return {**theirs["kwargs"], "$type": ".".join(theirs["id"])}
    return theirs


def _like(ours: Any, theirs: Any) -> Any:
    """Ours with those fields of messages that the oracle kept, keys as JSON makes them."""
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [_like(a, b) for a, b in zip(ours, theirs, strict=True)]
    if isinstance(ours, dict) and "$map" in ours:
        ours = {str(k): v for k, v in ours["$map"]}
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {k: _like(v, theirs[k]) for k, v in ours.items() if k in theirs}
    return ours
