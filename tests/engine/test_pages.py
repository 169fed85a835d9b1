"""A page of steps, read by itself, is what a walk over the whole thread says of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from retrograph.loaders.registry import open_source

from retrograph.engine.model import Loader
from retrograph.engine.pages import read_page
from retrograph.engine.thread import Thread
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
