"""Inert values written as LangGraph's msgpack.

The fast encoder does it; where it refuses (a key of an odd type, deep nesting, text that is not
UTF-8) the value is written by hand, and what cannot be written at all is named by its path.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

import ormsgpack

from retrograph.engine.errors import DecodeError
from retrograph.engine.paths import pointer
from retrograph.engine.serde.msgpack import DELTA, HOWS, NUMPY, Packed, PackedDelta
from retrograph.engine.values import (
    ABSENT,
    Delta,
    MapValue,
    NdArray,
    Obj,
    Pickle,
    Secret,
    SetValue,
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

_DEEPEST: Final = 900
"""Levels that LangGraph's decoder takes, with room to stand in."""


class _ByHandError(Exception):
    """The fast encoder cannot write this kind."""


def pack(value: Value) -> bytes:
    """Msgpack bytes. Raises `DecodeError` with the JSON Pointer of what cannot be written."""
    try:
        return ormsgpack.packb(value, default=_default, option=_OPTIONS)
    except (TypeError, ValueError, RecursionError):
        # MsgpackEncodeError is a TypeError; it hides which exception `_default` raised.
        return pack_by_hand(value)


def pack_map(parts: Mapping[str, bytes]) -> bytes:
    """A map whose values are packed already."""
    head = _head(len(parts), 0x80, 15, None, 0xDE, 0xDF)
    return b"".join((head, *(piece for key in parts for piece in (pack(key), parts[key]))))


def pack_list(parts: Sequence[bytes]) -> bytes:
    """A list whose items are packed already."""
    return b"".join((_head(len(parts), 0x90, 15, None, 0xDC, 0xDD), *parts))


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
    if value.how == "lc2" and isinstance(value, SetValue):
        # JS's Set has no module.
        return 0, ("builtins", value.name if value.module else "set", value.items)
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


class _Close(NamedTuple):
    """Where an extension's payload ends."""

    code: int


_Path = Any
"""A linked list, (path of the parent, key), so that a path costs nothing until it is told."""


def pack_by_hand(value: Value) -> bytes:
    """As `pack`, for every kind. Iterative: depth is no matter, but for what LangGraph loads."""
    outs: list[list[bytes]] = [[]]
    stack: list[tuple[Any, _Path, int]] = [(value, None, 0)]
    while stack:
        item, path, depth = stack.pop()
        out = outs[-1]
        if isinstance(item, _Close):
            raw = b"".join(outs.pop())
            outs[-1] += (_ext_head(item.code, len(raw)), raw)
        elif depth > _DEEPEST:
            raise DecodeError(f"The value at {_pointer(path)[:100]}… is nested too deep to store.")
        elif isinstance(item, (list, tuple)):
            out.append(_head(len(item), 0x90, 15, None, 0xDC, 0xDD))
            stack += [(v, (path, i), depth + 1) for i, v in enumerate(item)][::-1]
        elif isinstance(item, (dict, MapValue)):
            out.append(_head(len(item), 0x80, 15, None, 0xDE, 0xDF))
            pairs = item.pairs if isinstance(item, MapValue) else item.items()
            for key, v in reversed(list(pairs)):
                stack += ((v, (path, key), depth + 1), (key, (path, key), depth + 1))
        elif isinstance(item, (str, bytes, bytearray, int, float)) or item is None:
            out.append(_scalar(item, path))
        else:
            code, payload = _extension_at(item, path)
            if isinstance(payload, bytes):
                out += (_ext_head(code, len(payload)), payload)
                continue
            outs.append([])
            stack.append((_Close(code), path, 0))
            if isinstance(payload, _Bare):
                stack.append((payload.value, path, depth + 2))
            else:
                # The fields of an object stand at its own path.
                outs[-1].append(_head(len(payload), 0x90, 15, None, 0xDC, 0xDD))
                stack += [(part, path, depth + 2) for part in reversed(payload)]
    return b"".join(outs[0])


def _scalar(value: Value, path: _Path) -> bytes:
    if isinstance(value, str):
        raw = _utf8(value)
        return _head(len(raw), 0xA0, 31, 0xD9, 0xDA, 0xDB) + raw
    if isinstance(value, (bytes, bytearray)):
        return _head(len(value), 0, -1, 0xC4, 0xC5, 0xC6) + bytes(value)
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        raise DecodeError(f"The number at {_pointer(path)} does not fit into 64 bits.")
    return ormsgpack.packb(value)


def _extension_at(value: Value, path: _Path) -> Any:
    made = _extension(value)
    if made is _MISSING:
        raise DecodeError(f"The value at {_pointer(path)} cannot be stored: {_reason(value)}.")
    return made


def _pointer(path: _Path) -> str:
    keys = []
    while path is not None:
        path, key = path
        keys.append(key)
    return pointer(keys[::-1]) or "the top"


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


def _ext_head(code: int, size: int) -> bytes:
    fixed = {1: 0xD4, 2: 0xD5, 4: 0xD6, 8: 0xD7, 16: 0xD8}.get(size)
    head = bytes((fixed,)) if fixed else _head(size, 0, -1, 0xC7, 0xC8, 0xC9)
    return head + struct.pack(">b", code)


def _head(size: int, fix: int, upto: int, b8: int | None, b16: int, b32: int) -> bytes:
    if size <= upto:
        return bytes((fix | size,))
    if b8 is not None and size < 1 << 8:
        return bytes((b8, size))
    if size < 1 << 16:
        return struct.pack(">BH", b16, size)
    return struct.pack(">BI", b32, size)
