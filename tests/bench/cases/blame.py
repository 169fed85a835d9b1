"""Who set a message of a long thread: how many checkpoints are decoded to tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from tests.bench.measure import compare
from tests.bench.report import Row, seconds
from tests.bench.stores.growing import MESSAGE_EVERY, THREAD, growing


def _blame(store: str, path: str, exact: bool) -> Callable[[], Any]:
    from retrograph.engine.search.blame import Blame
    from retrograph.engine.thread import Thread
    from retrograph.loaders.registry import open_source

    def call() -> Any:
        with closing(open_source(store)) as loader:
            thread = Thread(loader, THREAD)
            traced = Blame(thread, thread.history.head(), path, exact=exact)
            return traced, list(traced)

    return call


def few_looks(store: str, path: str) -> Callable[[], Any]:
    return _blame(store, path, exact=False)


def every_version(store: str, path: str) -> Callable[[], Any]:
    return _blame(store, path, exact=True)


def rows(quick: bool) -> Iterator[Row]:
    count = 1_000 if quick else 10_000
    store = str(growing(count))
    messages = count // MESSAGE_EVERY
    most = 0
    for item in {0, 1, messages // 3, messages // 2, messages - 2, messages - 1}:
        traced, found = few_looks(store, f"messages[{item}].content")()
        assert len(found) == 1
        assert found[0].by.step == (item + 1) * MESSAGE_EVERY
        most = max(most, traced.decoded)
    allowed = 2 * math.log2(traced.length) + 2
    path = f"messages[{messages // 2}].content"
    timing = compare(few_looks, every_version, store, path, rounds=3, clock="cpu")
    yield Row(
        f"blame of a message field over {traced.length:,} checkpoints: decoded at most",
        f"{most}",
        f"{traced.length:,}",
        "",
        f"≤ {allowed:.1f}",
        most <= allowed,
    )
    yield Row(
        "that blame; looking at each version of the channel (--exact)",
        seconds(timing.ours),
        seconds(timing.baseline),
        f"{timing.ratio:.2f} ×",
        "",
        None,
    )
