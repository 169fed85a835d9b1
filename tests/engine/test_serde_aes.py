"""Encrypted rows: closed without a key, open with it."""

from __future__ import annotations

import sys

import pytest
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from retrograph.engine.errors import ConfigError, DecodeError
from retrograph.engine.model import Typed
from retrograph.engine.serde import Serde, envelope
from retrograph.engine.values import Unreadable

KEY = b"sixteen byte key"
OFFICIAL = EncryptedSerializer.from_pycryptodome_aes(key=KEY)
CHECKPOINT = {"v": 4, "channel_values": {"x": 1}, "channel_versions": {"x": "1"}}


@pytest.mark.parametrize("value", [None, b"x", {"a": [1, "two"]}])
def test_langgraph_wrote_it(value: object) -> None:
    stored = Typed(*OFFICIAL.dumps_typed(value))
    assert stored.type is not None
    assert stored.type.endswith("+aes")
    assert Serde(KEY).decode(stored) == value
    assert Serde().decode(stored) == Unreadable("encrypted (aes)", len(stored.data))
    wrong = Serde(b"another 16 bytes").decode(stored)
    assert wrong == Unreadable("encrypted (aes): wrong key", len(stored.data))


@pytest.mark.parametrize("value", [None, b"x", {"a": [1, "two"]}])
def test_langgraph_reads_it(value: object) -> None:
    kind = {type(None): "null+aes", bytes: "bytes+aes"}.get(type(value), "msgpack+aes")
    stored = Serde(KEY).encode(value, kind)
    assert OFFICIAL.loads_typed(stored) == value
    assert stored.data != Serde(KEY).encode(value, kind).data


def test_cut_and_damaged() -> None:
    kind, data = OFFICIAL.dumps_typed([1, 2])
    assert Serde(KEY).decode(Typed(kind, data[:20])).why == "encrypted (aes): truncated"
    assert Serde(KEY).decode(Typed(kind, data[:-1])).why == "encrypted (aes): wrong key"


def test_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = Typed(*OFFICIAL.dumps_typed([1]))
    monkeypatch.setenv("LANGGRAPH_AES_KEY", KEY.decode())
    assert Serde.from_env().decode(stored) == [1]
    monkeypatch.delenv("LANGGRAPH_AES_KEY")
    assert isinstance(Serde.from_env().decode(stored), Unreadable)
    monkeypatch.setenv("LANGGRAPH_AES_KEY", "short")
    with pytest.raises(ConfigError, match="must be 16, 24 or 32 bytes long; it has 5"):
        Serde.from_env()


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = Typed(*OFFICIAL.dumps_typed([1]))
    monkeypatch.setitem(sys.modules, "Crypto.Cipher", None)
    why = Serde(KEY).decode(stored).why
    assert why == 'encrypted (aes): pycryptodome is not installed (pip install "retrograph[aes]")'
    with pytest.raises(DecodeError, match="pycryptodome is not installed"):
        Serde(KEY).encode([1], "msgpack+aes")


def test_encrypting_needs_a_key() -> None:
    with pytest.raises(DecodeError, match="set LANGGRAPH_AES_KEY"):
        Serde().encode([1], "msgpack+aes")


def test_the_tree_stands_without_the_key() -> None:
    stored = Typed(*OFFICIAL.dumps_typed(CHECKPOINT))
    metadata = Typed("json", b'{"source": "loop", "step": 3}')
    closed = envelope("", "c2", "c1", stored, metadata, Serde())
    assert (closed.v, closed.unreadable) == (0, "encrypted (aes)")
    assert (closed.source, closed.step, closed.parent_id) == ("loop", 3, "c1")
    opened = envelope("", "c2", "c1", stored, metadata, Serde(KEY))
    assert (opened.v, opened.unreadable, opened.present) == (4, None, {"x"})
