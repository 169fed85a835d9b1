"""Walking a store in small pages gives what one page gives, across namespaces too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from retrograph.engine.model import ThreadQuery
from retrograph.loaders.sqlite import SQLiteLoader, walks
from retrograph.loaders.sqlite import rows as sqlite_rows
from zoo import Store as Zoo


def everything(path: Path) -> dict[str, Any]:
    opened = SQLiteLoader(path)
    threads = [row.thread_id for row in opened.threads(ThreadQuery(limit=None))]
    read = {
        thread: (
            [row for page in opened.rows(thread) for row in page],
            [row for page in opened.writes(thread) for row in page],
            [envelope for page in opened.envelopes(thread) for envelope in page],
        )
        for thread in threads
    }
    opened.close()
    return read


@pytest.mark.parametrize("size", [1, 2, 7])
def test_small_pages(size: int, zoo_store: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = everything(zoo_store.path)
    assert max(len({row[0] for row in rows}) for rows, *_ in whole.values()) > 3
    monkeypatch.setattr(walks, "_ROWS", size)
    assert everything(zoo_store.path) == whole


def test_large_checkpoints_as_streams(zoo_store: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = everything(zoo_store.path)
    monkeypatch.setattr(sqlite_rows, "_LARGE", 0)
    assert everything(zoo_store.path) == whole
