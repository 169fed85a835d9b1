"""An inert value with one place changed. Nothing is changed in place: what is shared stays so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from retrograph.engine.errors import RefError, UsageError
from retrograph.engine.paths import Key, pointer, resolve
from retrograph.engine.values import (
    ABSENT,
    MapValue,
    Obj,
    SetValue,
    Value,
    children,
    from_json,
    map_of,
    type_name,
)

Make = Callable[[Value], Value]
"""From what stands there (`ABSENT`: nothing) to what shall stand there (`ABSENT`: remove it)."""


def put(value: Value, path: Sequence[Key], new: Any) -> Value:
    """The value with `new`, as `from_json` reads it, at a path: in place of what stands there, as
    a new key of a map, a new field of an object, or at the end of a list (`-`, or one more than it
    has). Raises `RefError` where the path leads nowhere, `UsageError` for a malformed value."""
    return _changed(value, list(path), lambda old: from_json(new, like=old), [])


def remove(value: Value, path: Sequence[Key]) -> Value:
    """The value without what stands at a path. Raises `RefError`, `UsageError`."""
    resolve(value, path)
    return _changed(value, list(path), lambda old: ABSENT, [])


def _changed(value: Value, path: list[Key], make: Make, done: list[object]) -> Value:
    if not path:
        return make(value)
    key, *rest = path
    real, old = _below(value, key, bool(rest), done)
    return _with(value, real, _changed(old, rest, make, [*done, real]), done)


def _below(value: Value, key: Key, deeper: bool, done: list[object]) -> tuple[object, Value]:
    """The key as it is in the value, and what stands there, `ABSENT` for a new one."""
    try:
        (real,), found = resolve(value, (key,))
        return real, found
    except RefError:
        new = None if deeper else _new_key(value, key)
        if new is None:
            # Again, for the sentence with the whole path.
            where = pointer(done)
            try:
                resolve(value, (key,))
            except RefError as error:
                text = str(error)
                raise RefError(f"{where}: {text}" if where else text) from None
        return new, ABSENT


def _new_key(value: Value, key: Key) -> object | None:
    if isinstance(value, (list, tuple)) and not isinstance(value, str):
        return len(value) if key in ("-", len(value), str(len(value))) else None
    if isinstance(value, SetValue):
        return len(value) if key == "-" else None
    if isinstance(value, (dict, MapValue)):
        return str(key)
    if isinstance(value, Obj) and value.fields is not None:
        return str(key)
    return None


def _with(value: Value, key: Any, new: Value, done: list[object]) -> Value:
    """The value with another part."""
    if isinstance(value, (list, tuple)):
        items = list(value)
        items[key : key + 1] = [] if new is ABSENT else [new]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, SetValue):
        items = list(value.items)
        items[key : key + 1] = [] if new is ABSENT else [new]
        return SetValue(items, value.name, value.module, value.how)
    if isinstance(value, dict):
        return {k: v for k, v in {**value, key: new}.items() if v is not ABSENT}
    if isinstance(value, MapValue):
        pairs = [(k, new if _same_key(k, key) else v) for k, v in value.pairs]
        if not any(_same_key(k, key) for k, _ in value.pairs):
            pairs.append((key, new))
        return map_of([(k, v) for k, v in pairs if v is not ABSENT])
    if isinstance(value, Obj) and value.fields is not None:
        return _object(value, {**value.fields, key: new})
    names = [name for name, _ in children(value)]
    if key in names:
        raise UsageError(
            f"{pointer(done) or 'The value'} is a {type_name(value)}, of which no single part can "
            "be edited: set the whole."
        )
    raise AssertionError(f"no key of {type(value).__name__}")


def _same_key(a: object, b: object) -> bool:
    return type(a) is type(b) and a == b


def _object(value: Obj, fields: dict[str, Value]) -> Obj:
    kept = {k: v for k, v in fields.items() if v is not ABSENT}
    data: Value = kept
    if value.how == "args":
        # By position: names in the order of the arguments.
        data = list(kept.values())
    return Obj(value.module, value.name, value.how, data, value.extra)
