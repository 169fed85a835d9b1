"""Tables full of what does not belong there: every listing is whole, and nothing raises."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import ormsgpack
import psycopg
import pytest

from loaders.contract import flat
from loaders.postgres_rows import BODY, a_send, put_blob
from retrograph.engine.model import NULL_TASK, CheckpointKey, Typed
from retrograph.engine.serde import Serde
from retrograph.engine.thread import Thread
from retrograph.loaders.postgres import PostgresLoader, open_postgres
from servers.copies import tables
from servers.postgres import Database

ROWS = 150
CODE = {"lc": 2, "type": "constructor", "id": ["os", "system"], "args": ["true"]}
JUNK = (None, True, 0, -1, 2**70, 1.5, "", "x" * 3000, "branch:to:n", [], [[]], {}, {"a": 1}, CODE)
VERSIONS = {"a": "2", "branch:to:n": "3", "join:a+b:c": "3", "__pregel_tasks": "3", "t": "1"}
WHOLE = {
    **BODY,
    "channel_versions": VERSIONS,
    "channel_values": {"t": "text", "branch:to:n": None},
    "versions_seen": {"n": {"branch:to:n": "2"}, "c": {"join:a+b:c": "2"}},
}


def mutated(value: object, dice: random.Random) -> object:
    """The value with some of its parts replaced or gone."""
    if dice.random() < 0.04:
        return dice.choice(JUNK)
    if isinstance(value, dict):
        found = {key: mutated(v, dice) for key, v in value.items() if dice.random() > 0.02}
        if dice.random() < 0.05:
            found[dice.choice(("", "v", "__pregel_tasks", "join:a+b:c"))] = dice.choice(JUNK)
        return found
    if isinstance(value, list):
        return [mutated(item, dice) for item in value]
    return value


def fill(store: Database, dice: random.Random) -> None:
    serde = Serde()
    sends = Typed("msgpack", ormsgpack.packb([a_send("n", 20), a_send("m", 9)]))
    blobs = {
        "a": serde.encode([1, {"b": "c" * 500}]),
        "join:a+b:c": serde.encode(["a", "b"]),
        "__pregel_tasks": sends,
    }
    for channel, typed in blobs.items():
        data = bytearray(typed.data)
        for _ in range(dice.choice((0, 1, 8))):
            data[dice.randrange(len(data))] = dice.randrange(256)
        put_blob(store, channel, VERSIONS[channel], str(typed.type), bytes(data))
    with psycopg.connect(store.uri) as connection:
        for i in range(ROWS):
            said = {"step": i, "source": "loop", "parents": {}}
            body, metadata = (json.dumps(mutated(whole, dice)) for whole in (WHOLE, said))
            connection.execute(
                "INSERT INTO checkpoints VALUES ('t', '', %s, %s, NULL, %s, %s)",
                (f"{i:03}", f"{i - 1:03}" if i else None, body, metadata),
            )
            task = dice.choice(("x", NULL_TASK))
            channel = dice.choice((*VERSIONS, "__interrupt__", "__error__", "__resume__"))
            kind = dice.choice(("msgpack", "json", None, "?", "pickle", "empty"))
            connection.execute(
                "INSERT INTO checkpoint_writes VALUES ('t', '', %s, %s, 0, %s, %s, %s)",
                (f"{i:03}", task, channel, kind, dice.randbytes(40)),
            )


@pytest.fixture(params=range(3))
def loader(request: pytest.FixtureRequest, database: Database) -> Iterator[PostgresLoader]:
    database.execute(*tables())
    fill(database, random.Random(request.param))
    opened = open_postgres(database.uri)
    yield opened
    opened.close()


def test_mutated_rows(loader: PostgresLoader) -> None:
    ids = [f"{i:03}" for i in range(ROWS)]
    assert [e.id for e in flat(loader.envelopes("t"))] == ids
    assert [raw.key.id for raw in flat(loader.bodies("t", ""))] == ids
    assert len(loader.heads([CheckpointKey("t", "", id_) for id_ in ids])) == ROWS
    thread = Thread(loader, "t")
    assert len(thread.steps()) == ROWS
    for id_ in ids[::5]:
        assert thread.snapshot("", id_).key.id == id_
    assert loader.warnings == []
