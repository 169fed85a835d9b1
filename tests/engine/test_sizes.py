"""Stored bytes by channel, without decoding, and what grows along a line."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from made import Made, make, said
from retrograph.engine.model import CheckpointKey
from retrograph.engine.serde import Serde
from retrograph.engine.serde.codec import Serde as Codec
from retrograph.engine.thread import Thread
from retrograph.engine.views.sizes import channel_sizes, measure
from retrograph.loaders.registry import open_source

DATA = Path(__file__).parent.parent / "data" / "formats"


def thread_of(path: Path, thread_id: str = "t") -> Thread:
    return Thread(open_source(str(path)), thread_id)


def packed(value: Any) -> int:
    return len(Serde().encode([value], "msgpack").data) - 1


@pytest.mark.parametrize("kind", ["msgpack", "json"])
def test_bytes_of_each_channel(tmp_path: Path, kind: str) -> None:
    values = {
        "messages": [said("é" * 100, "m1"), said("x", "m2")],
        "n": 7,
        "text": "x" * 300,
        "deep": {"a": [1, {"b": None}]},
    }
    writes = [("~__pregel_pull, n", "text", "abc")]
    make(tmp_path / "s.db", [Made({}), Made(values, writes=writes, kind=kind)])
    thread = thread_of(tmp_path / "s.db")
    sizes = measure(thread, 1)
    found = {channel.channel: channel.size for channel in sizes.channels}
    if kind == "msgpack":
        assert found == {name: packed(value) for name, value in values.items()}
    else:
        assert found["text"] == 302
        assert found["deep"] == len(json.dumps(values["deep"], separators=(",", ":")))
    assert list(found) == sorted(found, key=lambda c: (-found[c], c))
    assert sizes.values == sum(found.values())
    assert sizes.checkpoint == thread.history.size(1)
    assert sizes.writes == len(Serde().encode("abc").data)
    assert sizes.unreadable is None


def test_what_grows(tmp_path: Path) -> None:
    states = [
        Made({"log": ["x" * 10] * n, "same": "y" * 50, "late": "z" * 500 if n > 30 else ""})
        for n in range(41)
    ]
    make(tmp_path / "s.db", states)
    thread = thread_of(tmp_path / "s.db")
    sizes = measure(thread, 40, steps=3)
    by_name = {channel.channel: channel for channel in sizes.channels}
    assert 10.9 < by_name["log"].growth < 11.2
    assert by_name["same"].growth == 0
    assert by_name["log"].along == tuple(sorted(by_name["log"].along))
    assert len(by_name["log"].along) == 9
    assert by_name["late"].along[0] < 10 < by_name["late"].along[-1]
    assert len(sizes.line) == 41
    assert sizes.total == sum(thread.history.size(i) or 0 for i in range(41))
    assert sizes.grown[0].checkpoint == 31
    assert sizes.grown[0].more > 500
    assert len(sizes.grown) == 3


def test_a_root_alone(tmp_path: Path) -> None:
    make(tmp_path / "s.db", [Made({"c": 1})])
    sizes = measure(thread_of(tmp_path / "s.db"), 0)
    assert [(c.channel, c.along, c.growth) for c in sizes.channels] == [("c", (1,), 0.0)]
    assert sizes.grown == ()


def test_what_cannot_be_walked(tmp_path: Path) -> None:
    ids = make(tmp_path / "s.db", [Made({"c": n}) for n in range(3)])
    with sqlite3.connect(tmp_path / "s.db") as db:
        cut = (
            "update checkpoints set checkpoint = substr(checkpoint, 1, 30) where checkpoint_id = ?"
        )
        db.execute(cut, [ids[2]])
        pickled = "update checkpoints set type = 'pickle' where checkpoint_id = ?"
        db.execute(pickled, [ids[1]])
    db.close()
    thread = thread_of(tmp_path / "s.db")
    assert measure(thread, 2).unreadable == "it is broken, or not a checkpoint"
    assert measure(thread, 2).checkpoint == 30
    assert measure(thread, 1).unreadable == "it is stored as pickle"


def test_encrypted_ones_say_so(tmp_path: Path) -> None:
    pytest.importorskip("Crypto")
    serde = Codec(b"0123456789abcdef")
    make(tmp_path / "s.db", [Made({"c": "x" * 100}, kind="msgpack+aes")], serde=serde)
    loader = open_source(str(tmp_path / "s.db"))
    assert measure(Thread(loader, "t", Codec()), 0).unreadable == "encrypted (aes)"
    (channel,) = measure(Thread(loader, "t", serde), 0).channels
    assert channel.size == 102


@pytest.mark.parametrize("store", sorted(path.name for path in DATA.glob("*.db")))
def test_channels_of_stores_of_any_version(store: str) -> None:
    from retrograph.engine.model import ThreadQuery
    from retrograph.engine.steps.channels import channel_values

    loader = open_source(str(DATA / store))
    for row in list(loader.threads(ThreadQuery(limit=None))):
        thread = Thread(loader, row.thread_id)
        history = thread.history
        for i, id_ in enumerate(history.ids):
            raw = loader.read(CheckpointKey(row.thread_id, history.ns(i), id_))
            found = channel_sizes(raw, thread.serde)
            assert isinstance(found, dict)
            assert found.keys() == channel_values(raw, thread.serde).keys()
            assert all(size > 0 for size in found.values())
            assert sum(found.values()) < len(raw.checkpoint.data)
