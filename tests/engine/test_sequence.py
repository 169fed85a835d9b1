"""Alignments: in order, equal, and as long as they can be where that is cheap."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from retrograph.engine.diff.sequence import align, increasing

tokens = st.lists(st.integers(0, 4), max_size=12)


def longest(a: Sequence[int], b: Sequence[int]) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        following = [0]
        for j, y in enumerate(b):
            following.append(row[j] + 1 if x == y else max(row[j + 1], following[j]))
        row = following
    return row[-1]


def in_order(pairs: Sequence[tuple[int, int]]) -> bool:
    return all(x[0] < y[0] and x[1] < y[1] for x, y in pairwise(pairs))


@given(tokens, tokens)
def test_pairs_are_equal_and_in_order(a: list[int], b: list[int]) -> None:
    pairs = align(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert in_order(pairs)
    assert len(pairs) <= longest(a, b)


@given(st.permutations(range(9)), st.permutations(range(9)))
def test_of_different_tokens_the_most_stay(a: list[int], b: list[int]) -> None:
    assert len(align(a, b)) == longest(a, b)


def test_repeated_tokens_between_anchors() -> None:
    a, b = list("xababay"), list("xbabab_y")
    assert len(align(a, b)) == longest([ord(c) for c in a], [ord(c) for c in b])


def test_when_the_budget_runs_out_it_is_still_an_alignment() -> None:
    a = [(k * k) % 7 for k in range(4_000)]
    b = [(k * 5) % 11 for k in range(4_000)]
    pairs = align(a, b)
    assert in_order(pairs)
    assert all(a[i] == b[j] for i, j in pairs)
    assert len(pairs) > 500


@given(st.lists(st.integers(0, 9), max_size=10))
def test_increasing(numbers: list[int]) -> None:
    found = increasing(numbers)
    assert all(numbers[x] < numbers[y] for x, y in pairwise(found))
    best = [1] * len(numbers)
    for j, number in enumerate(numbers):
        best[j] += max((best[i] for i in range(j) if numbers[i] < number), default=0)
    assert len(found) == max(best, default=0)
