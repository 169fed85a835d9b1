"""One place of a value, found again in other versions of that value.

Items of lists are known again by their `id` (messages), else by their content, else by their
position; everything else by its key. A DeltaChannel counts as the list of its snapshot and writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from retrograph.engine.sameness import identity, same
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
        nth = 0
        if own is None:
            nth = sum(same(other, held) for _, other in _items(value, key))
        return _Item(key, own, held, nth), 1, held
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
        return (step.at,), here
    return (), ABSENT


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
