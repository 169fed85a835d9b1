"""What changed between two inert values: exact, small, and in the order of the values.

Maps, lists, tuples, sets and the fields of objects are looked into; a key that is gone and one
that is new are two changes, never a guessed renaming. List items are known again by content, then
by their `id` (messages); one that stands elsewhere is a move; what is left over between them is
taken as replaced, the likest with the likest, and looked into. Two values of different types, or
of different classes, are replaced whole.

Everything is linear, or on a budget: lists of 100,000 different items cost what reading them costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from retrograph.engine.diff.facing import Shape, facing
from retrograph.engine.diff.lists import Alignment, align_items
from retrograph.engine.diff.sameness import content, identity, same, surely
from retrograph.engine.diff.words import Span, word_diff
from retrograph.engine.paths import pointer
from retrograph.engine.values import (
    ABSENT,
    MAX_DEPTH,
    Delta,
    SetValue,
    Value,
    to_json,
)

Op: TypeAlias = Literal["add", "remove", "replace", "move"]
Path: TypeAlias = tuple[Any, ...]
"""Keys from the top: keys of maps as they are, names of fields, positions in lists and sets."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `old` and `new` are inert; `ABSENT` where there is none."""

    op: Op
    old_path: Path | None
    """Where it stands in the old value; `None` for an addition."""
    new_path: Path | None
    """Where it stands in the new value; `None` for a removal."""
    old: Value
    new: Value
    key: str | int | None = None
    """The `id` of the innermost list item that has one: the item itself, or what holds it."""

    @property
    def path(self) -> Path:
        """Where it stands in the new value; of a removal, where it stood."""
        return self.new_path if self.new_path is not None else self.old_path or ()

    @property
    def pointer(self) -> str:
        """`path` as a JSON Pointer."""
        return pointer(self.path)

    def words(self) -> list[Span] | None:
        """The word diff where one text replaced another and they have something in common.
        Computed at each call: ask for what is in sight."""
        if self.op == "replace" and type(self.old) is type(self.new) is str:
            return word_diff(self.old, self.new)
        return None


def diff(old: Value, new: Value) -> list[Change]:
    """The changes that lead from `old` to `new`; empty where they are equal.

    `Mapping`s (a snapshot's values) are taken as dicts. Changes come in the order of the values,
    what was removed at a place before what was added there. Of a move, nested changes follow.
    """
    found: list[Change] = []
    todo: list[Change | _Pair] = [_Pair(_plain(old), _plain(new), (), (), None)]
    while todo:
        item = todo.pop()
        if isinstance(item, Change):
            found.append(item)
        else:
            todo.extend(reversed(list(_compare(item))))
    return found


def changes_json(changes: Iterable[Change]) -> list[dict[str, Any]]:
    """`change` of the JSON contract; a move has `from` besides, and no values."""
    return [_json(change) for change in changes]


def _json(change: Change) -> dict[str, Any]:
    words = change.words()
    moved = change.op == "move"
    shape = {
        "op": change.op,
        "path": change.pointer,
        "key": change.key,
        "old": None if moved or change.old is ABSENT else to_json(change.old),
        "new": None if moved or change.new is ABSENT else to_json(change.new),
        "text": None if words is None else [[sign, text] for sign, text in words],
    }
    if moved:
        shape["from"] = pointer(change.old_path or ())
    return shape


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two values that stand for each other and may differ."""

    old: Value
    new: Value
    old_path: Path
    new_path: Path
    key: str | int | None

    def below(self, old: Value, new: Value, was: Any, now: Any, key: Any = None) -> _Pair:
        at, to = (*self.old_path, was), (*self.new_path, now)
        return _Pair(old, new, at, to, self.key if key is None else key)

    def replaced(self) -> Change:
        return Change("replace", self.old_path, self.new_path, self.old, self.new, self.key)

    def removed(self, value: Value, was: Any, key: Any = None) -> Change:
        key = self.key if key is None else key
        return Change("remove", (*self.old_path, was), None, value, ABSENT, key)

    def added(self, value: Value, now: Any, key: Any = None) -> Change:
        key = self.key if key is None else key
        return Change("add", None, (*self.new_path, now), ABSENT, value, key)


_Found: TypeAlias = "Iterable[Change | _Pair]"


def _compare(pair: _Pair) -> _Found:
    """The changes right here, and the pairs to look into, in order."""
    if surely(pair.old, pair.new):
        return ()
    found = facing(pair.old, pair.new) if len(pair.old_path) < MAX_DEPTH else None
    if found is None:
        return () if same(pair.old, pair.new) else (pair.replaced(),)
    return _COMPARE[found[0]](pair, found[1], found[2])


def _plain(value: Value) -> Value:
    return dict(value) if isinstance(value, Mapping) and type(value) is not dict else value


def _maps(pair: _Pair, x: dict[Any, Value], y: dict[Any, Value]) -> _Found:
    if not (all(type(key) is str for key in x) and all(type(key) is str for key in y)):
        return _odd_maps(pair, x, y)
    found: list[Change | _Pair] = []
    for key, old in x.items():
        new = y.get(key, ABSENT)
        if new is ABSENT:
            found.append(pair.removed(old, key))
        elif not surely(old, new):
            found.append(pair.below(old, new, key, key))
    if len(y) > len(x) or found:
        found += [pair.added(new, key) for key, new in y.items() if key not in x]
    return found


def _odd_maps(pair: _Pair, x: dict[Any, Value], y: dict[Any, Value]) -> _Found:
    """1, 1.0 and True are one key to Python and three to the store; NaN is not even itself."""
    mine = {(type(k).__name__, repr(k)): (k, v) for k, v in x.items()}
    theirs = {(type(k).__name__, repr(k)): (k, v) for k, v in y.items()}
    for name, (key, old) in mine.items():
        if name in theirs:
            yield pair.below(old, theirs[name][1], key, theirs[name][0])
        else:
            yield pair.removed(old, key)
    for name, (key, new) in theirs.items():
        if name not in mine:
            yield pair.added(new, key)


def _arguments(pair: _Pair, x: list[Value], y: list[Value]) -> _Found:
    """Each position has a meaning of its own."""
    for k, (old, new) in enumerate(zip(x, y, strict=True)):
        yield pair.below(old, new, k, k)


def _deltas(pair: _Pair, x: Delta, y: Delta) -> _Found:
    if x.snapshot is ABSENT and y.snapshot is not ABSENT:
        yield pair.added(y.snapshot, "snapshot")
    elif y.snapshot is ABSENT and x.snapshot is not ABSENT:
        yield pair.removed(x.snapshot, "snapshot")
    elif x.snapshot is not ABSENT:
        yield pair.below(x.snapshot, y.snapshot, "snapshot", "snapshot")
    yield pair.below(list(x.writes), list(y.writes), "writes", "writes")


def _sets(pair: _Pair, x: SetValue, y: SetValue) -> _Found:
    there: dict[int, list[int]] = {}
    for j, item in enumerate(y.items):
        there.setdefault(content(item), []).append(j)
    kept = set()
    for i, item in enumerate(x.items):
        twin = next(
            (j for j in there.get(content(item), ()) if j not in kept and same(item, y.items[j])),
            None,
        )
        if twin is None:
            yield pair.removed(item, i, identity(item))
        else:
            kept.add(twin)
    for j, item in enumerate(y.items):
        if j not in kept:
            yield pair.added(item, j, identity(item))


def _lists(pair: _Pair, x: list[Value], y: list[Value]) -> _Found:
    if len(x) == len(y) == 1 and _replaceable(x[0], y[0]):
        return (pair.below(x[0], y[0], 0, 0, identity(y[0])),)
    return _in_order(pair, x, y, align_items(x, y))


def _replaceable(x: Value, y: Value) -> bool:
    mine, theirs = identity(x), identity(y)
    return mine is None or theirs is None or mine == theirs


def _in_order(pair: _Pair, x: list[Value], y: list[Value], found: Alignment) -> _Found:
    low, x_end, y_end = found.low, found.old_end, found.new_end
    taken = set(found.old_of.values())
    # Where the next item that kept its order stands in the old list: up to there the removed
    # ones are told before what was added.
    upto = [x_end] * (y_end - low + 1)
    for j in range(y_end - 1, low - 1, -1):
        i = found.old_of.get(j)
        upto[j - low] = upto[j - low + 1] if i is None or j in found.moved else i
    at = low
    for j in range(low, y_end + 1):
        while at < upto[j - low]:
            if at not in taken:
                yield pair.removed(x[at], at, identity(x[at]))
            at += 1
        if j == y_end:
            return
        was = found.old_of.get(j)
        if j in found.equal and j not in found.moved:
            continue
        key = identity(y[j])
        if was is None:
            yield pair.added(y[j], j, key)
            continue
        below = pair.below(x[was], y[j], was, j, key)
        if j in found.moved:
            yield Change("move", below.old_path, below.new_path, x[was], y[j], below.key)
        if j not in found.equal:
            yield below


_COMPARE: Final[dict[Shape, Callable[[_Pair, Any, Any], _Found]]] = {
    "map": _maps,
    "list": _lists,
    "args": _arguments,
    "set": _sets,
    "delta": _deltas,
}
