"""Damaged databases: what can be read is shown, what cannot is said, and nothing else happens."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from loaders.contract import flat
from loaders.fill import TESTS
from loaders.sqlite_files import snapshot
from retrograph.engine.errors import RefError, SourceError
from retrograph.engine.model import CheckpointKey, ThreadQuery
from retrograph.loaders.sqlite import SQLiteLoader

STORE = TESTS / "data" / "formats" / "langgraph-1.2.24.db"
PAGE = 4096
CREATE = (
    "CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', "
    "checkpoint_id TEXT NOT NULL, parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, "
    "metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id))",
    "CREATE TABLE writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', "
    "checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL, task_path TEXT NOT NULL DEFAULT '', "
    "idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB, "
    "PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx))",
)

Found = dict[str, Any]


def harvest(path: Path) -> tuple[Found, list[str]]:
    """All that a loader gives of a file, and what it says of it.

    `SourceError` and `RefError` may end any one call; nothing else may come out.
    """
    found: Found = {"rows": {}, "writes": {}, "raw": {}, "envelopes": {}}
    try:
        loader = SQLiteLoader(path)
    except SourceError as error:
        return found, [str(error)]
    said = []
    try:
        for row in loader.threads(ThreadQuery(limit=None, sizes=True)):
            thread = row.thread_id
            try:
                found["rows"] |= {(thread, *r[:2]): r[2] for r in flat(loader.rows(thread))}
                found["writes"] |= {
                    (thread, *w[:3], w[4]): w[5] for w in flat(loader.writes(thread))
                }
                for e in flat(loader.envelopes(thread)):
                    found["envelopes"][thread, e.ns, e.id] = e
                    key = CheckpointKey(thread, e.ns, e.id)
                    found["raw"][key] = loader.read(key)
                    loader.details([key])
            except (SourceError, RefError) as error:
                said.append(str(error))
    except SourceError as error:
        said.append(str(error))
    finally:
        loader.close()
    said += loader.warnings
    assert all("\n" not in s and s.endswith(".") for s in said), said
    return found, said


@pytest.fixture(scope="module")
def truth() -> Found:
    found, said = harvest(STORE)
    assert said == []
    return found


@pytest.mark.parametrize("kind", ["garbage", "zeros", "ones"])
@pytest.mark.parametrize("page", range(1, STORE.stat().st_size // PAGE + 1))
def test_any_page_replaced(page: int, kind: str, truth: Found, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    body = bytearray(STORE.read_bytes())
    filling = {
        "garbage": random.Random(page).randbytes(PAGE),
        "zeros": bytes(PAGE),
        "ones": b"\xff" * PAGE,
    }[kind]
    start = 100 if page == 1 else 0  # Without its header it is no SQLite database.
    body[(page - 1) * PAGE + start : page * PAGE] = filling[start:]
    path.write_bytes(body)
    before = snapshot(tmp_path)
    found, said = harvest(path)
    assert snapshot(tmp_path) == before
    if found["rows"] != truth["rows"] or found["writes"].keys() != truth["writes"].keys():
        assert said
    for part in ("rows", "raw"):
        for key, value in found[part].items():
            assert key in truth[part]
            if part == "rows":
                assert value == truth[part][key]
    assert found["writes"].keys() <= truth["writes"].keys()


@pytest.mark.parametrize("part", [0.05, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_truncated_file(part: float, truth: Found, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    whole = STORE.read_bytes()
    path.write_bytes(whole[: int(len(whole) * part)])
    before = snapshot(tmp_path)
    found, said = harvest(path)
    assert snapshot(tmp_path) == before
    assert said
    assert "damaged" in said[0]
    assert found["rows"].keys() <= truth["rows"].keys()
    if part >= 0.9:
        assert found["rows"]


def big_store(path: Path, rows: int = 400, size: int = 900) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in CREATE:
            connection.execute(statement)
        for n in range(rows):
            row = (f"t{n % 4}", "", f"c{n:05}", None, "json", b"{" + b" " * size + b"}", b"{}")
            connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def test_rows_on_both_sides_of_a_damaged_page_are_read(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    big_store(path)
    body = bytearray(path.read_bytes())
    leaf = _table_leaf(body, at=len(body) // PAGE // 2)
    body[leaf * PAGE : (leaf + 1) * PAGE] = b"\x5a" * PAGE
    path.write_bytes(body)
    found, said = harvest(path)
    ids = sorted(key[2] for key in found["rows"])
    assert 380 <= len(ids) < 400
    assert (ids[0], ids[-1]) == ("c00000", "c00399")
    lost = 400 - len(ids)
    assert f"damaged: {len(ids)} rows of checkpoints can be read, up to {lost} between" in said[0]


def _table_leaf(body: bytearray, at: int) -> int:
    """The first leaf of a table from a page on (page type 13)."""
    return next(n for n in range(at, len(body) // PAGE) if body[n * PAGE] == 13)


def test_pages_that_lead_back_to_others_end(tmp_path: Path) -> None:
    """Every leaf of the table is the first one: row ids begin anew without end."""
    path = tmp_path / "store.db"
    big_store(path, rows=3000, size=60)
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'checkpoints'"
        root = (connection.execute(query).fetchone()[0] - 1) * PAGE
    body = bytearray(path.read_bytes())
    assert body[root] == 5, "an interior page of a table"
    count = int.from_bytes(body[root + 3 : root + 5], "big")
    cells = [
        root + int.from_bytes(body[root + 12 + 2 * k : root + 14 + 2 * k], "big")
        for k in range(count)
    ]
    first = body[cells[0] : cells[0] + 4]
    for cell in (*cells, root + 8):
        body[cell : cell + 4] = first
    path.write_bytes(body)
    found, said = harvest(path)
    assert 10 < len(found["rows"]) < 200
    assert "damaged" in said[0]


def test_an_index_with_gaps_is_noticed(tmp_path: Path) -> None:
    """SQLite notices nothing: half of the entries are simply not there."""
    path = tmp_path / "store.db"
    big_store(path)
    body = bytearray(path.read_bytes())
    leaves = [n for n in range(1, len(body) // PAGE) if body[n * PAGE] == 10]
    for leaf in leaves[::2]:
        cells = leaf * PAGE + 3
        body[cells : cells + 2] = (int.from_bytes(body[cells : cells + 2], "big") // 2).to_bytes(2)
    path.write_bytes(body)
    found, said = harvest(path)
    assert len(found["rows"]) == 400
    assert len(found["raw"]) == 400
    assert said == [
        f"{path} is damaged: 400 rows of checkpoints can be read, all that there are.",
        f"{path} is damaged: 0 rows of writes can be read, all that there are.",
    ]


def test_a_value_that_breaks_off(tmp_path: Path) -> None:
    """One overflow page of one large value is damaged: the beginning is there, and all others."""
    path = tmp_path / "store.db"
    big_store(path, rows=20, size=300)
    with closing(sqlite3.connect(path)) as connection, connection:
        value = b'{"channel_values": "' + bytes(range(65, 91)) * 20_000 + b'"}'
        connection.execute(
            "INSERT INTO checkpoints VALUES ('big', '', 'c', NULL, 'json', ?, '{}')", (value,)
        )
    body = bytearray(path.read_bytes())
    middle = len(body) // PAGE - 60
    body[middle * PAGE : middle * PAGE + 4] = b"\xff\xff\xff\xff"  # the number of the next page
    path.write_bytes(body)
    found, said = harvest(path)
    assert len(found["rows"]) == 21
    raw = found["raw"][CheckpointKey("big", "", "c")]
    assert value.startswith(raw.checkpoint.data)
    assert 65536 <= len(raw.checkpoint.data) < len(value)
    assert found["envelopes"]["big", "", "c"].unreadable
    assert said == [
        f"{path} is damaged: of {what} of checkpoint c only the beginning can be read."
        for what in ("the values", "the metadata")
    ]


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    big_store(path, rows=4)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO checkpoints VALUES "
            "(CAST(x'ff41' AS TEXT), '', 'c', NULL, 'json', '{}', '{}')"
        )
        connection.execute(
            "INSERT INTO checkpoints VALUES (x'ff41', x'00', x'01', NULL, 'json', '{}', '{}')"
        )
    found, said = harvest(path)
    assert said == []
    odd = b"\xffA".decode("utf-8", "surrogateescape")
    assert (odd, "", "c") in found["rows"]
    assert CheckpointKey(odd, "", "c") in found["raw"]
    assert len(found["rows"]) == 5


def test_text_that_is_not_utf8_in_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    big_store(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE checkpoints SET thread_id = CAST(x'ff41' AS TEXT) WHERE rowid=1")
    body = bytearray(path.read_bytes())
    leaf = _table_leaf(body, at=len(body) // PAGE // 2)
    body[leaf * PAGE : (leaf + 1) * PAGE] = b"\x5a" * PAGE
    path.write_bytes(body)
    found, said = harvest(path)
    key = CheckpointKey(b"\xffA".decode("utf-8", "surrogateescape"), "", "c00000")
    assert key in found["rows"]
    assert found["raw"][key].checkpoint.data.startswith(b"{")
    assert "damaged" in said[0]


BODIES = {
    "nothing": b"",
    "NULs": bytes(10 << 20),
    "an array of 2^32": b"\xdd\xff\xff\xff\xff",
    "deep": b"\x91" * 100_000,
    "cut": b"\x82\xa1v\x04\xaechannel_values\x81\xa1a\xdb\x00\x00\xff\xff",
    "a text": b"\xa5hello",
}


def test_bodies_that_are_nonsense(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    big_store(path, rows=4)
    with closing(sqlite3.connect(path)) as connection, connection:
        for n, (name, body) in enumerate(BODIES.items()):
            connection.execute(
                "INSERT INTO checkpoints VALUES ('odd', '', ?, NULL, 'msgpack', ?, ?)",
                (f"{n} {name}", body, body),
            )
        connection.execute(
            "INSERT INTO checkpoints VALUES ('odd', '', 'null', NULL, NULL, NULL, NULL)"
        )
        connection.execute(
            "INSERT INTO checkpoints VALUES ('odd', '', 'text', NULL, 'json', '{\"v\": 4, "
            '"channel_versions": {}, "channel_values": {}}\', \'{"step": 3}\')'
        )
        connection.execute(
            "INSERT INTO checkpoints VALUES ('odd', '', 'locked', NULL, 'msgpack+aes', x'00', '{}')"
        )
    found, said = harvest(path)
    assert said == []
    odd = {key[2]: e for key, e in found["envelopes"].items() if key[0] == "odd"}
    assert len(odd) == len(BODIES) + 3
    text = odd.pop("text")
    assert (text.unreadable, text.step) == (None, 3)
    assert all(e.unreadable for e in odd.values())
    assert "encrypted" in str(odd["locked"].unreadable)


def test_a_generated_column_cannot_ask_for_memory(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE checkpoints (thread_id TEXT, checkpoint_id TEXT, "
            "checkpoint BLOB AS (zeroblob(900000000)))"
        )
        connection.execute("INSERT INTO checkpoints VALUES ('t', 'c')")
    _, said = harvest(path)
    assert said


def test_a_virtual_table_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE VIRTUAL TABLE checkpoints USING fts5(thread_id, checkpoint_id, checkpoint)"
        )
    _, said = harvest(path)
    assert "holds no LangGraph checkpoints" in said[0]


def test_tables_of_other_names_and_kinds(tmp_path: Path) -> None:
    """Prefixed tables, ids that are numbers, no index at all, WITHOUT ROWID, a backup beside."""
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            'CREATE TABLE "agent checkpoints" (thread_id INTEGER, checkpoint_ns TEXT, '
            "checkpoint_id INTEGER, parent_checkpoint_id INTEGER, type TEXT, checkpoint BLOB, "
            "metadata BLOB)"
        )
        connection.execute(
            'CREATE TABLE "agent writes" (thread_id INTEGER, checkpoint_ns TEXT, checkpoint_id '
            "INTEGER, task_id TEXT, idx INTEGER, channel TEXT, type TEXT, value BLOB)"
        )
        connection.execute(
            "CREATE TABLE old_checkpoints (thread_id TEXT, checkpoint_id TEXT, checkpoint BLOB, "
            "PRIMARY KEY (thread_id, checkpoint_id)) WITHOUT ROWID"
        )
        for n in range(1, 4):
            connection.execute(
                "INSERT INTO \"agent checkpoints\" VALUES (7, '', ?, ?, 'json', '{}', '{}')",
                (n, n - 1 or None),
            )
            connection.execute(
                "INSERT INTO \"agent writes\" VALUES (7, '', ?, 't', 0, 'c', 'json', '1')", (n,)
            )
    loader = SQLiteLoader(path)
    assert flat(loader.rows("7")) == [
        ("", "1", None, None),
        ("", "2", "1", None),
        ("", "3", "2", None),
    ]
    assert [w[1] for w in flat(loader.writes("7"))] == ["1", "2", "3"]
    assert len(loader.read(CheckpointKey("7", "", "2")).writes) == 1
    assert loader.warnings == [
        f"{path}: other tables with checkpoints are not shown: old_checkpoints."
    ]
    loader.close()


def test_a_parent_that_is_an_empty_text_is_none(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in CREATE:
            connection.execute(statement)
        for id, parent in (("a", ""), ("b", "a")):
            connection.execute(
                "INSERT INTO checkpoints VALUES ('t', '', ?, ?, 'json', x'7b7d', '{}')",
                (id, parent),
            )
    loader = SQLiteLoader(path)
    assert flat(loader.rows("t")) == [("", "a", None, 2), ("", "b", "a", 2)]
    assert [e.parent_id for e in flat(loader.envelopes("t"))] == [None, "a"]
    loader.close()


def test_a_table_without_row_ids(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in CREATE:
            connection.execute(f"{statement} WITHOUT ROWID")
        connection.execute(
            "INSERT INTO checkpoints VALUES ('t', '', 'c', NULL, 'json', ?, '{}')", (b"{}" * 9000,)
        )
        connection.execute(
            "INSERT INTO writes VALUES ('t', '', 'c', 'x', '', 0, '__pregel_tasks', 'json', ?)",
            (b'{"node": "n"}' + b" " * 20_000,),
        )
    found, said = harvest(path)
    assert said == []
    assert (len(found["rows"]), len(found["writes"]), len(found["raw"])) == (1, 1, 1)


def test_hostile_schemas_end_in_sentences(tmp_path: Path) -> None:
    """Bits flipped in the list of tables."""
    whole = STORE.read_bytes()
    chance = random.Random(7)
    path = tmp_path / "store.db"
    for _ in range(60):
        body = bytearray(whole)
        for _ in range(3):
            body[chance.randrange(20, PAGE)] = chance.randrange(256)
        path.write_bytes(body)
        harvest(path)
