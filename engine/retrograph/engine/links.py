"""From parents to children: for each checkpoint its first child and its next sibling, both oldest
first, as two flat arrays."""

from __future__ import annotations

from array import array
from itertools import pairwise

NONE = -1
"""No checkpoint."""


def linked(parents: array[int]) -> tuple[array[int], array[int]]:
    """The links, by the parent of each checkpoint."""
    count = len(parents)
    # Most are the children of the one before: these are linked at once, the others one by one.
    first = array("i", range(1, count + 1))
    following = array("i", [NONE]) * count
    if count:
        first[-1] = NONE
    strays: dict[int, list[int]] = {}
    for i, parent in enumerate(parents, -1):
        if parent != i:
            if i >= 0:
                first[i] = NONE
            if parent >= 0:
                strays.setdefault(parent, []).append(i + 1)
    for parent, children in strays.items():
        if first[parent] >= 0:
            children.append(first[parent])
            children.sort()
        first[parent] = children[0]
        for child, sibling in pairwise(children):
            following[child] = sibling
    return first, following


def linked_on(
    links: tuple[array[int], array[int]], parents: array[int]
) -> tuple[array[int], array[int]]:
    """The links where checkpoints have been added, each behind its parent."""
    first, following = links[0][:], links[1][:]
    for i in range(len(first), len(parents)):
        first.append(NONE)
        following.append(NONE)
        parent = parents[i]
        if parent >= 0:
            elder = first[parent]
            if elder < 0:
                first[parent] = i
                continue
            while following[elder] >= 0:
                elder = following[elder]
            following[elder] = i
    return first, following
