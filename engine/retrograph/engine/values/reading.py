"""Inert values read back from the form in which `jsonform` writes them."""

from __future__ import annotations

import math
from base64 import b64decode
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, get_args
from uuid import UUID

from retrograph.engine.errors import UsageError
from retrograph.engine.values.jsonform import MARKS, path_flavour
from retrograph.engine.values.kinds import (
    ABSENT,
    ARG_NAMES,
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
from retrograph.engine.values.messages import is_message

_NAN = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def from_json(obj: Any, like: Value = ABSENT) -> Value:
    """The inert value that `to_json` wrote. Other `$` keys are ordinary keys.

    `like` is the value that stood in the same place: stars become its secret again, and classes
    of the same name keep the form in which they were stored. Raises `UsageError` where a `$` form
    is malformed.
    """
    try:
        return _read(obj, like)
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as e:
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
        like = like.data if like.fields is None else like.fields
    if isinstance(like, (list, tuple)) and isinstance(key, int):
        return like[key] if key < len(like) else ABSENT
    if isinstance(like, dict) and isinstance(key, (str, int, float, bytes, tuple, type(None))):
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
    old = like.pairs if isinstance(like, MapValue) else ()
    pairs = []
    for i, (k, v) in enumerate(obj["$map"]):
        like_key, like_value = old[i] if i < len(old) else (ABSENT, ABSENT)
        key = _read(k, like_key)
        pairs.append((key, _read(v, like_value if old else _item(like, key))))
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
    stood = like.data if isinstance(like, Obj) else like
    old = stood.partial if isinstance(stood, Unreadable) else ABSENT
    partial = _read(obj["partial"], old) if "partial" in obj else ABSENT
    out = Unreadable(str(obj["$unreadable"]), int(obj.get("bytes", 0)), partial)
    return like if isinstance(like, Obj) and stood == out else out


def _ext(obj: dict[str, Any], _: Value) -> Value:
    return Obj("", f"ext {obj['$ext']}", "ext", _read(obj["data"], ABSENT), (int(obj["$ext"]),))


def _typed(obj: dict[str, Any], like: Value) -> Value:
    full = obj["$type"]
    if type(full) is not str:
        raise TypeError("$type is no name")
    if full == "numpy.ndarray" and "dtype" in obj:
        return NdArray(obj["dtype"], tuple(obj["shape"]), obj["order"], _read(obj["data"], ABSENT))
    same = like if isinstance(like, Obj) and like.type == full else None
    if "$value" in obj:
        return _of_value(full, obj, same)
    if "$args" in obj:
        args = _list(obj["$args"], same.data if same else ABSENT)
        if full == "datetime.timedelta" and same is None:
            return timedelta(*args)
        return _made(full, _how(obj, "args"), args, same.extra if same else (), same)
    return _of_fields(full, obj, same)


def _of_value(full: str, obj: dict[str, Any], same: Obj | None) -> Value:
    if isinstance(same, Secret):
        if obj["$value"] == same.data:
            return same
        return Secret(same.module, same.name, same.how, obj["$value"], same.extra)
    data = _read(obj["$value"], same.data if same else ABSENT)
    if "$method" in obj:
        return _made(full, "method", data, (_read(obj["$method"], ABSENT),), same)
    how = _how(obj, "arg")
    flavour = path_flavour(full)
    if flavour and isinstance(data, str) and "$how" not in obj:
        return _made(full, "args", list(flavour(data).parts), (), same)
    # What stood there as an object was no proper one: it stays what it was.
    if full in _NATIVE and same is None:
        return _NATIVE[full](data)
    return _made(full, how, data, same.extra if same else (), same)


def _how(obj: dict[str, Any], default: How) -> How:
    how: How = obj.get("$how", default)
    if how not in HOWS:
        raise ValueError(f"$how is {how!r}")
    return how


def _of_fields(full: str, obj: dict[str, Any], same: Obj | None) -> Obj:
    data = {k: _read(v, _item(same, k)) for k, v in obj.items() if k != "$type"}
    names = ARG_NAMES.get(full)
    if names and set(data) <= set(names) and len(data) >= 2:
        return _made(full, "args", [data[n] for n in names if n in data], (), same)
    if same is None or same.fields is None:
        # The most tolerant of the forms: made from its fields, valid or not.
        return _made(full, "pydantic", data, (), same)
    if "type" not in same.fields and is_message(same):
        data.pop("type", None)
    return _made(full, same.how, data, same.extra, same)


def _made(full: str, how: How, data: Value, extra: tuple[Any, ...], same: Obj | None) -> Obj:
    module, _, name = full.rpartition(".")
    if same:
        module, name = same.module, same.name
    kind = Secret if how == "arg" and is_secret(module, name) else Obj
    return kind(module, name, how, data, extra)


def is_secret(module: str, name: str) -> bool:
    """Whether this class is pydantic's way to keep a value out of sight."""
    return module.startswith("pydantic") and name.startswith("Secret")


HOWS = frozenset(get_args(How))

_NATIVE: dict[str, Any] = {"uuid.UUID": UUID, "decimal.Decimal": Decimal}

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
    "$absent": lambda _obj, _like: ABSENT,
    "$ext": _ext,
    "$type": _typed,
}
