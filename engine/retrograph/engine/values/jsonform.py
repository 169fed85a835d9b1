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
    an empty channel    {"$absent": true}
    other extensions    {"$ext": code, "data": {"$bytes"}}
A secret is stars. `reading.from_json` is the inverse.
"""

from __future__ import annotations

import math
from base64 import b64encode
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID

from retrograph.engine.values.kinds import (
    ABSENT,
    MAX_DEPTH,
    TOO_DEEP,
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
from retrograph.engine.values.messages import ordered

MARKS = frozenset(
    {
        "$type", "$value", "$args", "$how", "$method", "$bytes", "$datetime", "$tuple", "$set",
        "$map", "$float", "$pickle", "$unreadable", "$delta", "$ext", "$absent",
    }
)  # fmt: skip
"""Keys with a meaning. A dict of the data that has one is written as a `$map`."""

_STR = frozenset({str})
_AS_IS = frozenset({str, int, bool, type(None)})


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
    if value is ABSENT:
        return {"$absent": True}
    raise TypeError(f"not an inert value: {type(value).__name__}")


def _dict(value: dict[Any, Value], depth: int) -> Any:
    if _STR.issuperset(map(type, value)) and MARKS.isdisjoint(value):
        return _fields(value, depth)
    return {"$map": [[to_json(k, depth), to_json(v, depth)] for k, v in value.items()]}


def _obj(value: Obj, depth: int) -> Any:
    if value.how == "ext":
        return {"$ext": value.extra[0], "data": to_json(value.data, depth)}
    if isinstance(value, SetValue) and type(value.data) is list:
        out: dict[str, Any] = {"$set": [to_json(v, depth) for v in value.items]}
        if value.type != "builtins.set":
            out["$type"] = value.type
        return out
    if isinstance(value.data, Unreadable) and not value.name:
        return to_json(value.data, depth)
    fields = ordered(value)
    if fields is not None and MARKS.isdisjoint(fields):
        out = _fields(fields, depth)
        out["$type"] = value.type
        return out
    path = _path(value)
    if path is not None:
        return {"$type": value.type, "$value": path}
    data = to_json(value.data, depth)
    out = {"$type": value.type}
    several = value.how in ("args", "lc2") and isinstance(data, list)
    out["$args" if several else "$value"] = data
    if value.how == "method":
        out["$method"] = to_json(value.extra[0], depth) if value.extra else None
    elif value.how != ("args" if several else "arg") and not isinstance(value, Secret):
        out["$how"] = value.how
    return out


def _path(value: Obj) -> str | None:
    """A path of the file system as text, where its parts come back from that."""
    flavour = path_flavour(value.type)
    parts = value.data
    if flavour is None or value.how != "args" or type(parts) is not list:
        return None
    if not _STR.issuperset(map(type, parts)):
        return None
    text = str(flavour(*parts))
    return text if list(flavour(text).parts) == parts else None


def path_flavour(full: str) -> type[PurePosixPath] | type[PureWindowsPath] | None:
    """How paths of this class are joined. (Pure paths are text: they touch no disk.)"""
    if not full.startswith("pathlib.") or not full.endswith("Path"):
        return None
    return PureWindowsPath if "Windows" in full else PurePosixPath


def _fields(fields: dict[str, Value], depth: int) -> dict[str, Any]:
    return {k: v if type(v) in _AS_IS else to_json(v, depth) for k, v in fields.items()}
