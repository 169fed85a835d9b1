"""What the engine reads from a store equals what LangGraph says of it, for the whole zoo."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from retrograph.loaders.registry import open_source

from retrograph.engine.model import Loader
from retrograph.engine.thread import Thread
from zoo import SCENARIOS, Store
from zoo.compare import mismatches, steps_apart


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


@pytest.mark.parametrize("scenario", [s.name for s in SCENARIOS])
def test_all_namespaces_are_found(scenario: str, zoo_store: Store, loader: Loader) -> None:
    theirs: dict[str, list[str]] = {}
    for thread_id, ns, _ in zoo_store.of(scenario):
        theirs.setdefault(thread_id, []).append(ns)
    assert theirs == {t: sorted(Thread(loader, t).history.namespaces()) for t in theirs}


def test_corrupted_joins_are_put_right(
    zoo_store: Store, zoo_builder: Callable[..., Store], loader: Loader
) -> None:
    """Where a row is marked as repaired, the whole thread equals a run that was saved
    synchronously; and no row is left wrong that is not marked (langgraph #8748)."""
    sync = zoo_builder("sync", only=("race", "join", "join_loop"))
    repaired = 0
    found: list[str] = []
    for scenario in ("race", "join", "join_loop"):
        for thread_id, ns, rows in zoo_store.of(scenario):
            thread = Thread(loader, thread_id)
            twin = thread_id if thread_id in sync.threads else _twin(thread_id)
            found += steps_apart(thread, ns, rows, sync.threads[twin]["namespaces"][ns])
            repaired += sum(s.repaired is not None for s in thread.steps(ns).values())
    assert not found, "\n".join(found)
    assert repaired, "no join was corrupted: the race shows nothing"


def _twin(thread_id: str) -> str:
    """`race-loop-57` → `race-loop-true`: each attempt is the same run."""
    return f"{thread_id.rpartition('-')[0]}-true"
