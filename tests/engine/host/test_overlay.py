"""Over a store and a cache: reads fall through, writes stay, nothing below is touched."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.cache.memory import InMemoryCache
from langgraph.store.base import GetOp, ListNamespacesOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from retrograph.engine.host.worker.gate import Gate
from retrograph.engine.host.worker.overlay import OverlayCache, OverlayStore
from retrograph.engine.host.worker.serde import GateSerde

USERS = ("users",)


class Watched(InMemoryStore):
    """A store that notes what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Any] = []

    def batch(self, ops: Any) -> Any:
        ops = list(ops)
        self.asked += ops
        return super().batch(ops)

    async def abatch(self, ops: Any) -> Any:
        ops = list(ops)
        self.asked += ops
        return await super().abatch(ops)


@pytest.fixture
def base() -> Watched:
    store = Watched()
    for key in ("a", "b", "c"):
        store.put(USERS, key, {"v": key})
    store.asked.clear()
    return store


def found(store: OverlayStore, **options: Any) -> list[str]:
    return [f"{item.key}={item.value['v']}" for item in store.search(USERS, **options)]


def test_nothing_is_written_below(base: Watched) -> None:
    store = OverlayStore(base)
    store.put(USERS, "a", {"v": "new"})
    store.put(USERS, "d", {"v": "d"})
    store.delete(USERS, "b")
    assert store.get(USERS, "a").value == {"v": "new"}
    assert store.get(USERS, "b") is None
    assert store.get(USERS, "c").value == {"v": "c"}
    assert sorted(found(store)) == ["a=new", "c=c", "d=d"]
    assert not any(isinstance(op, PutOp) for op in base.asked)
    assert [item.value["v"] for item in base.search(USERS)] == ["a", "b", "c"]


def test_a_deleted_item_that_is_written_again(base: Watched) -> None:
    store = OverlayStore(base)
    store.delete(USERS, "a")
    store.put(USERS, "a", {"v": "again"})
    assert store.get(USERS, "a").value == {"v": "again"}
    store.delete(USERS, "a")
    assert store.get(USERS, "a") is None


def test_pages_stay_whole(base: Watched) -> None:
    store = OverlayStore(base)
    store.delete(USERS, "a")
    store.put(USERS, "d", {"v": "d"})
    assert found(store, limit=2) == ["d=d", "b=b"]
    assert found(store, limit=2, offset=2) == ["c=c"]
    assert found(store, filter={"v": "c"}) == ["c=c"]


def test_reading_prolongs_no_life(base: Watched) -> None:
    store = OverlayStore(base)
    store.batch([GetOp(USERS, "a"), SearchOp(USERS), ListNamespacesOp()])
    assert [getattr(op, "refresh_ttl", False) for op in base.asked] == [False, False, False]


def test_namespaces(base: Watched) -> None:
    store = OverlayStore(base)
    store.put(("orders", "1"), "x", {"v": 1})
    assert sorted(store.list_namespaces()) == [("orders", "1"), USERS]
    assert store.list_namespaces(prefix=("orders",)) == [("orders", "1")]


def test_a_batch_reads_before_it_writes(base: Watched) -> None:
    store = OverlayStore(base)
    results = store.batch([PutOp(USERS, "a", {"v": "new"}), GetOp(USERS, "a")])
    assert results[0] is None
    assert results[1].value == {"v": "a"}


def test_under_asyncio(base: Watched) -> None:
    async def main() -> Any:
        store = OverlayStore(base)
        await store.aput(USERS, "a", {"v": "new"})
        return await store.aget(USERS, "a"), await store.aget(USERS, "b")

    mine, below = asyncio.run(main())
    assert (mine.value, below.value) == ({"v": "new"}, {"v": "b"})


def test_a_cache() -> None:
    base: Any = InMemoryCache()
    one, two = (("ns",), "1"), (("ns",), "2")
    base.set({one: ("below", None)})
    cache = OverlayCache(base, GateSerde(Gate()))
    cache.set({two: ("here", None), one: ("over", None)})
    assert cache.get([one, two]) == {one: "over", two: "here"}
    assert base.get([one, two]) == {one: "below"}
    cache.clear([("ns",)])
    assert cache.get([one, two]) == {}
    assert base.get([one]) == {one: "below"}
