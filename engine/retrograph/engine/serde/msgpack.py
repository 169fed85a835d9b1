"""LangGraph's msgpack: JsonPlusSerializer's extensions, read without importing what they name.

Format: langgraph-checkpoint, `langgraph/checkpoint/serde/jsonplus.py`. Each extension's payload is
msgpack again: 0 `(module, name, arg)`, 1 `(module, name, args)`, 2 `(module, name, kwargs)`,
3 `(module, name, arg, method)`, 4 and 5 pydantic v1 and v2 `(module, name, fields, …)`,
6 numpy `(dtype, shape, order, bytes)`, 7 a `_DeltaSnapshot`'s value.

Payloads stay packed until they are looked at, so that 40,000 messages cost what their bytes cost;
an untouched one is encoded by its own bytes.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal, DecimalException
from typing import Any, Final
from uuid import UUID

import ormsgpack

from retrograph.engine.serde import wire
from retrograph.engine.values import (
    ABSENT,
    HIDDEN,
    Delta,
    How,
    NdArray,
    Obj,
    Secret,
    SetValue,
    Unreadable,
    Value,
    is_secret,
)
from retrograph.engine.values.kinds import Parts

HOWS: Final[tuple[How, ...]] = ("arg", "args", "kwargs", "method", "pydantic1", "pydantic")
"""By extension code."""

NUMPY: Final = 6
DELTA: Final = 7

_unpackb: Final = ormsgpack.unpackb
_ANY_KEYS: Final = ormsgpack.OPT_NON_STR_KEYS
_SMALL: Final = 64 * 1024
"""Up to here the fast decoder may hash keys of any type: too few to be made to collide badly."""


class Packed(Obj):
    """An object whose payload is unpacked at the first look; from then on the bytes are let go."""

    __slots__ = ("_code", "_state")
    _code: int
    # One slot, so that another thread sees either the bytes or what they became.
    _state: bytes | list[Any]

    def __init__(self, code: int, raw: bytes) -> None:
        self._code = code
        self._state = raw

    @property
    def code(self) -> int:
        return self._code

    @property
    def state(self) -> bytes | list[Any]:
        """The payload's bytes, or [module, name, data, …] where they were unpacked."""
        return self._state

    @property
    def data(self) -> Value:
        state = self._state
        return state[2] if isinstance(state, list) else self._load(state)[2]

    @property
    def payload(self) -> list[Any]:
        state = self._state
        return state if isinstance(state, list) else self._load(state)

    def _load(self, raw: bytes) -> list[Any]:
        try:
            value = _unpackb(raw, ext_hook=hook)
        except (ValueError, TypeError):
            value = unpack(raw)
        if type(value) is list and len(value) > 2 and type(value[0]) is type(value[1]) is str:
            self._state = value
            return value
        # What is broken keeps its bytes.
        if not isinstance(value, Unreadable):
            return ["", "", Unreadable("not a typed object", len(raw), value)]
        module, name = peek_names(raw) or ("", "")
        return [module, name, Unreadable(value.why, len(raw), _partial_data(value.partial))]

    @property
    def parts(self) -> Parts:
        module, name, data, *extra = self.payload
        return module, name, data, tuple(extra)

    @property
    def how(self) -> How:
        return HOWS[self._code]

    @property
    def module(self) -> str:
        return self._names()[0]

    @property
    def name(self) -> str:
        return self._names()[1]

    def _names(self) -> tuple[str, str]:
        state = self._state
        if isinstance(state, list):
            return state[0], state[1]
        names = peek_names(state)
        if names:
            return names
        payload = self.payload
        return payload[0], payload[1]


class PackedSet(Packed, SetValue):
    __slots__ = ()


class PackedSecret(Packed, Secret):
    __slots__ = ()

    @property
    def data(self) -> Value:
        return HIDDEN


class PackedDelta(Delta):
    """A `_DeltaSnapshot` that is unpacked at the first look."""

    __slots__ = ("_raw",)
    _raw: bytes

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._writes = ()

    @property
    def raw(self) -> bytes:
        return self._raw

    @property
    def snapshot(self) -> Value:
        try:
            return self._snapshot
        except AttributeError:
            self._snapshot = value = unpack(self._raw)
            return value


def unpack(data: bytes) -> Value:
    """The value of msgpack bytes. Never raises on data: what is broken is `Unreadable`."""
    try:
        value = _unpackb(data, ext_hook=hook)
    except (ValueError, TypeError):
        if len(data) > _SMALL:
            return _by_hand(data)
        try:
            value = _unpackb(data, ext_hook=hook, option=_ANY_KEYS)
        except (ValueError, TypeError):
            return _by_hand(data)
    if type(value) not in (dict, list) and data:
        end = wire.skip(data, 0, 1)[0]
        if end != len(data):
            return Unreadable(f"{len(data) - end} bytes after the value", len(data), value)
    return value


def _by_hand(data: bytes) -> Value:
    value, fault, _ = wire.read(data, hook)
    if fault is None:
        return value
    return Unreadable(fault if data else "empty", len(data), value)


def _partial_data(partial: Value) -> Value:
    return partial[2] if type(partial) is list and len(partial) >= 3 else ABSENT


def peek_names(raw: bytes) -> tuple[str, str] | None:
    """Module and class name in the first bytes of a payload, which may be cut after them."""
    try:
        if 0x92 <= raw[0] <= 0x9F:
            module, at = _short_text(raw, 1)
            name, _ = _short_text(raw, at)
            return module, name
    except (IndexError, UnicodeDecodeError, ValueError):
        pass
    return None


def _short_text(raw: bytes, at: int) -> tuple[str, int]:
    head = raw[at]
    if 0xA0 <= head <= 0xBF:
        begin, end = at + 1, at + 1 + (head & 31)
    elif head == 0xD9:
        begin, end = at + 2, at + 2 + raw[at + 1]
    else:
        raise ValueError
    if end > len(raw):
        raise IndexError
    return raw[begin:end].decode("utf-8"), end


def hook(code: int, raw: bytes) -> Value:
    """An extension as an inert value: a native one where its class is in the fixed table below
    and encoding would give the same again, else a packed object."""
    if code == 5 or code == 4:
        return Packed(code, raw)
    if 0 <= code <= 3:
        names = peek_names(raw)
        make = _NATIVE.get((code, *names)) if names else None
        if make:
            if isinstance(make, type):
                return make(code, raw)
            try:
                value = make(_unpackb(raw, option=_ANY_KEYS))
            except (ValueError, TypeError, LookupError, OverflowError, DecimalException):
                value = None
            if value is not None:
                return value
        elif code == 0 and names and is_secret(*names):
            return PackedSecret(code, raw)
        return Packed(code, raw)
    if code == DELTA:
        return PackedDelta(raw)
    if code == NUMPY:
        array = _array(raw)
        if array:
            return array
    return Obj("", f"ext {code}", "ext", raw, (code,))


def _uuid(tup: list[Any]) -> UUID | None:
    value = UUID(hex=tup[2])
    return value if len(tup) == 3 and value.hex == tup[2] else None


def _decimal(tup: list[Any]) -> Decimal | None:
    value = Decimal(tup[2])
    return value if len(tup) == 3 and type(tup[2]) is str and str(value) == tup[2] else None


def _date(tup: list[Any]) -> date | None:
    return date(*_ints(tup))


def _timedelta(tup: list[Any]) -> timedelta | None:
    days, seconds, micro = _ints(tup)
    value = timedelta(days, seconds, micro)
    return value if (value.days, value.seconds) == (days, seconds) else None


def _ints(tup: list[Any]) -> list[int]:
    args: list[int] = tup[2]
    if len(tup) != 3 or len(args) != 3 or any(type(a) is not int for a in args):
        raise ValueError
    return args


def _time(tup: list[Any]) -> time | None:
    kwargs = tup[2]
    value = time(**kwargs)
    return value if len(tup) == 3 and len(kwargs) == 6 and kwargs["tzinfo"] is None else None


def _datetime(tup: list[Any]) -> datetime | None:
    value = datetime.fromisoformat(tup[2])
    return value if tup[3:] == ["fromisoformat"] and value.isoformat() == tup[2] else None


_NATIVE: Final[dict[tuple[int, str, str], Any]] = {
    (0, "uuid", "UUID"): _uuid,
    (0, "decimal", "Decimal"): _decimal,
    (0, "builtins", "set"): PackedSet,
    (0, "builtins", "frozenset"): PackedSet,
    (1, "datetime", "date"): _date,
    (1, "datetime", "timedelta"): _timedelta,
    (2, "datetime", "time"): _time,
    (3, "datetime", "datetime"): _datetime,
}
"""The only classes of which instances are made. (`Path`, `ZoneInfo`, `re` stay objects: making
some of them touches the disk or runs an engine on the data.)"""


def _array(raw: bytes) -> NdArray | None:
    try:
        value = _unpackb(raw)
    except (ValueError, TypeError):
        return None
    if type(value) is not list or len(value) != 4:
        return None
    dtype, shape, order, data = value
    if (
        type(dtype) is str
        and type(order) is str
        and type(data) is bytes
        and type(shape) is list
        and all(type(n) is int for n in shape)
    ):
        return NdArray(dtype, tuple(shape), order, data)
    return None
