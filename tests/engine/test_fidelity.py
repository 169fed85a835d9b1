"""What the engine reads from a store equals what LangGraph says of it, for the whole zoo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from retrograph.engine.model import Loader
from retrograph.engine.thread import Thread
from retrograph.engine.threads.status import describe
from retrograph.loaders.registry import open_source
from zoo import SCENARIOS, Store
from zoo.compare import mismatches, nesting, shortcuts, step_mismatches, steps_apart
from zoo.degrade import without_task_paths, without_updated_channels

JOINS = (
    *("race", "join", "join_loop", "deferred_join", "like_names", "parallel_questions"),
    *("asked_below", "error_beside", "cached", "delta", "update_parallel", "names", "prefixes"),
    "asynchronous",
)
"""Scenarios with joins. Not those drawn by lot: a replay of a corrupted checkpoint goes wrong in
LangGraph itself."""
NAMELESS = {"functional_asks-open", "functional_killed"}
"""Entrypoints that stopped in their first turn: only a task path names them."""
UNTOLD = {"chance-152"}
"""An edit in place of a node that waits for a join that was never written to."""


@pytest.fixture(scope="module")
def loader(zoo_store: Store) -> Iterator[Loader]:
    opened = open_source(str(zoo_store.path))
    yield opened
    opened.close()


@pytest.mark.parametrize("scenario", [s.name for s in SCENARIOS])
def test_as_langgraph_says(scenario: str, zoo_store: Store, loader: Loader) -> None:
    found = [
        line
        for thread_id, ns, rows in zoo_store.of(scenario)
        for line in mismatches(Thread(loader, thread_id), ns, rows)
    ]
    assert not found, "\n".join(found)


def test_every_way_to_read_steps_agrees(zoo_store: Store, loader: Loader) -> None:
    found = [
        line
        for thread_id, ns, _ in zoo_store.all()
        for line in shortcuts(Thread(loader, thread_id), ns)
    ]
    assert not found, "\n".join(found)


def test_all_namespaces_are_found(zoo_store: Store, loader: Loader) -> None:
    theirs = {t: sorted(thread["namespaces"]) for t, thread in zoo_store.threads.items()}
    assert {t: sorted(Thread(loader, t).history.namespaces()) for t in theirs} == theirs


def test_sub_graphs_lie_where_they_were_called(zoo_store: Store, loader: Loader) -> None:
    found: list[str] = []
    told = 0
    for thread_id, ns, rows in zoo_store.all():
        told += sum(row["within"] is not None for row in rows)
        found += nesting(Thread(loader, thread_id), ns, rows)
    assert not found, "\n".join(found)
    assert told > 100


def test_threads_as_they_are_now(zoo_store: Store, loader: Loader) -> None:
    """Status, next and open questions of each thread, from its head alone."""
    found = []
    for thread_id, thread in zoo_store.threads.items():
        row = loader.thread(thread_id)
        assert row is not None
        info, now = describe(loader, row), thread["now"]
        questions = sorted(
            str(q.id) for t in info.step.tasks for q in t.questions if not q.answered
        )
        ours = (row.head, info.status, list(info.next), questions)
        theirs = (now["head"], now["status"], now["next"], sorted(now["questions"]))
        if ours != theirs:
            found.append(f"{thread_id}: ours {ours}, LangGraph {theirs}")
    assert not found, "\n".join(found)


def apart(store: Store, loader: Loader, sync: Store) -> tuple[list[str], int]:
    """(differences from a synchronous run, rows marked as repaired) of the threads with joins."""
    found: list[str] = []
    repaired = 0
    for scenario in JOINS:
        for thread_id, ns, rows in store.of(scenario):
            thread = Thread(loader, thread_id)
            # `race-even-57` is the same run as `race-even-true`.
            same = f"{thread_id.rpartition('-')[0]}-true" if scenario == "race" else thread_id
            if ns == "":  # the names of others hold task ids
                found += steps_apart(thread, ns, rows, sync.threads[same]["namespaces"][ns])
            repaired += sum(s.repaired is not None for s in thread.steps(ns).values())
    return found, repaired


def test_corrupted_joins_are_put_right(
    zoo_store: Store, zoo_builder: Callable[..., Store], loader: Loader
) -> None:
    """Threads with joins that were saved too early equal a run that was saved synchronously, and
    no row is left wrong that is not marked (langgraph #8748)."""
    found, repaired = apart(zoo_store, loader, zoo_builder("sync", only=JOINS))
    assert not found, "\n".join(found)
    assert repaired > 1, "no join was corrupted: the race shows nothing"


def test_stores_without_updated_channels(
    zoo_store: Store, zoo_builder: Callable[..., Store], tmp_path: Path
) -> None:
    """As langgraph 0.5 and 0.6 wrote them: joins are settled by the ancestors' writes."""
    opened = open_source(str(without_updated_channels(zoo_store.path, tmp_path / "old.db")))
    found = [
        line
        for thread_id, ns, rows in zoo_store.all()
        for line in step_mismatches(Thread(opened, thread_id), ns, rows)
    ]
    more, repaired = apart(zoo_store, opened, zoo_builder("sync", only=JOINS))
    opened.close()
    assert not found + more, "\n".join(found + more)
    assert repaired > 1


def test_stores_without_task_paths(zoo_store: Store, tmp_path: Path) -> None:
    """As langgraph-checkpoint-sqlite wrote them until 3.0, and as every checkpointer's public
    interface gives them: tasks are told by their ids."""
    opened = open_source(str(without_task_paths(zoo_store.path, tmp_path / "old.db")))
    found: list[str] = []
    for thread_id, ns, rows in zoo_store.all():
        thread = Thread(opened, thread_id)
        if thread_id in NAMELESS:
            assert not any(step.next_exact for step in thread.steps(ns).values())
        elif thread_id not in UNTOLD:
            found += step_mismatches(thread, ns, rows)
    opened.close()
    assert not found, "\n".join(found)
