"""The contract on SQLite: on a store that the official saver filled, on every generation, and on
stores that LangGraph wrote with real graphs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from loaders import content
from loaders.contract import LoaderContract, Store, StoreContract, flat
from loaders.fill import fill
from loaders.sqlite_files import early_store, snapshot
from retrograph.engine.model import ThreadQuery
from retrograph.loaders.sqlite import SQLiteLoader
from zoo import Store as Zoo

SAVER = "langgraph.checkpoint.sqlite:SqliteSaver"
FORMATS = Path(__file__).parent.parent / "data" / "formats"


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "store.db"
    fill(SAVER, str(path))
    return path


class TestSQLite(LoaderContract):
    @pytest.fixture(scope="class")
    @classmethod
    def store(cls, filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
        path = tmp_path_factory.mktemp("contract") / "store.db"
        shutil.copy(filled, path)
        return Store(
            open=lambda: SQLiteLoader(path),
            append=lambda n: fill(SAVER, str(path), append=n),
            fingerprint=lambda: snapshot(path.parent),
        )


class TestFormats(StoreContract):
    """Stores of LangGraph 0.2 to today's, and of LangGraph.js."""

    @pytest.fixture(scope="class", params=sorted(p.name for p in FORMATS.glob("*.db")))
    @classmethod
    def store(
        cls, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
    ) -> Store:
        path = tmp_path_factory.mktemp("formats") / "store.db"
        shutil.copy(FORMATS / request.param, path)
        return Store(lambda: SQLiteLoader(path), fingerprint=lambda: snapshot(path.parent))


class TestZoo(StoreContract):
    @pytest.fixture(scope="class")
    @classmethod
    def store(cls, zoo_store: Zoo, tmp_path_factory: pytest.TempPathFactory) -> Store:
        path = tmp_path_factory.mktemp("zoo") / "store.db"
        shutil.copy(zoo_store.path, path)
        return Store(lambda: SQLiteLoader(path), fingerprint=lambda: snapshot(path.parent))


class TestEarly(StoreContract):
    """The layouts of 2024: keyed by `thread_ts`, without namespaces, without and with writes."""

    @pytest.fixture(scope="class", params=["S0a", "S0a without metadata", "S0b"])
    @classmethod
    def store(
        cls,
        filled: Path,
        request: pytest.FixtureRequest,
        tmp_path_factory: pytest.TempPathFactory,
    ) -> Store:
        path = tmp_path_factory.mktemp("early") / "store.db"
        early_store(
            filled, path, writes=request.param == "S0b", metadata="without" not in request.param
        )
        return Store(lambda: SQLiteLoader(path), fingerprint=lambda: snapshot(path.parent))

    def test_named_as_early(self, store: Store) -> None:
        loader = store.open()
        assert loader.name == "SQLite (2024 layout)"
        loader.close()

    def test_the_same_root_threads(self, store: Store, filled: Path) -> None:
        early, today = store.open(), SQLiteLoader(filled)
        ids = [row.thread_id for row in today.threads(ThreadQuery(limit=None))]
        assert sorted(r.thread_id for r in early.threads(ThreadQuery(limit=None))) == sorted(ids)
        for thread_id in (*content.ODD_IDS, content.TREE, content.WRITES):
            assert [r[:3] for r in flat(early.rows(thread_id))] == [
                r[:3] for r in flat(today.rows(thread_id, ""))
            ]
            assert [(e.versions, e.present) for e in flat(early.envelopes(thread_id))] == [
                (e.versions, e.present) for e in flat(today.envelopes(thread_id, ""))
            ]
        early.close()
        today.close()
