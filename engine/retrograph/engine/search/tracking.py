"""One place of a value, found again in other versions of that value.

Items of lists are known again by their `id` (messages), else by their content, else by their
position; everything else by its key. A DeltaChannel counts as the list of its snapshot and writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from retrograph.engine.diff.lists import align_items
from retrograph.engine.diff.sameness import identity, same
from retrograph.engine.values import ABSENT, Delta, SetValue, Value, children


@dataclass(frozen=True, slots=True)
class _Item:
    """An item of a list."""

    at: int
    """Its position, where it was anchored."""
    id: str | int | None
    content: Value
    nth: int
    """How many equal items stood before it."""
    count: int = 0
    """Items of the list."""
    near: Value = ABSENT
    """The item before it, or after it where it is the first."""


class Track:
    """A place, anchored at one version of a value."""

    def __init__(self, value: Value, path: Sequence[object]) -> None:
        """`path`: keys as `paths.resolve` gives them."""
        self._steps: list[object] = []
        rest = list(path)
        while rest:
            step, taken, value = _anchor(value, rest)
            self._steps.append(step)
            del rest[:taken]

    @property
    def id(self) -> str | int | None:
        """The `id` of the innermost list item that has one."""
        found = [s.id for s in self._steps if isinstance(s, _Item) and s.id is not None]
        return found[-1] if found else None

    def find(self, value: Value) -> tuple[tuple[Any, ...], Value]:
        """The keys to the place in another version, and what stands there; `ABSENT` where the
        place is not there."""
        done: tuple[Any, ...] = ()
        for step in self._steps:
            if isinstance(step, _Item):
                keys, value = _known_again(value, step)
            else:
                keys, value = (step,), _under(value, step)
            done += keys
            if value is ABSENT:
                break
        return done, value

    def holds(self, write: Value, value: Value) -> bool:
        """Whether a value that was written to the channel can be what put `value` there."""
        steps = self._steps
        item = next((k for k, s in enumerate(steps) if isinstance(s, _Item)), None)
        if item is not None:
            step = steps[item]
            assert isinstance(step, _Item)
            for found in [write, *(held for _, held in _items(write))]:
                if step.id is not None and identity(found) == step.id:
                    return True
                if step.id is None and same(found, step.content):
                    return True
        return same(self.find(write)[1], value)


def earlier(newer: Value, older: Value, path: Sequence[object]) -> tuple[tuple[object, ...], Value]:
    """Where a place of a value stood one version before, and what stood there; `ABSENT` where it
    was not there. Items of lists are aligned as in a diff."""
    if isinstance(newer, Delta) or isinstance(older, Delta):
        return Track(newer, path).find(older)
    done: list[object] = []
    for key in path:
        held = _under(newer, key)
        x, y = _listed(older), _listed(newer)
        was: object = key
        if isinstance(key, int) and x and y:
            own = identity(held)
            if own is not None:
                was = next((k for k, item in enumerate(x) if identity(item) == own), None)
            else:
                was = align_items(x, y).old_at(key)
        newer, older = held, ABSENT if was is None else _under(older, was)
        done.append(was)
        if older is ABSENT:
            break
    return tuple(done), older


def _anchor(value: Value, path: Sequence[object]) -> tuple[object, int, Value]:
    """(step, how many keys of the path it stands for, what stands there)."""
    if isinstance(value, Delta):
        held: Value = value
        for taken, key in enumerate(path, 1):
            held = _under(held, key)
            if (own := identity(held)) is not None:
                return _Item(0, own, held, 0), taken, held
    key = path[0]
    held = _under(value, key)
    if isinstance(value, (list, tuple, SetValue)) and isinstance(key, int):
        own = identity(held)
        if own is not None:
            return _Item(key, own, held, 0), 1, held
        nth = sum(same(other, held) for _, other in _items(value, key))
        near = _under(value, _near(key))
        return _Item(key, None, held, nth, len(_listed(value)), near), 1, held
    return key, 1, held


def _known_again(value: Value, step: _Item) -> tuple[tuple[Any, ...], Value]:
    here = _under(value, step.at) if isinstance(value, (list, tuple, SetValue)) else ABSENT
    if step.id is not None:
        if here is not ABSENT and identity(here) == step.id:
            return (step.at,), here
        for keys, held in _items(value):
            if identity(held) == step.id:
                return keys, held
        return (), ABSENT
    nth = step.nth
    for keys, held in _items(value):
        if same(held, step.content):
            if nth == 0:
                return keys, held
            nth -= 1
    if here is not ABSENT and identity(here) is None:
        # Changed in its place, if what is around it is the same.
        near = _under(value, _near(step.at))
        around = near is not ABSENT and step.near is not ABSENT and same(near, step.near)
        if around or len(_listed(value)) == step.count:
            return (step.at,), here
    return (), ABSENT


def _near(at: int) -> int:
    return at - 1 if at else 1


def _listed(value: Value) -> Sequence[Value]:
    if isinstance(value, SetValue):
        return value.items
    return value if isinstance(value, (list, tuple)) else ()


def _items(value: Value, before: int | None = None) -> Iterator[tuple[tuple[Any, ...], Value]]:
    """(keys, item) of a list, a set, or of a DeltaChannel's snapshot and writes."""
    if isinstance(value, SetValue):
        value = value.items
    if isinstance(value, (list, tuple)):
        for k, item in enumerate(value[:before]):
            yield (k,), item
    elif isinstance(value, Delta):
        for keys, item in _items(value.snapshot):
            yield ("snapshot", *keys), item
        for k, write in enumerate(value.writes):
            yield ("writes", k), write
            for keys, item in _items(write):
                yield ("writes", k, *keys), item


def _under(value: Value, key: object) -> Value:
    if isinstance(value, (list, tuple)):
        return value[key] if isinstance(key, int) and 0 <= key < len(value) else ABSENT
    if isinstance(value, dict) and type(key) is str:
        return value.get(key, ABSENT)
    for name, held in children(value):
        if type(name) is type(key) and name == key:
            return held
    return ABSENT
