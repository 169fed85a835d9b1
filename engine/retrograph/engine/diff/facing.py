"""What of two values is compared part by part, and what only as a whole."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from retrograph.engine.values import (
    MAX_DEPTH,
    Delta,
    Obj,
    Secret,
    SetValue,
    Value,
    is_message,
    message_fields,
)

Shape: TypeAlias = Literal["map", "list", "args", "set", "delta"]
"""Two dicts; two lists or tuples; two argument lists of one length, each position with a meaning
of its own; two `SetValue`s; two `Delta`s."""

Facing: TypeAlias = tuple[Shape, Any, Any]


def facing(x: Value, y: Value) -> Facing | None:
    """The parts of two values; `None` where one can only be replaced by the other.

    Of objects of one class these are the fields; what an object without named fields holds
    stands, for paths, in the object's own place.
    """
    if isinstance(x, Obj) and isinstance(y, Obj):
        return _objects(x, y)
    kind = type(x)
    if kind is type(y):
        if kind is dict:
            return "map", x, y
        if kind is list or kind is tuple:
            return "list", x, y
    if isinstance(x, Delta) and isinstance(y, Delta):
        return "delta", x, y
    return None


def one_class(x: str, y: str) -> bool:
    """Whether two names mean one class: a module that is run as a program stores its classes as
    `__main__`'s, and when it is imported, by its own name."""
    if x == y:
        return True
    main = "__main__"
    if y.startswith(main):
        x, y = y, x
    return x.startswith(main) and y.endswith(x[len(main) :])


def _objects(x: Obj, y: Obj) -> Facing | None:
    for _ in range(MAX_DEPTH):
        if not one_class(x.type, y.type) or x.how == "ext":
            return None
        if isinstance(x, Secret) or isinstance(y, Secret):
            return None
        if isinstance(x, SetValue) and isinstance(y, SetValue):
            return "set", x, y
        fields = _fields(x, y)
        if fields is not None:
            return "map", *fields
        if x.how != y.how or x.extra != y.extra:
            return None
        old, new = x.data, y.data
        if not (isinstance(old, Obj) and isinstance(new, Obj)):
            return _held(old, new)
        x, y = old, new
    return None


def _fields(x: Obj, y: Obj) -> tuple[dict[str, Value], dict[str, Value]] | None:
    """Fields by name, where both have them. LangChain's own form of a message leaves out a type
    that the class implies."""
    if x.how != y.how and "args" in (x.how, y.how):
        return None
    if "lc1" in (x.how, y.how) and is_message(x) and is_message(y):
        return message_fields(x), message_fields(y)
    mine, theirs = x.fields, y.fields
    return None if mine is None or theirs is None else (mine, theirs)


def _held(x: Value, y: Value) -> Facing | None:
    if type(x) is dict and type(y) is dict:
        return "map", x, y
    if type(x) is list and type(y) is list and len(x) == len(y):
        return "args", x, y
    return None
