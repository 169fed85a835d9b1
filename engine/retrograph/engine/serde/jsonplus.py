"""The JSON serializers: LangGraph.js, Redis, and LangGraph before msgpack.

Typed things are constructor dicts. `lc: 2` is the serializer's own form,

    {"lc": 2, "type": "constructor", "id": ["uuid", "UUID"], "method": …, "args": […], "kwargs": …}

(Python: langgraph-checkpoint 1.0, `jsonplus.py`; JS: `checkpoint/src/serde/jsonplus.ts`, where
`id` is a bare class name and `{"lc": 2, "type": "undefined"}` is undefined). `lc: 1` is
LangChain's; messages among them are shown as messages. Every other `lc: 1` dict is data.
"""

from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from retrograph.engine.errors import DecodeError
from retrograph.engine.serde.natives import REFUSALS
from retrograph.engine.values import (
    TOO_DEEP,
    Obj,
    Secret,
    SetValue,
    Unreadable,
    Value,
    is_secret,
    message_class,
)

UNDEFINED: Final = Obj("", "undefined", "lc2", None)

_MAX_DIGITS: Final = 4_000
"""Digits of a number; longer ones are no numbers (turning them into one takes quadratic time)."""


def loads(data: bytes | str) -> Value:
    """The value of JSON text. Never raises on data: what is broken is `Unreadable`."""
    marked = b'"lc"' in data if isinstance(data, bytes) else '"lc"' in data
    return _loads(data, revive if marked else None)


def loads_plain(data: bytes | str) -> Value:
    """As `loads`, with constructor dicts left as the dicts that they are."""
    return _loads(data, None)


def _loads(data: bytes | str, revive_dict: Any) -> Value:
    try:
        if isinstance(data, bytes):
            data = data.decode("utf-8", "surrogateescape")
        try:
            return json.loads(data, object_hook=revive_dict)
        except json.JSONDecodeError as e:
            why = "truncated" if e.pos >= len(data.rstrip()) - 1 else f"not JSON ({e.msg})"
            return Unreadable("empty" if not data else why, _size(data))
        except ValueError:
            # More digits than Python turns into a number.
            return json.loads(data, object_hook=revive_dict, parse_int=_long_int)
    except RecursionError:
        return Unreadable(TOO_DEEP, _size(data))
    except ValueError as e:
        return Unreadable(f"not JSON ({e})", _size(data))


def _size(data: bytes | str) -> int:
    return len(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))


def _long_int(digits: str) -> Value:
    if len(digits) > _MAX_DIGITS:
        return Unreadable(f"a number of {len(digits)} digits", len(digits))
    return int(digits)


def revive(obj: dict[str, Any]) -> Value:
    """A constructor dict as an inert value; any other dict as it is."""
    lc = obj.get("lc")
    if type(lc) is not int or lc not in (1, 2):
        return obj
    if lc == 2 and obj.get("type") == "undefined" and len(obj) == 2:
        return UNDEFINED
    path = obj.get("id")
    if obj.get("type") != "constructor" or type(path) is not list or not path:
        return obj
    if any(type(p) is not str for p in path):
        return obj
    *module, name = path
    if lc == 1:
        kwargs = obj.get("kwargs")
        if message_class(name) and type(kwargs) is dict:
            rest = tuple((k, v) for k, v in obj.items() if k not in ("lc", "type", "id", "kwargs"))
            return Obj(".".join(module), name, "lc1", kwargs, rest)
        return obj
    return _native(".".join(module), name, obj)


def _native(module: str, name: str, obj: dict[str, Any]) -> Value:
    args, kwargs = obj.get("args"), obj.get("kwargs")
    method = obj.get("method")
    if not kwargs and type(args) is list:
        if len(args) == 1 and type(args[0]) is list and _is_set(module, name):
            return SetValue(args[0], name, module, "lc2")
        if is_secret(module, name) and len(args) == 1:
            return Secret(module, name, "lc2", args)
        make = _MAKERS.get((module, name))
        if make:
            try:
                value = make(args)
            except REFUSALS:
                value = None
            if value is not None:
                return value
    data = kwargs if type(kwargs) is dict and not args else args
    rest = tuple((k, v) for k, v in obj.items() if k not in ("lc", "type", "id"))
    return Obj(module, name, "lc2", data, (method, rest))


def _is_set(module: str, name: str) -> bool:
    return (module, name) in (("builtins", "set"), ("builtins", "frozenset"), ("", "Set"))


def _exact(value: Any, text: str, shown: str) -> Any:
    return value if shown == text else None


_MAKERS: Final[dict[tuple[str, str], Any]] = {
    ("uuid", "UUID"): lambda a: _exact(v := UUID(hex=a[0]), a[0], v.hex),
    ("decimal", "Decimal"): lambda a: _exact(v := Decimal(a[0]), a[0], str(v)),
    ("datetime", "datetime"): lambda a: _exact(
        v := datetime.fromisoformat(a[0]), a[0], v.isoformat()
    ),
    ("datetime", "date"): lambda a: date(*a),
    ("datetime", "timedelta"): lambda a: timedelta(*a) if len(a) == 3 else None,
}


def dumps(value: Value) -> bytes:
    """JSON bytes (ASCII, so that lone surrogates survive). Raises `DecodeError` with the reason."""
    try:
        return json.dumps(value, default=_default, separators=(",", ":")).encode("ascii")
    except RecursionError:
        raise DecodeError("The value is nested too deep to be stored.") from None
    except (TypeError, ValueError) as e:
        raise DecodeError(f"The value cannot be stored as JSON: {e}.") from e


def _lc2(module: str, name: str, args: Any = None, kwargs: Any = None, method: Any = None) -> Any:
    path = [*module.split("."), name] if module else [name]
    out: dict[str, Any] = {"lc": 2, "type": "constructor", "id": path}
    if method is not None or not module:
        out["method"] = method
    if args is not None or not module:
        out["args"] = args or []
    if kwargs is not None or not module:
        out["kwargs"] = kwargs or {}
    return out


def _default(value: Value) -> Any:
    if isinstance(value, SetValue):
        return _lc2(value.module, value.name, [value.items])
    if isinstance(value, Obj):
        return _object(value)
    if isinstance(value, datetime):
        return _lc2("datetime", "datetime", [value.isoformat()], method="fromisoformat")
    if isinstance(value, date):
        return _lc2("datetime", "date", [value.year, value.month, value.day])
    if isinstance(value, timedelta):
        return _lc2("datetime", "timedelta", [value.days, value.seconds, value.microseconds])
    if isinstance(value, time):
        return _lc2("datetime", "time", [value.isoformat()], method="fromisoformat")
    if isinstance(value, UUID):
        return _lc2("uuid", "UUID", [value.hex])
    if isinstance(value, Decimal):
        return _lc2("decimal", "Decimal", [str(value)])
    if isinstance(value, (set, frozenset)):
        return _lc2("builtins", type(value).__name__, [list(value)])
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _object(value: Obj) -> Any:
    data = value.reveal() if isinstance(value, Secret) else value.data
    path = [*value.module.split("."), value.name] if value.module else [value.name]
    if value is UNDEFINED or (value.how == "lc2" and value.type == "undefined"):
        return {"lc": 2, "type": "undefined"}
    if value.how == "lc1":
        rest = dict(value.extra)
        return {"lc": 1, "type": "constructor", "id": path, "kwargs": data, **rest}
    if value.how == "lc2" and len(value.extra) == 2:
        rest = dict(value.extra[1])
        rest["kwargs" if isinstance(data, dict) else "args"] = data
        return {"lc": 2, "type": "constructor", "id": path, **rest}
    if value.how in ("kwargs", "pydantic", "pydantic1") and isinstance(data, dict):
        return _lc2(value.module, value.name, kwargs=data)
    if value.how == "ext":
        raise TypeError(f"{value.name} has no JSON form")
    args = data if value.how in ("args", "lc2") and isinstance(data, list) else [data]
    method = value.extra[0] if value.how == "method" and value.extra else None
    return _lc2(value.module, value.name, args, method=method)
