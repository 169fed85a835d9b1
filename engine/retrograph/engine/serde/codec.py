"""Stored values in all of LangGraph's types, to inert values and back."""

from __future__ import annotations

from typing import Final

from retrograph.engine.errors import DecodeError
from retrograph.engine.model import Typed
from retrograph.engine.serde import aes, jsonplus, msgpack, packing, pickles
from retrograph.engine.values import ABSENT, ByteArray, Pickle, Unreadable, Value

NULL: Final = Typed("null", b"")


def sniff(data: bytes) -> str:
    """The type of a value that was stored without one: JSON in 2024, a pickle before."""
    if data[:1] < b"\x80":
        return "json"
    return "pickle" if data[1:2] in (b"\2", b"\3", b"\4", b"\5") else "msgpack"


class Serde:
    """Decodes and encodes. `aes_key` (16, 24 or 32 bytes) opens encrypted values."""

    __slots__ = ("_key",)

    def __init__(self, aes_key: bytes | None = None) -> None:
        self._key = aes.check(aes_key) if aes_key is not None else None

    @classmethod
    def from_env(cls) -> Serde:
        """With the key in `LANGGRAPH_AES_KEY`, if there is one. Raises `ConfigError` for a bad
        one."""
        return cls(aes.key_from_env())

    def decode(self, typed: Typed) -> Value:
        """The inert value. Never raises on data: what cannot be decoded is `Unreadable`."""
        kind, data = typed
        if isinstance(data, str):
            # SQLite gives a TEXT column as str.
            data = data.encode("utf-8", "surrogateescape")
        if kind is None:
            kind = sniff(data)
        if kind == "msgpack":
            return msgpack.unpack(data)
        if kind is not None and kind.endswith(aes.SUFFIX):
            opened = self.open(Typed(kind, data))
            return opened if isinstance(opened, Unreadable) else self.decode(opened)
        if kind == "json":
            return jsonplus.loads(data)
        if kind == "null":
            return None
        if kind == "bytes":
            return data
        if kind == "bytearray":
            return ByteArray(data)
        if kind == "empty":
            return ABSENT
        if kind == "pickle":
            return Pickle(data, pickles.names)
        if "+" in kind:
            return Unreadable(f"encrypted ({kind.split('+', 1)[1]})", len(data))
        return Unreadable(f"unknown type '{kind}'", len(data))

    def open(self, typed: Typed) -> Typed | Unreadable:
        """An encrypted value, decrypted once; any other as it is."""
        kind, data = typed
        if kind is None or not kind.endswith(aes.SUFFIX):
            return typed
        if self._key is None:
            return Unreadable(aes.LOCKED, len(data))
        try:
            return Typed(kind.removesuffix(aes.SUFFIX), aes.decrypt(self._key, data))
        except DecodeError as e:
            return Unreadable(str(e), len(data))

    def encode(self, value: Value, kind: str | None = None) -> Typed:
        """Typed bytes that LangGraph loads as what `value` stands for.

        `kind` is the type to write: "msgpack" or "json" (LangGraph.js, Redis), each also with
        "+aes"; by default as LangGraph would choose. Raises `DecodeError` with the path of what
        has no stored form.
        """
        encrypted = kind is not None and kind.endswith(aes.SUFFIX)
        if kind is not None:
            kind = kind.removesuffix(aes.SUFFIX)
        typed = self._encode(value, kind)
        if not encrypted:
            return typed
        if self._key is None:
            raise DecodeError(f"Encrypting needs a key: set {aes.ENV}.")
        return Typed(f"{typed.type}{aes.SUFFIX}", aes.encrypt(self._key, typed.data))

    def _encode(self, value: Value, kind: str | None) -> Typed:
        if kind == "json":
            return Typed("json", jsonplus.dumps(value))
        if value is None:
            return NULL
        if value is ABSENT:
            return Typed("empty", b"")
        if type(value) is bytes:
            return Typed("bytes", value)
        if type(value) is ByteArray or type(value) is bytearray:
            return Typed("bytearray", bytes(value))
        if isinstance(value, Pickle):
            return Typed("pickle", value.raw)
        return Typed("msgpack", packing.pack(value))
