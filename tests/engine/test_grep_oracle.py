"""Searching against what looking at every value of every checkpoint finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from retrograph.engine.model import Loader, ThreadQuery
from retrograph.engine.paths import get
from retrograph.engine.search.grep import Grep
from retrograph.engine.search.needle import Needle, texts
from retrograph.engine.thread import Thread
from retrograph.engine.values import Delta
from retrograph.loaders.registry import open_source
from servers.postgres import Zoo
from zoo import Store

DATA = Path(__file__).parent.parent / "data" / "formats"
NEEDLES = ("a", "1", "draft", "order", "e", "Message", "text", "x", "0", "tool", "b")


def marks(values: dict[str, Any], needle: Needle) -> Counter[tuple[str, str, str]]:
    """Matches as (channel, nearest name, text); where in a DeltaChannel they stand is no matter."""
    found: Counter[tuple[str, str, str]] = Counter()
    for channel, value in values.items():
        parts = [value.snapshot, *value.writes] if isinstance(value, Delta) else [value]
        for part in parts:
            for path, text in texts(part):
                if needle.spot(text):
                    names = [key for key in path if isinstance(key, str)]
                    found[channel, names[-1] if names else "", text] += 1
    return found


def check(thread: Thread, patterns: Iterable[str]) -> int:
    history = thread.history
    snapshots = [
        dict(thread.snapshot(history.ns(i), id_).values) for i, id_ in enumerate(history.ids)
    ]
    hits_in_all = 0
    for pattern in patterns:
        needle = Needle(pattern)
        held = [marks(values, needle) for values in snapshots]
        expected: Counter[tuple[int, str, str, str]] = Counter()
        for i, own in enumerate(held):
            parent = history.parent(i)
            new = own - held[parent] if parent >= 0 else own
            expected.update({(i, *mark): count for mark, count in new.items()})
        found: Counter[tuple[int, str, str, str]] = Counter()
        for hit in Grep(needle).thread(thread):
            if hit.where != "values":
                continue
            i = history.find(hit.ns, hit.id)
            names = [key for key in hit.path[1:] if isinstance(key, str)]
            delta = isinstance(snapshots[i].get(str(hit.path[0])), Delta)
            names = names[1:] if delta else names
            found[i, str(hit.path[0]), names[-1] if names else "", hit.text] += 1
            here = get(snapshots[i], hit.path)  # type: ignore[arg-type]
            assert hit.text in [text for _, text in texts(here)]
        assert found == expected, pattern
        hits_in_all += found.total()
    return hits_in_all


def check_all(loader: Loader, patterns: Iterable[str]) -> int:
    rows = list(loader.threads(ThreadQuery(limit=None)))
    return sum(check(Thread(loader, row.thread_id), patterns) for row in rows)


@pytest.mark.parametrize("store", sorted(path.name for path in DATA.glob("*.db")))
def test_stores_of_any_version(store: str) -> None:
    assert check_all(open_source(str(DATA / store)), NEEDLES) >= 30


def test_the_zoo(zoo_store: Store) -> None:
    assert check_all(open_source(str(zoo_store.path)), ("a", "1", "e")) > 500


def test_the_zoo_on_postgres(postgres_zoo: Zoo) -> None:
    with closing(open_source(postgres_zoo.database.uri)) as loader:
        assert check_all(loader, ("a", "1")) > 500
