"""Which threads a list shows, asked of a real store of a few hundred threads."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from retrograph.engine.errors import UsageError
from retrograph.engine.ids import first_id_at
from retrograph.engine.model import Loader, ThreadQuery
from retrograph.engine.threads.listing import ThreadFilter, find_threads, parse_since, parse_where
from retrograph.loaders.registry import open_source

STORE = Path(__file__).parent.parent / "data" / "formats" / "langgraph-1.2.24.db"
NOW = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
MANY = 300


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loader]:
    """`many-0` … `many-299`, an hour apart, the newest first; every 50th is interrupted."""
    path = tmp_path_factory.mktemp("many") / "many.db"
    shutil.copy(STORE, path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma journal_mode = delete")
        for n in range(MANY):
            source = "paused" if n % 50 == 49 else "loop"
            id_ = first_id_at(NOW - timedelta(hours=n))
            head = db.execute(
                "select checkpoint_id from checkpoints where thread_id = ? order by 1 desc",
                [source],
            ).fetchone()[0]
            db.execute(
                """insert into checkpoints select ?, '', ?, null, type, checkpoint,
                   cast(json_set(metadata, '$.n', ?, '$.even', json(?), '$.name', ?) as blob)
                   from checkpoints where thread_id = ? and checkpoint_id = ?""",
                [f"many-{n}", id_, n, "true" if n % 2 == 0 else "false", f"n{n}", source, head],
            )
            db.execute(
                """insert into writes select ?, '', ?, task_id, task_path, idx, channel, type, value
                   from writes where thread_id = ? and checkpoint_id = ?""",
                [f"many-{n}", id_, source, head],
            )
        for thread in ("chat", "failed", "join", "loop", "mapreduce", "nested", "paused"):
            db.execute("delete from checkpoints where thread_id = ?", [thread])
        db.commit()
    opened = open_source(str(path))
    yield opened
    opened.close()


def found(loader: Loader, limit: int | None = None, **wanted: Any) -> list[int]:
    infos = find_threads(loader, ThreadFilter(**wanted), limit)
    return [int(info.row.thread_id.removeprefix("many-")) for info in infos]


def test_newest_first_and_limited(loader: Loader) -> None:
    assert found(loader, 3) == [0, 1, 2]
    assert found(loader, 1000) == found(loader) == list(range(MANY))


def test_a_filter_pages_on_until_enough_are_found(loader: Loader) -> None:
    every = list(range(49, MANY, 50))
    for limit in (1, 2, 5, 6, 50):
        assert found(loader, limit, status="interrupted") == every[:limit]
    assert found(loader, None, status="interrupted") == every
    assert found(loader, None, status="error") == []


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"n": "299"}, [299]),
        ({"n": "299.0"}, []),
        ({"n": "x"}, []),
        ({"name": "n7"}, [7]),
        ({"even": "true", "source": "loop"}, list(range(0, MANY, 2))),
        ({"even": "True"}, []),
        ({"absent": ""}, []),
        ({"name": "n7", "even": "true"}, []),
    ],
)
def test_metadata(loader: Loader, where: dict[str, str], expected: list[int]) -> None:
    assert found(loader, None, where=where) == expected


def test_since(loader: Loader) -> None:
    assert found(loader, since=NOW - timedelta(hours=2, minutes=30)) == [0, 1, 2]
    assert found(loader, since=NOW - timedelta(hours=2)) == [0, 1, 2]
    assert found(loader, since=NOW + timedelta(seconds=1)) == []


def test_search(loader: Loader) -> None:
    assert found(loader, search="MANY-29") == [29, *range(290, 300)]
    assert found(loader, 2, search="many-29", status="interrupted") == [299]


def test_only_what_is_needed_is_looked_at(loader: Loader) -> None:
    looked: list[int] = []
    list(find_threads(loader, ThreadFilter(), 5, looked.append))
    assert looked == [1, 2, 3, 4, 5]
    looked.clear()
    list(find_threads(loader, ThreadFilter(status="interrupted"), 1, looked.append))
    assert looked[-1] == 50


def test_a_page_that_shifts_while_it_is_read_shows_no_thread_twice() -> None:
    class Growing:
        """Between two pages a newer thread appears, so that the last one is met again."""

        def __init__(self, loader: Loader) -> None:
            self.loader = loader
            self.asked = 0

        def threads(self, query: ThreadQuery) -> Iterator[Any]:
            self.asked += 1
            rows = list(self.loader.threads(ThreadQuery(limit=None)))
            start = max(query.offset - (self.asked > 1), 0)
            yield from rows[start : start + (query.limit or len(rows))]

        def __getattr__(self, name: str) -> Any:
            return getattr(self.loader, name)

    real = open_source(str(STORE))
    infos = list(find_threads(Growing(real), ThreadFilter(), 3))  # type: ignore[arg-type]
    assert len({info.row.thread_id for info in infos}) == len(infos) == 3
    real.close()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("90s", NOW - timedelta(seconds=90)),
        ("30min", NOW - timedelta(minutes=30)),
        ("30m", NOW - timedelta(minutes=30)),
        ("1h", NOW - timedelta(hours=1)),
        (" 2 d ", NOW - timedelta(days=2)),
        ("1w", NOW - timedelta(weeks=1)),
        ("2026-01-31T10:00:00+02:00", datetime(2026, 1, 31, 8, tzinfo=UTC)),
        ("2026-01-31T10:00:00Z", datetime(2026, 1, 31, 10, tzinfo=UTC)),
    ],
)
def test_moments(text: str, moment: datetime) -> None:
    assert parse_since(text, NOW) == moment


@pytest.mark.parametrize("text", ["", "h", "1y", "-1h", "yesterday", "9" * 9 + "w", "2026-13-01"])
def test_no_moments(text: str) -> None:
    with pytest.raises(UsageError, match="is no time"):
        parse_since(text, NOW)


def test_where() -> None:
    assert parse_where(["a=b", "c=d=e", "f="]) == {"a": "b", "c": "d=e", "f": ""}
    for text in ("a", "=b"):
        with pytest.raises(UsageError, match="KEY=VALUE"):
            parse_where([text])
