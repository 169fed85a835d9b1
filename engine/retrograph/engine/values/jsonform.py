"""How inert values are written in JSON and YAML, and read back.

    a typed object      its fields, and "$type": "package.module.Class"; what is no field is
                        "$value" (one argument), "$args" (several), with "$method" (a class method)
    bytes               {"$bytes": base64}
    date and time       {"$datetime": ISO}
    tuple, set          {"$tuple": […]}, {"$set": […]}
    keys not strings    {"$map": [[key, value], …]}; also a dict that has one of these names as key
    NaN, infinities     {"$float": "nan" | "inf" | "-inf"}
    pickled             {"$pickle": base64, "names": […]}
    undecodable         {"$unreadable": why, "bytes": n}, with "partial" where some could be read
    DeltaChannel        {"$delta": {"snapshot": …, "writes": […]}}
    numpy               {"$type": "numpy.ndarray", "dtype", "shape", "order", "data": {"$bytes"}}
    other extensions    {"$ext": code, "data": {"$bytes"}}

A secret is stars. `from_json` is the inverse; where a form has lost something (a secret, whether
a class was pydantic's), `like` gives it back.
"""

from __future__ import annotations

import binascii
import math
from base64 import b64decode, b64encode
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, cast
from uuid import UUID

from retrograph.engine.errors import UsageError
from retrograph.engine.values.kinds import (
    ABSENT,
    MAX_DEPTH,
    TOO_DEEP,
    ByteArray,
    Delta,
    How,
    MapValue,
    NdArray,
    Obj,
    Pickle,
    Secret,
    SetValue,
    Unreadable,
    Value,
)
from retrograph.engine.values.messages import is_message, message_fields

MARKS = frozenset(
    {
        "$type", "$value", "$args", "$how", "$method", "$bytes", "$datetime", "$tuple", "$set",
        "$map", "$float", "$pickle", "$unreadable", "$delta", "$ext",
    }
)  # fmt: skip
"""Keys with a meaning. A dict of the data that has one is written as a `$map`."""

_NAN = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def to_json(value: Value, depth: int = 0) -> Any:
    """The value as JSON-able data; deeper than `MAX_DEPTH` it is cut with an `$unreadable`.

    Strings are kept as they are: one with a lone surrogate needs `ensure_ascii`.
    """
    if value is None or value is True or value is False:
        return value
    kind = type(value)
    if kind is str or kind is int:
        return value
    if depth > MAX_DEPTH:
        return {"$unreadable": TOO_DEEP, "bytes": 0}
    depth += 1
    if kind is list:
        return [to_json(v, depth) for v in value]
    if kind is dict:
        return _dict(value, depth)
    if kind is float:
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, Obj):
        return _obj(value, depth)
    return _other(value, depth)


def _other(value: Value, depth: int) -> Any:
    if isinstance(value, (datetime, date, time)):
        return {"$datetime": value.isoformat()}
    if isinstance(value, bytes):
        out: dict[str, Any] = {"$bytes": b64encode(value).decode("ascii")}
        if type(value) is ByteArray:
            out["$type"] = "builtins.bytearray"
        return out
    if isinstance(value, timedelta):
        args = [value.days, value.seconds, value.microseconds]
        return {"$type": "datetime.timedelta", "$args": args}
    if isinstance(value, UUID):
        return {"$type": "uuid.UUID", "$value": str(value)}
    if isinstance(value, Decimal):
        return {"$type": "decimal.Decimal", "$value": str(value)}
    if isinstance(value, tuple):
        return {"$tuple": [to_json(v, depth) for v in value]}
    if isinstance(value, (set, frozenset)):
        out = {"$set": [to_json(v, depth) for v in value]}
        if isinstance(value, frozenset):
            out["$type"] = "builtins.frozenset"
        return out
    if isinstance(value, MapValue):
        return {"$map": [[to_json(k, depth), to_json(v, depth)] for k, v in value.pairs]}
    if isinstance(value, Delta):
        inner: dict[str, Any] = {}
        if value.snapshot is not ABSENT:
            inner["snapshot"] = to_json(value.snapshot, depth)
        inner["writes"] = [to_json(w, depth) for w in value.writes]
        return {"$delta": inner}
    if isinstance(value, NdArray):
        return {
            "$type": "numpy.ndarray",
            "dtype": value.dtype,
            "shape": list(value.shape),
            "order": value.order,
            "data": to_json(value.raw),
        }
    if isinstance(value, Pickle):
        return {"$pickle": b64encode(value.raw).decode("ascii"), "names": list(value.names)}
    if isinstance(value, Unreadable):
        out = {"$unreadable": value.why, "bytes": value.nbytes}
        if value.partial is not ABSENT:
            out["partial"] = to_json(value.partial, depth)
        return out
    raise TypeError(f"not an inert value: {type(value).__name__}")


def _dict(value: dict[Any, Value], depth: int) -> Any:
    if all(type(k) is str for k in value) and not (value.keys() & MARKS):
        return {k: to_json(v, depth) for k, v in value.items()}
    return {"$map": [[to_json(k, depth), to_json(v, depth)] for k, v in value.items()]}


def _obj(value: Obj, depth: int) -> Any:
    if value.how == "ext":
        return {"$ext": value.extra[0], "data": to_json(value.data, depth)}
    if isinstance(value, SetValue):
        out: dict[str, Any] = {"$set": [to_json(v, depth) for v in value.items]}
        if value.type != "builtins.set":
            out["$type"] = value.type
        return out
    if isinstance(value.data, Unreadable) and not value.name:
        return to_json(value.data, depth)
    fields = value.fields
    if fields is not None and not (fields.keys() & MARKS):
        if is_message(value):
            fields = message_fields(value)
        out = {k: to_json(v, depth) for k, v in fields.items()}
        out["$type"] = value.type
        return out
    data = to_json(value.data, depth)
    out = {"$type": value.type}
    if value.how == "args":
        out["$args"] = data
    else:
        out["$value"] = data
        if value.how == "method":
            out["$method"] = value.extra[0] if value.extra else None
        elif value.how != "arg" and not isinstance(value, Secret):
            out["$how"] = value.how
    return out


def from_json(obj: Any, like: Value = ABSENT) -> Value:
    """The inert value that `to_json` wrote. Other `$` keys are ordinary keys.

    `like` is the value that stood in the same place: stars become its secret again, and classes
    of the same name keep the form in which they were stored. Raises `UsageError` where a `$` form
    is malformed.
    """
    try:
        return _read(obj, like)
    except (ValueError, TypeError, InvalidOperation, binascii.Error) as e:
        raise UsageError(f"A typed value is malformed: {e}.") from e
    except RecursionError:
        raise UsageError("The value is nested too deep.") from None


def _read(obj: Any, like: Value) -> Value:
    if isinstance(obj, list):
        return [_read(v, _item(like, i)) for i, v in enumerate(obj)]
    if not isinstance(obj, dict):
        return obj
    if obj.keys() & MARKS:
        for mark, read in _READERS.items():
            if mark in obj:
                return read(obj, like)
    return {k: _read(v, _item(like, k)) for k, v in obj.items()}


def _item(like: Value, key: Any) -> Value:
    if isinstance(like, Obj):
        like = like.data
    if isinstance(like, (list, tuple)) and isinstance(key, int):
        return like[key] if key < len(like) else ABSENT
    if isinstance(like, dict):
        return like.get(key, ABSENT)
    return ABSENT


def _bytes(obj: dict[str, Any], _: Value) -> Value:
    raw = b64decode(obj["$bytes"], validate=True)
    return ByteArray(raw) if obj.get("$type") == "builtins.bytearray" else raw


def _datetime(obj: dict[str, Any], _: Value) -> Value:
    text = str(obj["$datetime"])
    if text[2:3] == ":":
        return time.fromisoformat(text)
    return date.fromisoformat(text) if len(text) <= 10 else datetime.fromisoformat(text)


def _set(obj: dict[str, Any], like: Value) -> Value:
    items = _list(obj["$set"], like)
    full = obj.get("$type", "builtins.set")
    if isinstance(like, SetValue) and like.type == full:
        return SetValue(items, like.name, like.module, like.how)
    module, _, name = str(full).rpartition(".")
    return SetValue(items, name, module, "arg" if module else "lc2")


def _list(obj: Any, like: Value) -> list[Value]:
    if not isinstance(obj, list):
        raise TypeError("a list is missing")
    return [_read(v, _item(like, i)) for i, v in enumerate(obj)]


def _map(obj: dict[str, Any], like: Value) -> Value:
    pairs = [(_read(k, ABSENT), _read(v, _item(like, k))) for k, v in obj["$map"]]
    return map_of(pairs)


def map_of(pairs: list[tuple[Value, Value]]) -> Value:
    """A dict where its keys can be those of a Python dict, else a `MapValue`."""
    try:
        out = dict(pairs)
    except TypeError:
        return MapValue(pairs)
    return out if len(out) == len(pairs) else MapValue(pairs)


def _delta(obj: dict[str, Any], like: Value) -> Value:
    inner = obj["$delta"]
    old = like if isinstance(like, Delta) else Delta()
    snapshot = _read(inner["snapshot"], old.snapshot) if "snapshot" in inner else ABSENT
    return Delta(snapshot, _list(inner.get("writes", []), old.writes))


def _float(obj: dict[str, Any], _: Value) -> Value:
    try:
        return _NAN[obj["$float"]]
    except KeyError:
        raise ValueError(f"$float is {obj['$float']!r}, not nan, inf or -inf") from None


def _pickle(obj: dict[str, Any], like: Value) -> Value:
    raw = b64decode(obj["$pickle"], validate=True)
    return like if isinstance(like, Pickle) and like.raw == raw else Pickle(raw)


def _unreadable(obj: dict[str, Any], like: Value) -> Value:
    partial = _read(obj["partial"], ABSENT) if "partial" in obj else ABSENT
    out = Unreadable(str(obj["$unreadable"]), int(obj.get("bytes", 0)), partial)
    return like if isinstance(like, Obj) and like.data == out else out


def _ext(obj: dict[str, Any], _: Value) -> Value:
    return Obj("", f"ext {obj['$ext']}", "ext", _read(obj["data"], ABSENT), (int(obj["$ext"]),))


def _typed(obj: dict[str, Any], like: Value) -> Value:
    full = obj["$type"]
    if full == "numpy.ndarray" and "dtype" in obj:
        return NdArray(obj["dtype"], tuple(obj["shape"]), obj["order"], _read(obj["data"], ABSENT))
    same = like if isinstance(like, Obj) and like.type == full else None
    if "$value" in obj:
        if isinstance(same, Secret):
            if obj["$value"] == same.data:
                return same
            return Secret(same.module, same.name, same.how, obj["$value"], same.extra)
        data = _read(obj["$value"], same.data if same else ABSENT)
        native = _NATIVE.get(full)
        if native:
            return native(data)
        how: How = "method" if "$method" in obj else obj.get("$how", "arg")
        extra = (obj["$method"],) if "$method" in obj else same.extra if same else ()
    elif "$args" in obj:
        data = _list(obj["$args"], same.data if same else ABSENT)
        if full == "datetime.timedelta":
            return timedelta(*data)
        how, extra = "args", same.extra if same else ()
    else:
        data = {k: _read(v, _item(like, k)) for k, v in obj.items() if k != "$type"}
        how, extra = "pydantic", ()
        if same and same.fields is not None:
            how, extra = same.how, same.extra
            if "type" not in same.fields and is_message(same):
                data.pop("type", None)
    if same:
        return Obj(same.module, same.name, how, data, extra)
    module, _, name = str(full).rpartition(".")
    if how == "arg" and is_secret(module, name):
        return Secret(module, name, how, data, extra)
    return Obj(module, name, how, data, extra)


def is_secret(module: str, name: str) -> bool:
    """Whether this class is pydantic's way to keep a value out of sight."""
    return module.startswith("pydantic") and name.startswith("Secret")


_NATIVE: dict[str, Any] = {
    "uuid.UUID": lambda v: UUID(cast("str", v)),
    "decimal.Decimal": lambda v: Decimal(cast("str", v)),
}

_READERS: dict[str, Any] = {
    "$bytes": _bytes,
    "$datetime": _datetime,
    "$tuple": lambda obj, like: tuple(_list(obj["$tuple"], like)),
    "$set": _set,
    "$map": _map,
    "$float": _float,
    "$pickle": _pickle,
    "$unreadable": _unreadable,
    "$delta": _delta,
    "$ext": _ext,
    "$type": _typed,
}
