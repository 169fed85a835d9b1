"""Aligns two sequences: what stayed, in order. Never quadratic.

What is equal at both ends is taken off first; then tokens that occur once on each side are the
anchors (the longest increasing run of them: "patience" diff, Bram Cohen); between anchors the
greedy algorithm of E. Myers, "An O(ND) difference algorithm and its variations" (1986), on a
budget; and where that runs out, the n-th occurrence here is matched with the n-th there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import islice
from operator import lt

Pair = tuple[int, int]
"""(index in the first sequence, index in the second)."""

_STEPS = 4_000
"""Steps that Myers' algorithm may take in one gap, beside some for each token."""


def align(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    """Pairs of equal tokens, increasing on both sides; the longest such list or nearly so."""
    low, a_end, b_end = trim(a, b, 0, len(a), 0, len(b))
    head = [(k, k) for k in range(low)]
    tail = [(a_end + k, b_end + k) for k in range(len(a) - a_end)]
    if low in (a_end, b_end):
        return head + tail
    anchors = _anchors(a, b, low, a_end, b_end)
    middle = []
    i = j = low
    for x, y in [*anchors, (a_end, b_end)]:
        if i < x and j < y:
            middle += _gap(a, b, i, x, j, y)
        if x < a_end:
            middle.append((x, y))
        i, j = x + 1, y + 1
    return head + middle + tail


def trim(
    a: Sequence[Hashable], b: Sequence[Hashable], i: int, i_end: int, j: int, j_end: int
) -> tuple[int, int, int]:
    """How far equal tokens go on from `i` and `j`, and from where on they are equal to the ends:
    (end of the equal beginning in `a`, where the equal end begins in `a`, and in `b`)."""
    while i < i_end and j < j_end and a[i] == b[j]:
        i += 1
        j += 1
    while i < i_end and j < j_end and a[i_end - 1] == b[j_end - 1]:
        i_end -= 1
        j_end -= 1
    return i, i_end, j_end


def increasing(values: Sequence[int]) -> list[int]:
    """Indices of a longest strictly increasing subsequence (patience sorting, O(n log n))."""
    if all(map(lt, values, islice(values, 1, None))):
        return list(range(len(values)))
    tops: list[int] = []
    piles: list[int] = []
    before: list[int] = []
    for k, value in enumerate(values):
        pile = len(tops) if not tops or value > tops[-1] else bisect_left(tops, value)
        before.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(value)
            piles.append(k)
        else:
            tops[pile] = value
            piles[pile] = k
    found = []
    k = piles[-1] if piles else -1
    while k >= 0:
        found.append(k)
        k = before[k]
    found.reverse()
    return found


def occurrences(pairs_of: Iterable[tuple[int, Hashable]]) -> dict[tuple[Hashable, int], int]:
    """(token, how many times it was there before) → index."""
    seen: Counter[Hashable] = Counter()
    found = {}
    for index, token in pairs_of:
        found[token, seen[token]] = index
        seen[token] += 1
    return found


def _anchors(
    a: Sequence[Hashable], b: Sequence[Hashable], low: int, a_end: int, b_end: int
) -> list[Pair]:
    count_a = Counter(a[low:a_end])
    count_b = Counter(b[low:b_end])
    place = {b[j]: j for j in range(low, b_end) if count_b[b[j]] == 1}
    once = [i for i in range(low, a_end) if count_a[a[i]] == 1 and a[i] in place]
    there = [place[a[i]] for i in once]
    return [(once[k], there[k]) for k in increasing(there)]


def _gap(
    a: Sequence[Hashable], b: Sequence[Hashable], i: int, i_end: int, j: int, j_end: int
) -> list[Pair]:
    """Equal tokens between two anchors."""
    at, a_end, b_end = trim(a, b, i, i_end, j, j_end)
    found = [(k, j + k - i) for k in range(i, at)]
    tail = [(a_end + k, b_end + k) for k in range(i_end - a_end)]
    i, j = at, j + at - i
    # What has no equal on the other side cannot be in a pair.
    there, here = set(b[j:b_end]), set(a[i:a_end])
    left = [k for k in range(i, a_end) if a[k] in there]
    right = [k for k in range(j, b_end) if b[k] in here]
    if left and right:
        x, y = [a[k] for k in left], [b[k] for k in right]
        pairs = _myers(x, y, _STEPS + 4 * (len(x) + len(y)))
        if pairs is None:
            pairs = _by_occurrence(x, y)
        found += [(left[p], right[q]) for p, q in pairs]
    return found + tail


def _by_occurrence(x: Sequence[Hashable], y: Sequence[Hashable]) -> list[Pair]:
    place = occurrences(enumerate(y))
    met = [(i, place[key]) for key, i in occurrences(enumerate(x)).items() if key in place]
    met.sort()
    return [met[k] for k in increasing([j for _, j in met])]


def _myers(x: Sequence[Hashable], y: Sequence[Hashable], steps: int) -> list[Pair] | None:
    """A longest common subsequence, or `None` where it takes more than `steps`."""
    n, m = len(x), len(y)
    furthest = {1: 0}
    trace: list[dict[int, int]] = []
    for edits in range(n + m + 1):
        trace.append(dict(furthest))
        steps -= 2 * edits + 1
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            i = furthest[k + 1] if down else furthest[k - 1] + 1
            j = i - k
            begun = i
            while i < n and j < m and x[i] == y[j]:
                i += 1
                j += 1
            steps -= i - begun
            furthest[k] = i
            if i >= n and j >= m:
                return _walk_back(trace, n, m)
            if steps < 0:
                return None
    raise AssertionError("every pair of sequences has an edit script")


def _walk_back(trace: Sequence[dict[int, int]], i: int, j: int) -> list[Pair]:
    found = []
    for edits in range(len(trace) - 1, -1, -1):
        furthest = trace[edits]
        k = i - j
        down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
        before_k = k + 1 if down else k - 1
        before_i = furthest[before_k]
        before_j = before_i - before_k
        while i > before_i and j > before_j and i > 0 and j > 0:
            i, j = i - 1, j - 1
            found.append((i, j))
        i, j = before_i, before_j
    found.reverse()
    return found
