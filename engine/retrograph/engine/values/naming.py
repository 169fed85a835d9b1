"""Short names of the types of inert values, and ways into them that fit every kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from retrograph.engine.values.kinds import (
    ABSENT,
    ByteArray,
    Delta,
    MapValue,
    NdArray,
    Obj,
    Pickle,
    Secret,
    SetValue,
    Unreadable,
    Value,
)

_NAMES: dict[type, str] = {
    type(None): "null",
    ByteArray: "bytearray",
    MapValue: "dict",
    type(ABSENT): "absent",
    Pickle: "pickle",
    Unreadable: "unreadable",
    NdArray: "ndarray",
}


def type_name(value: Value) -> str:
    """A short name for display: "str", "dict", "datetime", "AIMessage"."""
    if isinstance(value, Obj):
        return value.name or "unreadable"
    if isinstance(value, Delta):
        return "delta"
    return _NAMES.get(type(value)) or type(value).__name__


def field(value: Value, name: str, default: Value = None) -> Value:
    """A field of an object or an entry of a dict, without caring which it is; of something
    unreadable, as far as it could be read."""
    if isinstance(value, Unreadable):
        value = value.partial
    fields = value.fields if isinstance(value, Obj) else value
    return fields.get(name, default) if isinstance(fields, dict) else default


def children(value: Value) -> Iterator[tuple[Any, Value]]:
    """(key, child) of any container, in order; nothing where there is none.

    Keys are dict keys as they are, field names, and ints for positions. A `MapValue` gives its
    own keys; a Delta "snapshot" and "writes".
    """
    if isinstance(value, Obj):
        if isinstance(value, Secret) or value.how == "ext":
            return iter(())
        fields = value.fields
        if fields is not None:
            return iter(fields.items())
        data = value.data
        if isinstance(value, SetValue):
            return enumerate(value.items)
        return children(data) if isinstance(data, (dict, list, Obj, MapValue)) else iter(())
    kind = type(value)
    if kind is dict:
        return iter(value.items())
    if kind is list or kind is tuple:
        return enumerate(value)
    if kind is MapValue:
        return iter(value.pairs)
    if isinstance(value, Delta):
        pairs: list[tuple[Any, Value]] = [("writes", list(value.writes))]
        if value.snapshot is not ABSENT:
            pairs.insert(0, ("snapshot", value.snapshot))
        return iter(pairs)
    if kind is Unreadable and value.partial is not ABSENT:
        return children(value.partial)
    return iter(())
