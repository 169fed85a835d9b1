"""Changes put into effect: what must turn the old value of a diff into the new one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from retrograph.engine.diff.changes import Change
from retrograph.engine.values import ABSENT, Delta, Obj, SetValue, Value, map_of


def apply(old: Value, changes: Sequence[Change]) -> Value:
    return _at(old, list(changes), 0)


def _at(value: Value, changes: list[Change], depth: int) -> Value:
    if not changes:
        return value
    for change in changes:
        if len(change.path) == depth and change.op == "replace":
            return change.new
    changes = [c for c in changes if len(c.path) > depth]
    if isinstance(value, SetValue):
        return _set(value, changes, depth)
    if isinstance(value, Obj):
        data = _at(value.data, changes, depth)
        return Obj(value.module, value.name, value.how, data, value.extra)
    if isinstance(value, Delta):
        parts: dict[Any, Value] = {"writes": list(value.writes)}
        if value.snapshot is not ABSENT:
            parts["snapshot"] = value.snapshot
        parts = _dict(parts, changes, depth)
        return Delta(parts.get("snapshot", ABSENT), parts["writes"])
    if isinstance(value, dict):
        return _dict(value, changes, depth)
    if isinstance(value, tuple):
        return tuple(_list(value, changes, depth))
    assert isinstance(value, list), (value, changes)
    return _list(value, changes, depth)


def _here(changes: Iterable[Change], op: str, depth: int) -> list[Change]:
    return [c for c in changes if c.op == op and len(c.path) == depth + 1]


def _set(value: SetValue, changes: list[Change], depth: int) -> SetValue:
    gone = {c.path[depth] for c in _here(changes, "remove", depth)}
    items = [item for i, item in enumerate(value.items) if i not in gone]
    items += [c.new for c in _here(changes, "add", depth)]
    return SetValue(items, value.name, value.module, value.how)


def _dict(value: dict[Any, Value], changes: list[Change], depth: int) -> Any:
    def name(key: Any) -> tuple[str, str]:
        return type(key).__name__, repr(key)

    gone = {name(c.path[depth]) for c in _here(changes, "remove", depth)}
    come = _here(changes, "add", depth)
    inside = [c for c in changes if len(c.path) > depth + 1 or c.op in ("replace", "move")]
    out = [
        (key, _at(v, [c for c in inside if name(c.path[depth]) == name(key)], depth + 1))
        for key, v in value.items()
        if name(key) not in gone
    ]
    return map_of([*out, *((c.path[depth], c.new) for c in come)])


def _list(value: Sequence[Value], changes: list[Change], depth: int) -> list[Value]:
    gone = {c.path[depth] for c in _here(changes, "remove", depth)}
    come = {c.path[depth]: c.new for c in _here(changes, "add", depth)}
    moved = {}
    for change in _here(changes, "move", depth):
        assert change.old_path is not None
        moved[change.path[depth]] = change.old_path[depth]
    listed = {id(c) for op in ("add", "remove", "move") for c in _here(changes, op, depth)}
    inside = [c for c in changes if id(c) not in listed]
    stay = [i for i in range(len(value)) if i not in gone and i not in moved.values()]
    out = []
    for j in range(len(value) - len(gone) + len(come)):
        if j in come:
            out.append(come[j])
            continue
        i = moved[j] if j in moved else stay.pop(0)
        own = [
            c
            for c in inside
            if (c.new_path is not None and c.new_path[depth] == j)
            or (c.new_path is None and c.old_path is not None and c.old_path[depth] == i)
        ]
        out.append(_at(value[i], own, depth + 1))
    assert not stay
    return out
