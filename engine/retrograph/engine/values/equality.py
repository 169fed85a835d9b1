"""Whether two inert values mean the same."""

from __future__ import annotations

import json
from datetime import datetime, time
from decimal import Decimal
from typing import Any

from retrograph.engine.values.jsonform import to_json
from retrograph.engine.values.kinds import (
    Delta,
    MapValue,
    Obj,
    Secret,
    SetValue,
    Unreadable,
    Value,
)
from retrograph.engine.values.messages import is_message, message_fields


def equal(a: Value, b: Value) -> bool:
    """Deep equality. Strict about types (1, 1.0 and True differ; NaN equals NaN), blind to the
    order of map keys and set items, and to which of the by-name forms a class was stored in.

    Iterative, so that depth is no matter.
    """
    stack: list[tuple[Value, Value]] = [(a, b)]
    while stack:
        x, y = stack.pop()
        if x is y:
            continue
        if isinstance(x, Obj) or isinstance(y, Obj):
            if not _push_obj(x, y, stack):
                return False
            continue
        if isinstance(x, Delta) and isinstance(y, Delta):
            if len(x.writes) != len(y.writes):
                return False
            stack.append((x.snapshot, y.snapshot))
            stack.extend(zip(x.writes, y.writes, strict=True))
            continue
        kind = type(x)
        if kind is not type(y):
            return False
        if kind is dict:
            if not _push_dict(x, y, stack):
                return False
        elif kind is list or kind is tuple:
            if len(x) != len(y):
                return False
            stack.extend(zip(x, y, strict=True))
        elif kind is float:
            if x != y and (x == x or y == y):
                return False
        elif kind is MapValue:
            if len(x) != len(y):
                return False
            for (k1, v1), (k2, v2) in zip(x.pairs, y.pairs, strict=True):
                stack.append((k1, k2))
                stack.append((v1, v2))
        elif kind is Unreadable:
            if (x.why, x.nbytes) != (y.why, y.nbytes):
                return False
            stack.append((x.partial, y.partial))
        elif kind is Decimal:
            if x.as_tuple() != y.as_tuple():
                return False
        elif kind in (datetime, time):
            if x != y or x.isoformat() != y.isoformat():
                return False
        elif x != y:
            return False
    return True


def _push_dict(x: dict[Any, Value], y: dict[Any, Value], stack: list[tuple[Value, Value]]) -> bool:
    if len(x) != len(y):
        return False
    try:
        for key, value in x.items():
            stack.append((value, y[key]))
    except KeyError:
        return _push_odd_keys(x, y, stack)
    # 1, 1.0 and True are one key to Python and three to msgpack.
    return all(type(k) is str for k in x) or sorted(map(_key, x)) == sorted(map(_key, y))


def _push_odd_keys(
    x: dict[Any, Value], y: dict[Any, Value], stack: list[tuple[Value, Value]]
) -> bool:
    """Keys that do not equal themselves: NaN."""
    mine = {_key(k): v for k, v in x.items()}
    theirs = {_key(k): v for k, v in y.items()}
    if mine.keys() != theirs.keys():
        return False
    stack.extend((mine[k], theirs[k]) for k in mine)
    return True


def _key(key: object) -> str:
    return f"{type(key).__name__} {key!r}"


def _push_obj(x: Value, y: Value, stack: list[tuple[Value, Value]]) -> bool:
    if not (isinstance(x, Obj) and isinstance(y, Obj)) or x.type != y.type:
        return False
    if x.sealed is not None and x.sealed == y.sealed:
        return True
    if x.how in ("method", "ext") and x.extra != y.extra:
        return False
    if isinstance(x, Secret) and isinstance(y, Secret):
        stack.append((x.reveal(), y.reveal()))
    elif type(x.data) is type(y.data) is list and isinstance(x, SetValue) and x.how == y.how:
        return _same_items(x.data, y.data)
    elif "lc1" in (x.how, y.how) and is_message(x) and is_message(y):
        # LangChain's own form leaves out a type that the class implies.
        stack.append((message_fields(x), message_fields(y)))
    elif x.how == y.how:
        stack.append((x.data, y.data))
    elif x.fields is not None and y.fields is not None:
        # The same fields may be stored in several forms.
        stack.append((x.fields, y.fields))
    else:
        return False
    return True


def _same_items(a: list[Value], b: list[Value]) -> bool:
    return len(a) == len(b) and sorted(map(_canonical, a)) == sorted(map(_canonical, b))


def _canonical(item: Value) -> str:
    if isinstance(item, (str, int, float)):
        return f"{type(item).__name__} {item!r}"
    return json.dumps(to_json(item), sort_keys=True)
