"""LangGraph's msgpack: JsonPlusSerializer's extensions, read without importing what they name.

Format: langgraph-checkpoint, `langgraph/checkpoint/serde/jsonplus.py`. Each extension's payload is
msgpack again: 0 `(module, name, arg)`, 1 `(module, name, args)`, 2 `(module, name, kwargs)`,
3 `(module, name, arg, method)`, 4 and 5 pydantic v1 and v2 `(module, name, fields, …)`,
6 numpy `(dtype, shape, order, bytes)`, 7 a `_DeltaSnapshot`'s value.

Payloads stay packed until they are looked at, so that 40,000 messages cost what their bytes cost;
an untouched one is encoded by its own bytes.
"""

from __future__ import annotations

from typing import Any, Final

import ormsgpack

from retrograph.engine.serde import natives, wire
from retrograph.engine.serde.peek import peek_names
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
_SMALL: Final = 8 * 1024
"""Up to here the fast decoder may hash keys of any type: too few to be made to collide badly."""


class Packed(Obj):
    """An object whose payload is unpacked at the first look; from then on the bytes are let go."""

    __slots__ = ("_code", "_size", "_state")
    _code: int
    _size: int
    # One slot, so that another thread sees either the bytes or what they became.
    _state: bytes | list[Any]

    def __init__(self, code: int, raw: bytes) -> None:
        self._code = code
        self._state = raw

    @property
    def code(self) -> int:
        return self._code

    @property
    def sealed(self) -> bytes | None:
        state = self._state
        return None if isinstance(state, list) else state

    @property
    def size(self) -> int:
        """Bytes of the payload as it was stored."""
        state = self._state
        return self._size if isinstance(state, list) else len(state)

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
            self._size = len(raw)
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

    @property
    def type(self) -> str:
        module, name = self._names()
        return f"{module}.{name}" if module else name

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
            return by_hand(data)
        try:
            value = _unpackb(data, ext_hook=hook, option=_ANY_KEYS)
        except (ValueError, TypeError):
            return by_hand(data)
    if type(value) not in (dict, list) and data:
        end = wire.skip(data, 0, 1)[0]
        if end != len(data):
            return Unreadable(f"{len(data) - end} bytes after the value", len(data), value)
    return value


def by_hand(data: bytes) -> Value:
    """As `unpack`, by the decoder that goes on where the fast one refuses."""
    value, fault, _ = wire.read(data, hook)
    if fault is None:
        return value
    return Unreadable(fault if data else "empty", len(data), value)


def _partial_data(partial: Value) -> Value:
    return partial[2] if type(partial) is list and len(partial) >= 3 else ABSENT


_SETS: Final = frozenset({("builtins", "set"), ("builtins", "frozenset")})


def hook(code: int, raw: bytes) -> Value:
    """An extension as an inert value: a native one where its class is data only, else a packed
    object."""
    if code == 5 or code == 4:
        return Packed(code, raw)
    if 0 <= code <= 3:
        names = peek_names(raw)
        if names is None:
            return Packed(code, raw)
        if code == 0:
            if names in _SETS:
                return PackedSet(code, raw)
            if is_secret(*names):
                return PackedSecret(code, raw)
        native = natives.make(code, *names, raw)
        return Packed(code, raw) if native is None else native
    if code == DELTA:
        return PackedDelta(raw)
    if code == NUMPY:
        array = _array(raw)
        if array:
            return array
    return Obj("", f"ext {code}", "ext", raw, (code,))


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
