"""The contract on Postgres: on a store that the official saver filled, on real graphs, and on what
earlier versions and LangGraph.js stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from loaders import content
from loaders.contract import LoaderContract, Store, StoreContract, flat, thread_ids
from loaders.fill import fill
from retrograph.engine.model import (
    CheckpointKey,
    Envelope,
    Loader,
    RawCheckpoint,
    ReadsBodies,
    ReadsHeads,
    ReadsSizes,
    ThreadQuery,
    Typed,
)
from retrograph.engine.serde import Serde, envelope, value_node
from retrograph.engine.thread import Thread
from retrograph.loaders.postgres import open_postgres
from retrograph.loaders.sqlite import SQLiteLoader
from servers.copies import copy
from servers.postgres import Database, Server, Zoo

SAVER = "langgraph.checkpoint.postgres:PostgresSaver"
FORMATS = Path(__file__).parent.parent / "data" / "formats"


def whole(raw: RawCheckpoint, serde: Serde) -> Envelope:
    """The envelope of a checkpoint whose blobs have been read whole."""
    found = envelope(raw.key.ns, raw.key.id, raw.parent_id, raw.checkpoint, raw.metadata, serde)
    blobs = {channel: serde.decode(value) for channel, value in raw.blobs.items()}
    control = {c: v for c, v in blobs.items() if c.startswith(("branch:", "join:", "start:"))}
    return replace(
        found,
        present=found.present | blobs.keys(),
        control={**found.control, **control},
        sends=tuple(str(value_node(send)) for send in blobs.get("__pregel_tasks", ())),
    )


class BlobContract(StoreContract):
    """A store whose values lie beside the checkpoints."""

    def test_envelopes_are_what_reading_gives(self, loader: Loader) -> None:
        serde = Serde.from_env()
        for thread_id in thread_ids(loader, 20):
            for found in flat(loader.envelopes(thread_id))[:60]:
                raw = loader.read(CheckpointKey(thread_id, found.ns, found.id))
                expected = whole(raw, serde)
                if found.v < 4:  # its Sends are its parent's writes
                    expected = replace(expected, sends=found.sends)
                assert found == expected

    def test_heads_of_many_threads(self, loader: Loader) -> None:
        assert isinstance(loader, ReadsHeads)
        keys = [
            CheckpointKey(row.thread_id, row.head_ns, row.head)
            for row in loader.threads(ThreadQuery(limit=None))
        ]
        gone = CheckpointKey(keys[0].thread_id, "", "no-such-id")
        heads = loader.heads([gone, *keys, *keys[:1]])
        assert set(heads) == set(keys)
        for key, (found, writes) in heads.items():
            assert [found] == flat(loader.envelopes(key.thread_id, key.ns, [key.id]))
            assert list(writes) == flat(loader.writes(key.thread_id, key.ns, [key.id]))

    def test_sizes_count_what_lies_outside(self, loader: Loader) -> None:
        assert isinstance(loader, ReadsSizes)
        for thread_id in thread_ids(loader, 20):
            for ns in {row[0] for row in flat(loader.rows(thread_id))}:
                sizes = loader.sizes(thread_id, ns)
                ids = [row[1] for row in flat(loader.rows(thread_id, ns))]
                assert sizes.keys() == set(ids)
                for id_ in ids[:60]:
                    raw = loader.read(CheckpointKey(thread_id, ns, id_))
                    outside = sum(len(blob.data) for blob in raw.blobs.values())
                    assert sizes[id_] == len(raw.checkpoint.data) + outside

    def test_bodies_are_what_reading_gives(self, loader: Loader) -> None:
        assert isinstance(loader, ReadsBodies)
        for thread_id in thread_ids(loader, 20):
            rows = flat(loader.rows(thread_id))
            for ns in {row[0] for row in rows}:
                ids = [row[1] for row in rows if row[0] == ns][:200]
                found = flat(loader.bodies(thread_id, ns, ids[:200]))
                assert [raw.key.id for raw in found] == ids
                met: dict[tuple[str, str], Typed] = {}
                for raw, seen in zip(
                    found, flat(loader.envelopes(thread_id, ns, ids)), strict=True
                ):
                    read = loader.read(raw.key)
                    met |= {(c, str(seen.versions[c])): blob for c, blob in raw.blobs.items()}
                    here = {(c, str(v)) for c, v in seen.versions.items()}
                    blobs = {pair[0]: met[pair] for pair in here & met.keys()}
                    assert replace(read, writes=()) == replace(raw, blobs=blobs)


class TestPostgres(BlobContract, LoaderContract):
    @pytest.fixture(scope="class")
    @classmethod
    def store(cls, postgres: Server) -> Iterator[Store]:
        with postgres.database() as database:
            fill(SAVER, database.uri)
            yield Store(
                open=lambda: open_postgres(database.uri),
                append=lambda n: fill(SAVER, database.uri, append=n),
                fingerprint=database.untouched,
            )


class TestZoo(BlobContract):
    @pytest.fixture(scope="class")
    @classmethod
    def store(cls, postgres_zoo: Zoo) -> Store:
        uri = postgres_zoo.database.uri
        return Store(lambda: open_postgres(uri), fingerprint=postgres_zoo.database.written)


@pytest.fixture(scope="module", params=sorted(p.name for p in FORMATS.glob("*.db")))
def old(request: pytest.FixtureRequest, postgres: Server) -> Iterator[tuple[Path, Database]]:
    """A SQLite store, and the same in Postgres."""
    path = FORMATS / request.param
    with postgres.database() as database:
        copy(path, database)
        yield path, database


class TestFormats(BlobContract):
    @pytest.fixture
    def store(self, old: tuple[Path, Database]) -> Store:
        return Store(lambda: open_postgres(old[1].uri), fingerprint=old[1].untouched)

    def test_the_same_as_in_sqlite(self, old: tuple[Path, Database], tmp_path: Path) -> None:
        """Steps, and values but for LangGraph.js's: its versions are plain numbers, so branches
        share blobs in Postgres, and what the later one stored is lost, there as here."""
        path = tmp_path / old[0].name
        path.write_bytes(old[0].read_bytes())
        sqlite, postgres = SQLiteLoader(path), open_postgres(old[1].uri)
        for row in sqlite.threads(ThreadQuery(limit=None)):
            theirs, ours = Thread(sqlite, row.thread_id), Thread(postgres, row.thread_id)
            steps = ours.steps()
            assert steps == theirs.steps()
            for ns, id in steps if "js" not in path.name else ():
                assert ours.snapshot(ns, id).values == theirs.snapshot(ns, id).values
        sqlite.close()
        postgres.close()


class TestShallow(BlobContract):
    """ShallowPostgresSaver's tables: each thread and namespace has its newest checkpoint only."""

    @pytest.fixture(scope="class")
    @classmethod
    def store(cls, postgres: Server) -> Iterator[Store]:
        with postgres.database() as database:
            fill("langgraph.checkpoint.postgres.shallow:ShallowPostgresSaver", database.uri)
            yield Store(lambda: open_postgres(database.uri), fingerprint=database.untouched)

    def test_says_that_no_history_is_kept(self, loader: Loader) -> None:
        assert loader.name.endswith("(shallow: no history kept)")

    def test_one_checkpoint_a_namespace(self, loader: Loader) -> None:
        for row in loader.threads(ThreadQuery(limit=None)):
            assert row.checkpoints == row.namespaces
        long = content.cid(10_000 + content.LONG_LENGTH - 1, content.LONG_LENGTH - 1)
        assert [r[:3] for r in flat(loader.rows(content.LONG))] == [("", long, None)]
        values = Thread(loader, content.WRITES).snapshot("", content.cid(1001, 1)).values
        assert values == {"total": 6}
