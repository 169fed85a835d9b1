"""Which nodes a plan says may run: what edges lead to from what is due, and what only a Command can
lead to."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hosting import OWN, plan_of
from retrograph.engine.edits.plan import Asked as Edits
from retrograph.engine.host.client import Host
from retrograph.engine.host.requests import launch, load
from retrograph.engine.model import ROOT, CheckpointKey
from retrograph.engine.replay.asked import Asked, named
from retrograph.engine.replay.forking import make_fork, preview_fork
from retrograph.engine.replay.plan import Plan, plan_replay
from retrograph.engine.replay.recordings import recordings_of
from retrograph.engine.thread import Thread
from retrograph.engine.threads.lookup import LoaderIndex
from retrograph.engine.threads.refs import locate
from retrograph.loaders.registry import open_source

Planned = Callable[..., Plan]


@pytest.fixture(scope="module")
def host(project_made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("scope") / "story"
    shutil.copytree(project_made, folder)
    with launch(plan_of(folder, "agent.py:travel", OWN)) as made:
        yield made


@pytest.fixture
def planned(host: Host) -> Planned:
    def once(where: str, ns: str = "", nth: int = 0, **asked: Any) -> Plan:
        loader = open_source(str(host.project / "store.db"))
        try:
            index = LoaderIndex(loader)
            key = locate(where, index)
            thread = index.thread(key.thread_id)
            if ns:
                full = next(n for n in thread.history.namespaces() if n.startswith(f"{ns}:"))
                ids = [thread.history.ids[i] for i in thread.history.span(full)]
                key = CheckpointKey(key.thread_id, full, ids[nth])
            return plan(host, thread, key, **asked)
        finally:
            loader.close()

    return once


def plan(host: Host, thread: Thread, key: CheckpointKey, **asked: Any) -> Plan:
    launching = plan_of(host.project, f"agent.py:{thread.thread_id}", OWN)
    loaded = load(host, launching)
    known = recordings_of(thread, key)
    return plan_replay(host, launching, loaded, thread, key, Asked(**asked), recordings=known)


def runs(made: Plan) -> list[str]:
    return sorted(named(node.key) for node in made.nodes)


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("travel@step:1", ["b", "c_alt", "c_main", "d"]),
        ("travel@step:2", ["c_main", "d"]),
        ("crash", ["step3", "step4"]),
        ("beside", ["bad", "good", "z"]),
        ("sending@step:0", ["after", "one", "plan"]),
        ("command@step:2", ["left", "right"]),
        ("nested", ["post", "sub", "sub:ask", "sub:y"]),
        ("nested@step:1", ["post", "sub", "sub:ask", "sub:x", "sub:y"]),
    ],
)
def test_from_here_on(planned: Planned, where: str, found: list[str]) -> None:
    again = where == "nested@step:1"  # the head: from it anew, or going on in it
    assert runs(planned(where, again=again)) == found


def test_a_node_of_the_callers_choice(planned: Planned) -> None:
    """What was due, and what that led to, is left out."""
    assert runs(planned("travel@step:1", goto=["c_alt"])) == ["c_alt", "d"]
    assert runs(planned("travel@step:1", goto=["d"])) == ["d"]


@pytest.mark.parametrize(
    ("nth", "found"),
    [
        (0, ["post", "sub", "sub:ask", "sub:x", "sub:y"]),
        (1, ["post", "sub", "sub:ask", "sub:x", "sub:y"]),
        (2, ["post", "sub", "sub:ask", "sub:y"]),
    ],
)
def test_inside_a_sub_graph(planned: Planned, nth: int, found: list[str]) -> None:
    """And what follows it around."""
    assert runs(planned("nested", ns="sub", nth=nth)) == found


def test_a_fork_that_turned(host: Host, tmp_path: Path) -> None:
    """Where the original line went is not where this one can go."""
    loader = open_source(str(host.project / "store.db"))
    try:
        index = LoaderIndex(loader)
        key = locate("travel@step:2", index)
        load(host, plan_of(host.project, "agent.py:travel", OWN))
        fork = preview_fork(host, index.thread("travel"), key, Edits(("path=alt",)))
        made = make_fork(
            index.thread("travel"), fork, str(host.project / "store.db"), folder=tmp_path
        )
    finally:
        loader.close()
    loader = open_source(str(made.path))
    try:
        thread = Thread(loader, "travel")
        there = CheckpointKey("travel", ROOT, fork.preview.row.id)
        found = plan(host, thread, there)
    finally:
        loader.close()
    assert runs(found) == ["c_alt", "d"]
    assert found.recordings, "of the original line"


def test_side_effects_that_no_edge_leads_to(planned: Planned) -> None:
    """A Command could: they do not run unasked then either, but the plan does not speak of them."""
    made = planned("travel@step:2", side_effects=["b", "d"])
    assert runs(made) == ["c_main", "d"]
    assert [(named(node.key), node.policy) for node in made.others] == [("b", "pause")]
    assert {policy.node: policy.policy for policy in made.policies} == {
        "b": "pause",
        "d": "recorded",
    }
    assert made.does["", "b"] == "pause"
