"""Which items of two lists stand for each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from retrograph.engine.diff.sameness import content, identity, same, token
from retrograph.engine.diff.sequence import align, increasing, occurrences
from retrograph.engine.values import Obj, Value

_PAIRS = 400
"""In gaps of more possible pairs, what is left over is paired in order instead of by likeness."""

_SAMPLE = 100
_TEXT = 2_000
"""How many parts, and characters, of an item its likeness is judged by."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Items before `low` and from `old_end`, `new_end` on are the same in both lists."""

    low: int
    old_end: int
    new_end: int
    old_of: dict[int, int]
    """Position in the new list → in the old one, between those ends. Others were added."""
    moved: set[int]
    """New positions of the items that do not stand in their old order."""
    equal: set[int]
    """New positions of items that are known to be the same."""

    def old_at(self, new: int) -> int | None:
        """Where the item at a new position stood; `None` for one that was added."""
        if new < self.low:
            return new
        if new >= self.new_end:
            return new - self.new_end + self.old_end
        return self.old_of.get(new)


def align_items(x: Sequence[Value], y: Sequence[Value]) -> Alignment:
    """Align two lists by content, by `id`, and what is left over by likeness."""
    low, x_end, y_end = _ends(x, y)
    found = Alignment(low, x_end, y_end, {}, set(), set())
    if low in (x_end, y_end) or _turned(x, y, found):
        return found
    a, b, certain = _tokens(x[low:x_end], y[low:y_end])
    kept = align(a, b)
    moved = _moved(a, b, kept)
    for i, j in [*kept, *moved]:
        found.old_of[low + j] = low + i
        if a[i] in certain:
            found.equal.add(low + j)
    # Of everything known again, the longest run in order stays; the rest has moved.
    order = sorted([*kept, *moved], key=itemgetter(1)) if moved else kept
    stay = [order[k] for k in increasing([i for i, _ in order])]
    found.moved.update(low + j for j in {j for _, j in order} - {j for _, j in stay})
    taken = {i for i, _ in order}
    at = (0, 0)
    for end in [*stay, (len(a), len(b))]:
        if at[0] < end[0] and at[1] < end[1]:
            left = [low + i for i in range(at[0], end[0]) if i not in taken]
            right = [low + j for j in range(at[1], end[1]) if low + j not in found.old_of]
            found.old_of.update((j, i) for i, j in _likest(x, y, left, right))
        at = (end[0] + 1, end[1] + 1)
    return found


def _ends(x: Sequence[Value], y: Sequence[Value]) -> tuple[int, int, int]:
    low, x_end, y_end = 0, len(x), len(y)
    while low < x_end and low < y_end and same(x[low], y[low]):
        low += 1
    while x_end > low and y_end > low and same(x[x_end - 1], y[y_end - 1]):
        x_end -= 1
        y_end -= 1
    return low, x_end, y_end


def _turned(x: Sequence[Value], y: Sequence[Value], found: Alignment) -> bool:
    """Whether just one item moved; said in `found`. (Among many equal items the general way
    might call it several moves.)"""
    low, end = found.low, found.old_end
    if end != found.new_end or end - low < 2:
        return False
    for here, there, shift in ((low, end - 1, 1), (end - 1, low, -1)):
        if not same(x[here], y[there]):
            continue
        rest = range(low, end - 1) if shift == 1 else range(low + 1, end)
        if all(same(x[j + shift], y[j]) for j in rest):
            found.old_of.update((j, j + shift) for j in rest)
            found.old_of[there] = here
            found.moved.add(there)
            found.equal.update(found.old_of)
            return True
    return False


def _tokens(
    x: Sequence[Value], y: Sequence[Value]
) -> tuple[list[Hashable], list[Hashable], set[Hashable]]:
    """What each item is known by, and which of these tokens promise equality."""
    # Numbers for tokens: hashing a number costs nothing.
    number: dict[Hashable, int] = {}
    a: list[Hashable] = [number.setdefault(token(value), len(number)) for value in x]
    known = len(number)
    b: list[Hashable] = [number.setdefault(token(value), len(number)) for value in y]
    theirs = set(b)
    certain: set[Hashable] = theirs.intersection(range(known))
    if len(certain) == len(number):
        return a, b, certain
    left = [i for i, t in enumerate(a) if t not in theirs]
    right = [j for j, t in enumerate(b) if t not in certain]
    by_id = _unique_ids(x, left).keys() & _unique_ids(y, right).keys()
    for values, tokens, indices in ((x, a, left), (y, b, right)):
        for k in indices:
            own = identity(values[k])
            key = ("id", type(own), own)
            tokens[k] = key if key in by_id else ("content", content(values[k]))
    return a, b, certain


def _unique_ids(values: Sequence[Value], indices: Sequence[int]) -> dict[Hashable, int]:
    count: Counter[Hashable] = Counter()
    for k in indices:
        own = identity(values[k])
        if own is not None:
            count["id", type(own), own] += 1
    return {key: n for key, n in count.items() if n == 1}


def _moved(
    a: Sequence[Hashable], b: Sequence[Hashable], kept: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Equal tokens that are in no kept pair, n-th with n-th."""
    old, new = {i for i, _ in kept}, {j for _, j in kept}
    here = occurrences((i, t) for i, t in enumerate(a) if i not in old)
    there = occurrences((j, t) for j, t in enumerate(b) if j not in new)
    return [(i, there[key]) for key, i in here.items() if key in there]


def _likest(
    x: Sequence[Value], y: Sequence[Value], left: Sequence[int], right: Sequence[int]
) -> list[tuple[int, int]]:
    """Pairs, in order, of old and new items between two known ones: which replaced which.

    Items with different ids are never one item.
    """
    if not left or not right:
        return []
    ids = {i: identity(x[i]) for i in left}, {j: identity(y[j]) for j in right}

    def may(i: int, j: int) -> bool:
        return ids[0][i] is None or ids[1][j] is None or ids[0][i] == ids[1][j]

    if len(left) == len(right) or len(left) * len(right) > _PAIRS:
        return [(i, j) for i, j in zip(left, right, strict=False) if may(i, j)]
    traits = {i: _traits(x[i]) for i in left}, {j: _traits(y[j]) for j in right}
    # best[p][q]: the most likeness to be had from left[p:] and right[q:]; a pair counts 1 at
    # least, so that as many as can be are paired.
    best = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for p in range(len(left) - 1, -1, -1):
        for q in range(len(right) - 1, -1, -1):
            best[p][q] = max(best[p + 1][q], best[p][q + 1])
            if may(left[p], right[q]):
                gain = 1 + _likeness(traits[0][left[p]], traits[1][right[q]])
                best[p][q] = max(best[p][q], best[p + 1][q + 1] + gain)
    pairs = []
    p = q = 0
    while p < len(left) and q < len(right):
        if best[p][q] == best[p + 1][q]:
            p += 1
        elif best[p][q] == best[p][q + 1]:
            q += 1
        else:
            pairs.append((left[p], right[q]))
            p, q = p + 1, q + 1
    return pairs


def _traits(value: Value) -> tuple[str, frozenset[Hashable]]:
    """What an item's likeness to others is judged by."""
    kind = value.type.rpartition(".")[2] if isinstance(value, Obj) else type(value).__name__
    data: Any = value.data if isinstance(value, Obj) else value
    if isinstance(data, dict):
        parts = list(data.items())[:_SAMPLE]
        return kind, frozenset((str(k), hash(token(v))) for k, v in parts)
    if isinstance(data, (list, tuple)):
        return kind, frozenset(hash(token(v)) for v in data[:_SAMPLE])
    if isinstance(data, str):
        return kind, frozenset(data[:_TEXT].split())
    return kind, frozenset()


def _likeness(x: tuple[str, frozenset[Hashable]], y: tuple[str, frozenset[Hashable]]) -> float:
    """0 … 1."""
    if x[0] != y[0]:
        return 0.0
    union = len(x[1] | y[1])
    return 0.1 + (0.9 * len(x[1] & y[1]) / union if union else 0.0)
