"""Quick answers to "are these the same?", for diffs of large states that are mostly equal.

Values that were never looked at are compared by their stored bytes, plain ones by the bytes that
`marshal` makes of them: both at C speed, and strict about types. Only what differs so, or holds
objects further down, is walked (`values.equal`).
"""

from __future__ import annotations

import marshal
from collections.abc import Hashable
from typing import Any

from retrograph.engine.values import Delta, MapValue, Obj, Secret, SetValue, Value, equal, field

_SCALARS = frozenset((str, int, bool, type(None)))
_MARSHAL = 0
"""The version without back references and interning: equal values give equal bytes."""

_DEPTH = 50
"""Levels that `content` looks into."""


def surely(x: Value, y: Value) -> bool:
    """Whether a glance tells that two values are equal, without looking into either."""
    if x is y:
        return True
    kind = type(x)
    if kind is not type(y):
        return False
    if kind in _SCALARS:
        return bool(x == y)
    if isinstance(x, Obj):
        sealed = x.sealed
        return sealed is not None and bool(sealed == y.sealed)
    return False


def same(x: Value, y: Value) -> bool:
    """`values.equal`, faster where values are plain or still packed."""
    if surely(x, y):
        return True
    kind = type(x)
    if kind in _SCALARS:
        return False
    if kind in (dict, list, tuple):
        if kind is not type(y) or len(x) != len(y):
            return False
        try:
            if marshal.dumps(x, _MARSHAL) == marshal.dumps(y, _MARSHAL):
                return True
        except ValueError:
            pass
    return equal(x, y)


def token(value: Value) -> Hashable:
    """A stand-in for a value: equal tokens mean equal values. Values that are equal and were
    stored in another way (keys in other order, another form of the class) may have others."""
    if isinstance(value, Obj):
        return value.sealed or _obj_token(value)
    kind = type(value)
    if kind in _SCALARS or kind is bytes:
        return kind, value
    if kind is float:
        return kind, repr(value)
    if kind in (dict, list, tuple):
        try:
            return kind, marshal.dumps(value, _MARSHAL)
        except ValueError:
            pass  # there are objects further down
    return id(value)


def _obj_token(value: Obj) -> Hashable:
    if isinstance(value, Secret):
        return id(value)
    try:
        parts = (value.type, value.how, value.data, value.extra)
        return type(value), marshal.dumps(parts, _MARSHAL)
    except ValueError:
        return id(value)


def content(value: Value, depth: int = 0) -> int:
    """A hash of what a value means: equal values have equal ones; others almost never do."""
    kind = type(value)
    if kind in _SCALARS or kind is bytes or depth > _DEPTH:
        return hash((kind, value if depth <= _DEPTH else None))
    depth += 1
    if kind is dict:
        return hash(frozenset((_key(k), content(v, depth)) for k, v in value.items()))
    if kind is list or kind is tuple:
        return hash((kind, tuple(content(v, depth) for v in value)))
    if kind is float:
        return hash((kind, repr(value + 0.0) if value == value else "nan"))
    if isinstance(value, Secret):
        return hash((value.type, content(value.reveal(), depth)))
    if isinstance(value, SetValue):
        return hash((value.type, frozenset(content(v, depth) for v in value.items)))
    if isinstance(value, Obj):
        return hash((value.type, content(value.data, depth)))
    if isinstance(value, Delta):
        parts: list[Any] = [value.snapshot, *value.writes]
        return hash(tuple(content(v, depth) for v in parts))
    if isinstance(value, MapValue):
        return hash((MapValue, len(value)))
    return hash((kind, value))


def identity(value: Value) -> str | int | None:
    """The `id` of a list item, by which it is known again when the rest of it has changed."""
    if not isinstance(value, (Obj, dict)):
        return None
    found = field(value, "id")
    if isinstance(found, str):
        return found or None
    return found if type(found) is int else None


def _key(key: Any) -> Hashable:
    return key if type(key) is str else (type(key).__name__, repr(key))
