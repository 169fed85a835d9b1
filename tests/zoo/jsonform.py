"""Live Python objects as the JSON that the project prints for stored ones.

Independent of the engine on purpose: the engine goes from stored bytes to JSON, this goes from
the objects that LangGraph revived. What the bytes do not hold is left out here too: Pydantic
models inside a Pydantic model are stored as plain maps.
"""

import base64
import collections
import dataclasses
import datetime as dt
import decimal
import enum
import math
import pathlib
import uuid
from collections.abc import Mapping
from typing import Any


def to_json(value: Any) -> Any:
    """The JSON form of a live object, as `tests` compare it: items of sets sorted by repr."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return {"$type": _name(value), "$value": to_json(value.value)}
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": base64.b64encode(value).decode()}
    return _container(value)


def _container(value: Any) -> Any:
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return {"$tuple": [to_json(v) for v in value]}
    if isinstance(value, (set, frozenset)):
        items = {"$set": sorted((to_json(v) for v in value), key=repr)}
        return items if isinstance(value, set) else {**items, "$type": _name(value)}
    if type(value) is list:
        return [to_json(v) for v in value]
    if isinstance(value, Mapping):
        if all(isinstance(k, str) for k in value):
            return {k: to_json(v) for k, v in value.items()}
        return {"$map": [[to_json(k), to_json(v)] for k, v in value.items()]}
    return _object(value)


def _object(value: Any) -> Any:
    if isinstance(value, (dt.date, dt.time)):
        return {"$datetime": value.isoformat()}
    if dataclasses.is_dataclass(value):
        fields = {f.name: to_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {**fields, "$type": _name(value)}
    if hasattr(value, "model_dump"):
        return {**to_json(value.model_dump()), "$type": _name(value)}
    if hasattr(value, "_fields"):
        return {**to_json(value._asdict()), "$type": _name(value)}
    if isinstance(value, (uuid.UUID, decimal.Decimal)):
        return {"$type": _name(value), "$value": str(value)}
    if isinstance(value, pathlib.PurePath):
        return {"$type": _name(value), "$value": str(value)}
    if isinstance(value, dt.timedelta):
        return {"$type": _name(value), "$args": [value.days, value.seconds, value.microseconds]}
    if isinstance(value, collections.deque):
        return {"$type": _name(value), "$value": to_json(list(value))}
    if hasattr(value, "__slots__") or hasattr(value, "__dict__"):
        names = getattr(value, "__slots__", None) or vars(value)
        fields = {n: to_json(getattr(value, n)) for n in names if hasattr(value, n)}
        return {**fields, "$type": _name(value)}
    raise TypeError(f"no JSON form for {type(value)!r}")


def _name(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__name__}"
