"""A huge checkpoint's status, told from its two ends, is that of the whole checkpoint."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from retrograph.engine.model import CheckpointKey, ThreadQuery, ThreadRow
from retrograph.engine.threads.status import ThreadInfo, describe_all
from retrograph.loaders.sqlite import heads
from retrograph.loaders.sqlite.loader import SQLiteLoader
from zoo import Store

FORMATS = Path(__file__).parent.parent / "data" / "formats"


class Whole:
    """The loader without its way of reading many heads."""

    def __init__(self, loader: SQLiteLoader) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        if name == "heads":
            raise AttributeError(name)
        return getattr(self._loader, name)


def stores(*paths: Path) -> Iterator[SQLiteLoader]:
    for path in paths:
        loader = SQLiteLoader(path)
        yield loader
        loader.close()


def everywhere(loader: SQLiteLoader) -> list[ThreadRow]:
    """A row for each checkpoint, as if it were its thread's head."""
    return [
        replace(row, head=checkpoint_id, head_ns=ns)
        for row in loader.threads(ThreadQuery(limit=None))
        for batch in loader.rows(row.thread_id)
        for ns, checkpoint_id, *_ in batch
    ]


def shown(info: ThreadInfo) -> tuple[Any, ...]:
    return info.row.thread_id, info.row.head, info.status, info.next, info.step, info.metadata


@pytest.fixture
def all_are_huge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heads, "_LONGEST", -1)
    monkeypatch.setattr(heads, "_HUGE", 0)


def told_by_ends(loader: SQLiteLoader, rows: list[ThreadRow]) -> int:
    keys = [CheckpointKey(row.thread_id, row.head_ns, row.head) for row in rows]
    return sum(len(loader._told_by_ends(keys[at : at + 99])) for at in range(0, len(keys), 99))


@pytest.mark.usefixtures("all_are_huge")
def test_the_zoo(zoo_store: Store) -> None:
    for loader in stores(zoo_store.path):
        rows = everywhere(loader)
        assert told_by_ends(loader, rows) > len(rows) / 3
        ends = describe_all(loader, rows)
        whole = describe_all(Whole(loader), rows)  # type: ignore[arg-type]
        for one, other in zip(ends, whole, strict=True):
            assert shown(one) == shown(other)


@pytest.mark.usefixtures("all_are_huge")
@pytest.mark.parametrize("name", sorted(p.name for p in FORMATS.glob("*.db")))
def test_other_versions(name: str, tmp_path: Path) -> None:
    shutil.copy(FORMATS / name, tmp_path / "store.db")
    for loader in stores(tmp_path / "store.db"):
        rows = everywhere(loader)
        assert (told_by_ends(loader, rows) > 0) == (name in TOLD)
        ends = describe_all(loader, rows)
        whole = describe_all(Whole(loader), rows)  # type: ignore[arg-type]
        for one, other in zip(ends, whole, strict=True):
            assert shown(one) == shown(other)


TOLD = {"langgraph-1.0.3.db", "langgraph-1.2.24.db"}
"""Their checkpoints name the updated channels."""


@pytest.mark.usefixtures("all_are_huge")
def test_what_lies_between_the_ends_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(FORMATS / "langgraph-1.2.24.db", tmp_path / "store.db")
    for loader in stores(tmp_path / "store.db"):
        rows = everywhere(loader)
        keys = [CheckpointKey(row.thread_id, row.head_ns, row.head) for row in rows]
        told = [row for row, key in zip(rows, keys, strict=True) if loader._told_by_ends([key])]
        monkeypatch.delattr("retrograph.loaders.sqlite.loader.bodies")
        assert len(list(describe_all(loader, told))) == len(told) > 10
