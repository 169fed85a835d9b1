"""Many small namespaces read together say what each says by itself, in few readings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from made import THREAD, Made, make
from retrograph.engine.model import Loader, ThreadQuery
from retrograph.engine.thread import Thread
from retrograph.engine.threads.ahead import read_ahead
from retrograph.engine.threads.quick import quick_walk
from retrograph.engine.views.shapes import tree_shape
from retrograph.loaders.registry import open_source
from zoo import Store

RUNS = 300


@pytest.fixture(scope="module")
def zoo(zoo_store: Store) -> Iterator[Loader]:
    opened = open_source(str(zoo_store.path))
    yield opened
    opened.close()


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Loader]:
    """A thread that called a sub-graph very often."""
    run = [Made({}, source="input"), Made({"n": 1}, {"x": {"n": 1}}), Made({"n": 2}, {})]
    make(tmp_path / "s.db", run)
    for number in range(RUNS):
        make(tmp_path / "s.db", run, ns=f"sub:{number:04}")
    opened = open_source(str(tmp_path / "s.db"))
    yield opened
    opened.close()


class Counting:
    """A loader that counts what is asked of it."""

    def __init__(self, loader: Loader) -> None:
        self.asked: Counter[str] = Counter()
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        self.asked[name] += 1
        return getattr(self._loader, name)


def test_the_zoo_is_read_alike(zoo: Loader) -> None:
    together = 0
    for row in zoo.threads(ThreadQuery(limit=None)):
        thread = Thread(zoo, row.thread_id)
        names = thread.history.namespaces()
        read = list(read_ahead(thread, names))
        assert [ns for _, ns in read] == names
        for known, ns in read:
            together += known is not thread
            alone = [(i, e.id, e.metadata, step) for i, e, step in thread.walk(ns)]
            assert [(i, e.id, e.metadata, s) for i, e, s in known.walk(ns)] == alone
            quick = {i: step for i, _, step in quick_walk(known, ns, metadata=True)}
            assert quick == {i: step for i, _, _, step in alone}
    assert together > 20


def test_many_namespaces_take_few_readings(calls: Loader) -> None:
    counting: Any = Counting(calls)
    shape = tree_shape(Thread(counting, THREAD))
    assert len(shape["checkpoints"]) == 3 * (RUNS + 1)
    assert sum(counting.asked.values()) < RUNS / 10, counting.asked
    sub = [c for c in shape["checkpoints"] if c["ns"] == f"sub:{RUNS - 1:04}"]
    assert [(c["next"], c["ran"]) for c in sub] == [(["x"], []), ([], ["x"]), ([], [])]


def test_what_is_gone_meanwhile_is_left_out(calls: Loader) -> None:
    thread = Thread(calls, THREAD)
    names = thread.history.namespaces()[:5]
    known, ns = next(read_ahead(thread, names))
    assert known is not thread
    assert list(known.loader.envelopes(THREAD, ns, ["no such id"])) == [[]]
