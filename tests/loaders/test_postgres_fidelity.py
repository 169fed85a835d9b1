"""What is read of the zoo from Postgres equals what LangGraph says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from retrograph.engine.model import Loader
from retrograph.engine.thread import Thread
from retrograph.engine.threads.status import describe
from retrograph.loaders.registry import open_source
from servers.postgres import Zoo
from zoo import SCENARIOS, Store
from zoo.compare import mismatches, nesting, steps_apart

JOINS = ("race", "join", "join_loop")


@pytest.fixture(scope="module")
def loader(postgres_zoo: Zoo) -> Iterator[Loader]:
    opened = open_source(postgres_zoo.database.uri)
    yield opened
    opened.close()


@pytest.mark.parametrize("scenario", [s.name for s in SCENARIOS])
def test_as_langgraph_says(scenario: str, postgres_zoo: Zoo, loader: Loader) -> None:
    found = [
        line
        for thread_id, ns, rows in postgres_zoo.store.of(scenario)
        for line in mismatches(Thread(loader, thread_id), ns, rows)
    ]
    assert not found, "\n".join(found)


def test_namespaces_and_where_sub_graphs_lie(postgres_zoo: Zoo, loader: Loader) -> None:
    threads = postgres_zoo.store.threads
    theirs = {t: sorted(thread["namespaces"]) for t, thread in threads.items()}
    assert {t: sorted(Thread(loader, t).history.namespaces()) for t in theirs} == theirs
    found = [
        line
        for scenario in SCENARIOS
        for thread_id, ns, rows in postgres_zoo.store.of(scenario.name)
        for line in nesting(Thread(loader, thread_id), ns, rows)
    ]
    assert not found, "\n".join(found)


def test_threads_as_they_are_now(postgres_zoo: Zoo, loader: Loader) -> None:
    for thread_id, thread in postgres_zoo.store.threads.items():
        row = loader.thread(thread_id)
        assert row is not None
        info, now = describe(loader, row), thread["now"]
        assert (row.head, info.status, list(info.next)) == (
            now["head"],
            now["status"],
            now["next"],
        ), thread_id


def test_corrupted_joins_are_put_right(
    postgres_zoo: Zoo, zoo_builder: Callable[..., Store], loader: Loader
) -> None:
    """Threads with joins that were saved too early equal a run that was saved synchronously
    (langgraph #8748; Postgres meets it as often as SQLite)."""
    sync = zoo_builder("sync", only=JOINS)
    found: list[str] = []
    for scenario in JOINS:
        for thread_id, ns, rows in postgres_zoo.store.of(scenario):
            same = f"{thread_id.rpartition('-')[0]}-true" if scenario == "race" else thread_id
            true = sync.threads[same]["namespaces"][ns]
            found += steps_apart(Thread(loader, thread_id), ns, rows, true)
    assert not found, "\n".join(found)
