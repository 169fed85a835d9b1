"""A page of steps, read by itself, is what a walk over the whole thread says of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from made import THREAD, Made, make
from retrograph.engine.history import History
from retrograph.engine.model import Loader
from retrograph.engine.thread import Thread
from retrograph.engine.threads.pages import read_page
from retrograph.engine.views.shapes import tree_shape
from retrograph.loaders.registry import open_source
from zoo import SCENARIOS, Store


@pytest.fixture(scope="module")
def loader(zoo_store: Store) -> Iterator[Loader]:
    opened = open_source(str(zoo_store.path))
    yield opened
    opened.close()


@pytest.mark.parametrize("scenario", [s.name for s in SCENARIOS])
def test_a_page_is_as_the_walk(scenario: str, zoo_store: Store, loader: Loader) -> None:
    for thread_id in dict.fromkeys(thread_id for thread_id, _, _ in zoo_store.of(scenario)):
        thread = Thread(loader, thread_id)
        walked = {i: (envelope, step) for i, envelope, step in thread.walk()}
        count = len(thread.history)
        for size in (2, count):
            for start in range(0, count, size):
                page = range(start, min(start + size, count))
                assert read_page(thread, page) == {i: walked[i] for i in page}


def test_what_is_gone_is_left_out(zoo_store: Store, loader: Loader) -> None:
    thread_id = next(iter(zoo_store.threads))
    assert read_page(Thread(loader, thread_id), ()) == {}


def test_a_wide_fork_is_walked_in_linear_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of children of one checkpoint: their lists are not made for each of them."""
    forks = 1_000
    forked = [Made({"n": k}, {"a": {"n": k}}, parent=0) for k in range(forks)]
    make(tmp_path / "s.db", [Made({}, source="input"), *forked])
    loader = open_source(str(tmp_path / "s.db"))
    listed = []
    children = History.children

    def counted(history: History, i: int) -> list[int]:
        found = children(history, i)
        listed.append(len(found))
        return found

    monkeypatch.setattr(History, "children", counted)
    thread = Thread(loader, THREAD)
    assert len(list(thread.walk())) == forks + 1
    assert len(read_page(thread, range(forks + 1))) == forks + 1
    assert len(tree_shape(thread)["checkpoints"]) == forks + 1
    loader.close()
    assert sum(listed) < 20 * forks
