"""Inert values written as LangGraph's msgpack.

The fast encoder does it; where it refuses (a key of an odd type, deep nesting, text that is not
UTF-8) the value is written by hand, and what cannot be written at all is named by its path.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

import ormsgpack

from retrograph.engine.errors import DecodeError
from retrograph.engine.serde.msgpack import DELTA, HOWS, NUMPY, Packed, PackedDelta
from retrograph.engine.values import (
    ABSENT,
    MAX_DEPTH,
    Delta,
    MapValue,
    NdArray,
    Obj,
    Pickle,
    Secret,
    Unreadable,
    Value,
    message_class,
    message_fields,
)

_OPTIONS: Final = (
    ormsgpack.OPT_NON_STR_KEYS
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
_ROUTES: Final = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "ChatMessage": "chat",
    "RemoveMessage": "modifier",
}
"""The modules of langchain_core.messages, which the JSON form does not tell."""

_MISSING: Final = object()


class _ByHandError(Exception):
    """The fast encoder cannot write this kind."""


def pack(value: Value) -> bytes:
    """Msgpack bytes. Raises `DecodeError` with the JSON Pointer of what cannot be written."""
    try:
        return ormsgpack.packb(value, default=_default, option=_OPTIONS)
    except (TypeError, ValueError, RecursionError):
        # MsgpackEncodeError is a TypeError; it hides which exception `_default` raised.
        return b"".join(_by_hand(value, "", 0))


def _default(value: Value) -> Any:
    made = _extension(value)
    if made is _MISSING:
        raise _ByHandError
    code, payload = made
    return ormsgpack.Ext(code, payload if isinstance(payload, bytes) else _pack(payload))


def _pack(value: Value) -> bytes:
    if isinstance(value, _Bare):
        value = value.value
    return ormsgpack.packb(value, default=_default, option=_OPTIONS)


class _Bare(NamedTuple):
    """A payload that is a value rather than a tuple that names a class."""

    value: Value


def _extension(value: Value) -> Any:
    """(code, payload) of a typed value: packed bytes, or the tuple to be packed."""
    if isinstance(value, Packed):
        return value.code, value.sealed or value.payload
    if isinstance(value, PackedDelta):
        return DELTA, value.raw
    if isinstance(value, Obj):
        return _object(value)
    if isinstance(value, datetime):
        return 3, ("datetime", "datetime", value.isoformat(), "fromisoformat")
    if isinstance(value, date):
        return 1, ("datetime", "date", (value.year, value.month, value.day))
    if isinstance(value, timedelta):
        return 1, ("datetime", "timedelta", (value.days, value.seconds, value.microseconds))
    if isinstance(value, time) and value.tzinfo is None:
        names = ("hour", "minute", "second", "microsecond", "tzinfo", "fold")
        return 2, ("datetime", "time", {n: getattr(value, n) for n in names})
    if isinstance(value, UUID):
        return 0, ("uuid", "UUID", value.hex)
    if isinstance(value, Decimal):
        return 0, ("decimal", "Decimal", str(value))
    if isinstance(value, (set, frozenset)):
        return 0, ("builtins", type(value).__name__, tuple(value))
    if isinstance(value, NdArray):
        return NUMPY, (value.dtype, value.shape, value.order, value.raw)
    if isinstance(value, Delta) and not value.writes and value.snapshot is not ABSENT:
        return DELTA, _Bare(value.snapshot)
    return _MISSING


def _object(value: Obj) -> Any:
    data = value.reveal() if isinstance(value, Secret) else value.data
    if isinstance(data, Unreadable):
        return _MISSING
    if value.how == "ext":
        return value.extra[0], data
    if value.how == "lc1" and message_class(value.name):
        return 5, _message(value)
    if value.how in ("lc1", "lc2"):
        # As the JSON serializer revives it: the class called with these arguments.
        code = 2 if isinstance(data, dict) else 1
        return code, (value.module, value.name, data)
    extra = value.extra
    if not extra and value.how == "pydantic":
        extra = ("model_validate_json",)
    return HOWS.index(value.how), (value.module, value.name, data, *extra)


def _message(value: Obj) -> tuple[Any, ...]:
    base = value.name.removesuffix("Chunk")
    module = f"langchain_core.messages.{_ROUTES.get(base, 'base')}"
    return module, value.name, message_fields(value), "model_validate_json"


def _by_hand(value: Value, path: str, depth: int) -> Iterator[bytes]:
    if depth > MAX_DEPTH * 2:
        raise DecodeError(f"The value at {path[:200]}… is nested too deep to be stored.")
    if value is None:
        yield b"\xc0"
    elif value is True or value is False:
        yield b"\xc3" if value else b"\xc2"
    elif isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 64:
            raise DecodeError(f"The number at {path or '/'} does not fit into 64 bits.")
        yield ormsgpack.packb(value)
    elif isinstance(value, float):
        yield struct.pack(">Bd", 0xCB, value)
    elif isinstance(value, str):
        raw = _utf8(value)
        yield _head(len(raw), 0xA0, 31, 0xD9, 0xDA, 0xDB)
        yield raw
    elif isinstance(value, (bytes, bytearray)):
        yield _head(len(value), 0, -1, 0xC4, 0xC5, 0xC6)
        yield bytes(value)
    elif isinstance(value, (list, tuple)):
        yield _head(len(value), 0x90, 15, None, 0xDC, 0xDD)
        for i, item in enumerate(value):
            yield from _by_hand(item, f"{path}/{i}", depth + 1)
    elif isinstance(value, (dict, MapValue)):
        pairs = value.pairs if isinstance(value, MapValue) else value.items()
        yield _head(len(value), 0x80, 15, None, 0xDE, 0xDF)
        for key, item in pairs:
            yield from _by_hand(key, f"{path}/{key}", depth + 1)
            yield from _by_hand(item, f"{path}/{key}", depth + 1)
    else:
        yield from _ext_by_hand(value, path, depth)


def _ext_by_hand(value: Value, path: str, depth: int) -> Iterator[bytes]:
    made = _extension(value)
    if made is _MISSING:
        raise DecodeError(f"The value at {path or '/'} cannot be stored: {_reason(value)}.")
    code, payload = made
    if isinstance(payload, bytes):
        raw = payload
    elif isinstance(payload, _Bare):
        raw = b"".join(_by_hand(payload.value, path, depth + 1))
    else:
        raw = b"".join(_payload_by_hand(payload, path, depth + 1))
    sizes = {1: 0xD4, 2: 0xD5, 4: 0xD6, 8: 0xD7, 16: 0xD8}
    if len(raw) in sizes:
        yield bytes((sizes[len(raw)],))
    else:
        yield _head(len(raw), 0, -1, 0xC7, 0xC8, 0xC9)
    yield struct.pack(">b", code)
    yield raw


def _payload_by_hand(payload: Sequence[Value], path: str, depth: int) -> Iterator[bytes]:
    """The tuple (module, name, data, …); `data` stands at the object's own path."""
    yield _head(len(payload), 0x90, 15, None, 0xDC, 0xDD)
    for item in payload:
        yield from _by_hand(item, path, depth)


def _reason(value: Value) -> str:
    if isinstance(value, Unreadable):
        return f"it was not readable ({value.why})"
    if isinstance(value, Pickle):
        return "a pickle is stored only by itself"
    if isinstance(value, Delta):
        return "a DeltaChannel with open writes needs its reducer"
    if isinstance(value, Obj):
        return "its stored form is not readable"
    return f"{type(value).__name__} has no stored form"


def _utf8(text: str) -> bytes:
    """Bytes that were not UTF-8 come back as they were; other lone surrogates become "?", as
    LangGraph writes them, since msgpack cannot carry them."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        pass
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _head(size: int, fix: int, upto: int, b8: int | None, b16: int, b32: int) -> bytes:
    if size <= upto:
        return bytes((fix | size,))
    if b8 is not None and size < 1 << 8:
        return bytes((b8, size))
    if size < 1 << 16:
        return struct.pack(">BH", b16, size)
    return struct.pack(">BI", b32, size)
