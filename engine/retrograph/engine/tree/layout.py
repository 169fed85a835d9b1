"""Lays out a history as rows and lanes, in time and memory linear in its checkpoints.

Below a root the line that goes on straight is the one to the newest checkpoint; inside a branch
it is the child with the most checkpoints below it. So a branch holds at most half of what hangs
off the branch before it, and n checkpoints need no more than 2 + log₂ n lanes, whatever their
shape (heavy paths: Sleator and Tarjan, "A data structure for dynamic trees", 1983). 20,000 forks
of one checkpoint take two lanes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from itertools import repeat
from operator import lt

from retrograph.engine.history import NONE, History
from retrograph.engine.links import linked
from retrograph.engine.model import ROOT
from retrograph.engine.tree.lanes import BRANCH, LAST, TOP, WITHIN, Group, Layout


def lay_out(
    history: History,
    owners: Mapping[int, int] | None = None,
    ns: str | None = None,
) -> Layout:
    """Lay out a history.

    `owners` tells for a checkpoint of a sub-graph the checkpoint of the parent graph during which
    it ran (`Thread.owners`). Groups without a known one come last, each at the left edge. An
    owner counts only if its namespace has fewer segments, so that owners cannot form a loop.
    `ns`: only that namespace (as the top of the picture) and what ran inside it.
    """
    forest = _Forest(history, owners or {}, ns)
    return _Drawing(forest).layout(len(history))


def goes_on(layout: Layout, history: History) -> Layout | None:
    """Lay out a history whose beginning is laid out, where it just goes on below the last row, as
    a thread does that is being written; `None` where all has to be laid out anew."""
    count = len(layout)
    if layout.groups or not count or len(history.namespaces()) > 1:
        return None
    added = range(count, len(history))
    above = (layout.checkpoint(count - 1), *added[:-1])
    if [history.parent(i) for i in added] != list(above[: len(added)]):
        return None
    return layout.with_more_below(len(added))


class _Forest:
    """The trees to draw: parents within a group, and groups by owner."""

    def __init__(self, history: History, owners: Mapping[int, int], ns: str | None) -> None:
        count = len(history)
        top = ROOT if ns is None else ns
        self.parent = history.parents()
        self.roots: list[int] = []
        self.groups: list[Group] = []
        self.group_roots: list[list[int]] = []
        self.owned: dict[int, list[int]] = {}
        """Groups by owner, in order of their first checkpoints."""
        self.loose: list[int] = []
        """Groups to draw at the left edge."""
        self._nest(history, owners, top, whole=ns is None)
        self.roots = [i for i in history.span(top) if self.parent[i] < 0]
        self._link(count)

    def _nest(self, history: History, owners: Mapping[int, int], top: str, whole: bool) -> None:
        """Sort the checkpoints of sub-graphs into groups, and cut parents between groups."""
        depth = {ns: ns.count("|") + 1 if ns else 0 for ns in history.namespaces()}
        oldest: list[int] = []
        for ns in history.namespaces():
            if ns == top:
                continue
            span = history.span(ns)
            numbers: dict[int, int] = {}
            own = array("i", bytes(4 * len(span)))
            counts: list[int] = []
            for k, i in enumerate(span):
                by = owners.get(i, NONE)
                if not (0 <= by < len(history) and depth[history.ns(by)] < depth[ns]):
                    by = NONE
                own[k] = by
                if by not in numbers:
                    numbers[by] = len(oldest)
                    oldest.append(i)
                    counts.append(0)
                    self.group_roots.append([])
                counts[numbers[by] - len(self.groups)] += 1
            for k, i in enumerate(span):
                parent = self.parent[i]
                if parent >= 0 and own[parent - span.start] != own[k]:
                    self.parent[i] = parent = NONE
                if parent < 0:
                    self.group_roots[numbers[own[k]]].append(i)
            self.groups += [Group(ns, by, n) for by, n in zip(numbers, counts, strict=True)]
        ids = history.ids
        for number in sorted(range(len(oldest)), key=lambda g: ids[oldest[g]]):
            by = self.groups[number].owner
            if by >= 0:
                self.owned.setdefault(by, []).append(number)
            elif whole:
                self.loose.append(number)

    def _link(self, count: int) -> None:
        """Children as linked lists, oldest first, and for each fork point which one is newest
        (leads to the greatest index) and which is largest."""
        first, following = self.first, self.following = linked(self.parent)
        ordered = all(map(lt, self.parent, range(count)))
        self.ends = self._run_ends(count)
        self.newest_child = self.largest_child = first
        if max(following, default=NONE) >= 0:
            self._rank(range(count - 1, -1, -1) if ordered else self._bottom_up())

    def _run_ends(self, count: int) -> array[int]:
        """Checkpoints that the next one is not the only child of, or under which a sub-graph ran,
        ascending. Between them lines are drawn without a look at each."""
        ends = {i for i, up in enumerate(self.parent, -1) if up != i}
        ends.update([self.parent[i + 1] for i in ends])
        ends.update(self.owned)
        ends.discard(NONE)
        if count:
            ends.add(count - 1)
        return array("i", sorted(ends))

    def _bottom_up(self) -> Iterable[int]:
        """All checkpoints, children before parents, whatever their ids say."""
        order = array("i", (i for i, up in enumerate(self.parent) if up < 0))
        for i in order:  # it grows while it is read: breadth first
            child = self.first[i]
            while child >= 0:
                order.append(child)
                child = self.following[child]
        return reversed(order)

    def _rank(self, bottom_up: Iterable[int]) -> None:
        parent = self.parent
        count = len(parent)
        size = array("i", [1]) * count
        newest = array("i", range(count))
        newest_child = array("i", [NONE]) * count
        largest_child = array("i", [NONE]) * count
        for i in bottom_up:
            up = parent[i]
            if up < 0:
                continue
            size[up] += size[i]
            rival = largest_child[up]
            if rival < 0 or (size[i], i) > (size[rival], rival):
                largest_child[up] = i
            rival = newest_child[up]
            if rival < 0 or newest[i] > newest[rival]:
                newest_child[up] = i
            if newest[i] > newest[up]:
                newest[up] = newest[i]
        self.newest_child, self.largest_child = newest_child, largest_child


class _Drawing:
    """One walk over a forest, in drawing order."""

    def __init__(self, forest: _Forest) -> None:
        self.forest = forest
        self.order: array[int] = array("i")
        self.chain: array[int] = array("i")
        self.up: array[int] = array("i")
        self.start: array[int] = array("i")
        self.how = bytearray()
        self.trunk = bytearray()
        """Chains whose straight line is the one to the newest checkpoint."""

    def layout(self, count: int) -> Layout:
        forest = self.forest
        groups = len(forest.groups)
        where = array("i", [NONE]) * count
        heads = array("i", [NONE]) * groups
        ends = array("i", [NONE]) * groups
        # (checkpoint, or −2 − group; its chain, or where a new one hangs; how it hangs there).
        # Going on in a chain is how = −1, the end of a group how = −2.
        todo = [(-2 - g, NONE, TOP) for g in reversed(forest.loose)]
        todo += [(i, NONE, TOP) for i in reversed(forest.roots)]
        while todo:
            item, chain, how = todo.pop()
            if how == -2:
                ends[item] = len(self.order)
                continue
            if how >= 0:
                chain = self._open(chain, how)
            if item < NONE:
                group = -2 - item
                heads[group] = len(self.order)
                self.order.append(item)
                self.chain.append(chain)
                todo.append((group, NONE, -2))
                todo += [(i, chain, WITHIN) for i in reversed(forest.group_roots[group])]
            else:
                self._go_down(item, chain, where, todo)
        chains = (self.up, self.start, self.how)
        return self._pack(where, heads, ends, chains)

    def _pack(
        self,
        where: array[int],
        heads: array[int],
        ends: array[int],
        chains: tuple[array[int], array[int], bytearray],
    ) -> Layout:
        """Number the groups in drawing order, and forget those that were not drawn."""
        drawn = sorted((head, g) for g, head in enumerate(heads) if head >= 0)
        for number, (head, _) in enumerate(drawn):
            self.order[head] = -2 - number
        return Layout(
            self.order,
            self.chain,
            where,
            [self.forest.groups[g] for _, g in drawn],
            array("i", [head for head, _ in drawn]),
            array("i", [ends[g] for _, g in drawn]),
            chains,
        )

    def _open(self, up: int, how: int) -> int:
        self.up.append(up)
        self.start.append(len(self.order))
        self.how.append(how)
        self.trunk.append(how in (TOP, WITHIN))
        return len(self.up) - 1

    def _go_down(
        self, i: int, chain: int, where: array[int], todo: list[tuple[int, int, int]]
    ) -> None:
        """Draw a line until something hangs off it; what is left goes on `todo`."""
        forest = self.forest
        first, following, owned = forest.first, forest.following, forest.owned
        order, chains, ends = self.order, self.chain, forest.ends
        while True:
            # As far as each is the only child of the one before it, all at once.
            end = ends[bisect_left(ends, i)]
            if end > i:
                row, some = len(order), range(i, end)
                order.extend(some)
                chains.extend(repeat(chain, len(some)))
                where[i:end] = array("i", range(row, row + len(some)))
                i = end
            where[i] = len(order)
            order.append(i)
            chains.append(chain)
            child = first[i]
            groups = owned.get(i)
            if groups is None:
                if child < 0:
                    return
                if following[child] < 0:
                    i = child
                    continue
            break
        straight = NONE
        if child >= 0:
            straight = (forest.newest_child if self.trunk[chain] else forest.largest_child)[i]
            todo.append((straight, chain, -1))
        hanging = [-2 - group for group in groups or ()]
        while child >= 0:
            if child != straight:
                hanging.append(child)
            child = following[child]
        for k in range(len(hanging) - 1, -1, -1):
            last = straight < 0 and k == len(hanging) - 1
            todo.append((hanging[k], chain, LAST if last else BRANCH))
