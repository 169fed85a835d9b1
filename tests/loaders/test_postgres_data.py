"""Rows that are not as today's saver writes them: what can be read is read, and nothing raises."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress

import ormsgpack
import psycopg
import pytest

from loaders.contract import flat
from loaders.postgres_rows import BODY, a_send, put, put_blob
from retrograph.engine.model import CheckpointKey, Envelope, ThreadQuery
from retrograph.engine.serde import Serde
from retrograph.engine.values import Unreadable
from retrograph.loaders.postgres import PostgresLoader, open_postgres
from retrograph.loaders.postgres.sends import send_nodes
from servers.copies import tables
from servers.postgres import Database

ODD = {
    "a list": [1, 2],
    "a text": "x",
    "null": None,
    "no values": {**BODY, "channel_values": None},
    "values are a list": {**BODY, "channel_values": [1]},
    "no versions": {k: v for k, v in BODY.items() if k != "channel_versions"},
    "versions are a text": {**BODY, "channel_versions": "x"},
    "a version is a list": {**BODY, "channel_versions": {"a": [1], "b": "2"}},
    "seen is odd": {**BODY, "versions_seen": {"n": 1, "m": {"a": {}}}},
    "v is a text": {**BODY, "v": "4"},
    "empty": {},
}


@pytest.fixture
def store(database: Database) -> Database:
    database.execute(*tables())
    return database


@pytest.fixture
def loader(store: Database) -> Iterator[PostgresLoader]:
    opened = open_postgres(store.uri)
    yield opened
    opened.close()


def envelopes(loader: PostgresLoader) -> list[Envelope]:
    return flat(loader.envelopes("t"))


def test_odd_bodies_end_no_listing(store: Database, loader: PostgresLoader) -> None:
    big = "x" * 9000  # large enough to be taken apart on the server
    put(store, "00", json.dumps({**BODY, "channel_values": {"a": 1}}))
    for i, body in enumerate(ODD.values(), 1):
        put(store, f"{i:02}", json.dumps(body))
        if isinstance(body, dict):
            put(store, f"{i:02}b", json.dumps({**body, "more": list(big)}))
    put(store, "97", f'{{"v": 4, "big": {"9" * 6000}, "channel_versions": {{}}}}')
    put(store, "98", "[" * 5000 + "]" * 5000)
    put(store, "99", json.dumps({**BODY, "channel_values": {"z": 1}}))
    found = envelopes(loader)
    assert [e.id for e in found] == [row[1] for row in flat(loader.rows("t"))]
    assert (found[0].present, found[-1].present) == ({"a"}, {"z"})
    odd = {e.id: e.unreadable for e in found}
    assert odd["00"] is odd["99"] is None
    assert odd["01"] == "not a checkpoint (list)"
    assert odd["98"] is not None
    for e in found:
        key = CheckpointKey("t", "", e.id)
        assert loader.read(key).key == key
    assert [row.checkpoints for row in loader.threads(ThreadQuery(sizes=True))] == [len(found)]


def test_odd_metadata(store: Database, loader: PostgresLoader) -> None:
    said = ["[1]", "null", '{"step": 1, "x": {"lc": 2, "type": "undefined"}}',
            '{"step": 2, "n": 1e400}', f'{{"n": {"9" * 6000}}}']  # fmt: skip
    for i, metadata in enumerate(said):
        put(store, str(i), json.dumps(BODY), metadata)
    found = envelopes(loader)
    assert [e.step for e in found] == [None, None, 1, 2, None]
    details = loader.details([CheckpointKey("t", "", e.id) for e in found])
    assert [d.metadata for d in details] == [e.metadata for e in found]
    assert isinstance(found[-1].metadata["n"], Unreadable)


def test_large_inline_values_stay_on_the_server(store: Database, loader: PostgresLoader) -> None:
    values = {"draft": "".join(chr(97 + i * i % 26) for i in range(60_000)), "branch:to:a": None,
              "start:b": "x", "n": 1}  # fmt: skip
    noise = {f"k{i}": f"{i * 7919:x}" for i in range(3000)}
    put(store, "1", json.dumps({**BODY, "channel_values": {**values, **noise}}))
    statement, parameters = _bodies(loader)
    sent = loader._session.reading().all((statement, parameters))[0][2]
    assert "draft" in sent
    assert values["draft"] not in sent
    assert f"{7919 * 2999:x}" not in sent
    found = envelopes(loader)[0]
    assert found.present == values.keys() | noise.keys()
    assert found.control == {"branch:to:a": None, "start:b": "x"}


def _bodies(loader: PostgresLoader):  # type: ignore[no-untyped-def]
    from retrograph.loaders.postgres import queries

    return queries.bodies(loader._layout, "t", "", ["1"])


def test_control_values_in_blobs(store: Database, loader: PostgresLoader) -> None:
    serde = Serde()
    versions = dict.fromkeys(("join:a+b:c", "branch:to:d", "plain", "gone", "inline"), "1")
    put(store, "1", json.dumps({**BODY, "channel_versions": versions,
                                "channel_values": {"inline": True}}))  # fmt: skip
    for channel, value in (("join:a+b:c", ["a", "b"]), ("branch:to:d", [{"x": 1}, True]),
                           ("plain", [1]), ("inline", [2])):  # fmt: skip
        typed = serde.encode(value)
        put_blob(store, channel, "1", str(typed.type), typed.data)
    put_blob(store, "gone", "1", "empty", None)
    put_blob(store, "plain", "2", "msgpack", b"\x01")
    found = envelopes(loader)[0]
    assert found.present == {"join:a+b:c", "branch:to:d", "plain", "inline"}
    assert found.control == {"join:a+b:c": ["a", "b"], "branch:to:d": [{"x": 1}, True]}
    raw = loader.read(CheckpointKey("t", "", "1"))
    assert {c: serde.decode(b) for c, b in raw.blobs.items()} == {
        "join:a+b:c": ["a", "b"], "branch:to:d": [{"x": 1}, True], "plain": [1], "inline": [2],
    }  # fmt: skip


@pytest.mark.parametrize("sizes", [[10], [0, 3, 200, 70_000, 10, 2, 300_000], [5] * 40, [9000] * 9])
def test_sends_by_their_heads(sizes: list[int], store: Database, loader: PostgresLoader) -> None:
    nodes = tuple(f"node {i} {'n' * (i % 3)}" for i in range(len(sizes)))
    data = ormsgpack.packb([a_send(n, size) for n, size in zip(nodes, sizes, strict=True)])
    put(store, "1", json.dumps({**BODY, "channel_versions": {"__pregel_tasks": "1"}}))
    put_blob(store, "__pregel_tasks", "1", "msgpack", data)
    assert envelopes(loader)[0].sends == nodes
    read = 0

    def more(start: int, length: int) -> bytes:
        nonlocal read
        read += length
        return data[start : start + length]

    assert send_nodes(data[:300], more) == nodes
    assert read <= 4096 * len(sizes)


def test_sends_that_are_none() -> None:
    def more(start: int, length: int) -> bytes:
        return b""

    for data in (b"", b"\x81\x01", b"\x92\x01\x02", b"\xdc\xff\xff\x01", b"\xdd\xff\xff\xff\xff",
                 b"\x91\xc9\xff\xff\xff\xff"):  # fmt: skip
        assert send_nodes(data, more) in ((), ("?",))


def test_sends_of_javascript_and_encrypted(store: Database, loader: PostgresLoader) -> None:
    body = json.dumps({**BODY, "channel_versions": {"__pregel_tasks": 7}})
    put(store, "1", body)
    put(store, "2", body.replace("7", "8"))
    sends = [{"node": f"n{i}", "args": {"text": "x" * 30_000}} for i in range(3)]
    put_blob(store, "__pregel_tasks", "7", "json", json.dumps(sends).encode())
    put_blob(store, "__pregel_tasks", "8", "msgpack+aes", b"x" * 90_000)
    assert [e.sends for e in envelopes(loader)] == [("n0", "n1", "n2"), ()]


def test_before_format_4_sends_are_the_parents_writes(
    store: Database, loader: PostgresLoader
) -> None:
    put(store, "1", json.dumps({**BODY, "v": 1}))
    put(store, "2", json.dumps({**BODY, "v": 1}), parent="1")
    put(store, "3", json.dumps(BODY), parent="1")
    with psycopg.connect(store.uri) as connection:
        for task, node in (("b", "second"), ("a", "first")):
            connection.execute(
                "INSERT INTO checkpoint_writes VALUES ('t', '', '1', %s, 0, '__pregel_tasks', "
                "'msgpack', %s)",
                (task, ormsgpack.packb(a_send(node, 5000))),
            )
    assert [e.sends for e in envelopes(loader)] == [(), ("first", "second"), ()]


def test_only_the_first_table(database: Database) -> None:
    """A migration that got no further; and writes from before `task_path`."""
    database.execute(tables()[0])
    put(database, "1", json.dumps(BODY))
    loader = open_postgres(database.uri)
    assert [e.id for e in envelopes(loader)] == ["1"]
    assert flat(loader.writes("t")) == []
    assert loader.read(CheckpointKey("t", "", "1")).writes == ()
    assert all(row.size for row in loader.threads(ThreadQuery(sizes=True)))
    loader.changed()
    assert not loader.changed()
    loader.close()


def test_ids_are_ordered_by_their_bytes(store: Database) -> None:
    """Also where the database would order them by its language (needs a server with ICU)."""
    ids = ["B", "a", "Z", "é", "b", "A-1", "A1"]
    for id_ in ids:
        put(store, id_, json.dumps(BODY))
    with suppress(psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedObject):
        store.execute('ALTER TABLE checkpoints ALTER checkpoint_id TYPE text COLLATE "en-x-icu"')
    loader = open_postgres(store.uri)
    assert [row[1] for row in flat(loader.rows("t"))] == sorted(ids)
    assert [e.id for e in envelopes(loader)] == sorted(ids)
    row = loader.thread("t")
    assert row is not None
    assert (row.first_id, row.last_id, row.head) == ("A-1", "é", "é")
    loader.close()


def test_what_postgres_cannot_hold_is_not_there(store: Database, loader: PostgresLoader) -> None:
    put(store, "1", json.dumps(BODY))
    for text in ("a\0b", "\ud800"):
        assert loader.thread(text) is None
        assert flat(loader.rows(text)) == flat(loader.writes("t", text)) == []
        assert flat(loader.envelopes("t", ids=["1", text]))[0].id == "1"
        assert loader.details([CheckpointKey(text, "", "1")]) == []
        assert loader.read_writes("t", "", ["1"], [text]) == {}
        assert list(loader.threads(ThreadQuery(search=text))) == []


def test_few_threads_with_all_the_newest_rows(store: Database, loader: PostgresLoader) -> None:
    """Pages are right however the newest checkpoints are spread over threads."""
    store.execute(
        "INSERT INTO checkpoints SELECT 'busy ' || t, '', lpad((n * 3 + t + 5000)::text, 8, '0'), "
        "NULL, NULL, '{}', '{}' FROM generate_series(1, 3) t, generate_series(1, 4000) n",
        "INSERT INTO checkpoints SELECT 'quiet ' || n, '', lpad(n::text, 8, '0'), "
        "NULL, NULL, '{}', '{}' FROM generate_series(1, 300) n",
    )
    expected = ["busy 3", "busy 2", "busy 1", *(f"quiet {n}" for n in range(300, 0, -1))]
    for limit in (1, 3, 4, 50, 303, 400, None):
        rows = list(loader.threads(ThreadQuery(limit=limit)))
        assert [row.thread_id for row in rows] == expected[:limit]
    pages = [
        row.thread_id
        for offset in range(0, 310, 40)
        for row in loader.threads(ThreadQuery(limit=40, offset=offset))
    ]
    assert pages == expected
    found = list(loader.threads(ThreadQuery(limit=2, search="QUIET", since_id="00000100")))
    assert [row.thread_id for row in found] == ["quiet 300", "quiet 299"]
