"""DeltaChannels in the app: as they are stored, and whole where somebody folds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piloting import opened, text
from retrograph.engine.errors import HostError
from retrograph.engine.thread import Thread
from zoo import Store


def whole(thread: Thread) -> None:
    def fold(ns: str, deltas: Mapping[str, Any]) -> Mapping[str, Any]:
        return dict.fromkeys(deltas, "folded by the graph")

    thread.fold = fold


def failing(thread: Thread) -> None:
    def fold(ns: str, deltas: Mapping[str, Any]) -> Mapping[str, Any]:
        raise HostError("The reducer of 'log' failed.")

    thread.fold = fold


async def test_as_stored_whole_and_not_to_be_folded(zoo_store: Store) -> None:
    thread_id = next(thread_id for thread_id, _, _ in zoo_store.of("delta"))
    async with opened(zoo_store.path, thread_id) as pilot:
        assert "writes" in text(pilot)
    async with opened(zoo_store.path, thread_id, let_fold=whole) as pilot:
        assert "folded by the graph" in text(pilot)
    async with opened(zoo_store.path, thread_id, let_fold=failing) as pilot:
        assert "The reducer of 'log' failed." in text(pilot)
