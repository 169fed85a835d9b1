"""The history as a picture: which checkpoint stands in which row, and which lanes before it.

    ○ input
    ● START → price             the root stands on top, its line goes down in its lane
    ● price → ship | hold       a fork point
    ├─◆ edit path               a branch hangs off the fork point, one lane further right,
    │ ● hold → END              and is drawn to its end,
    ● ship → check              before the line goes on below
    ├─▼ check                   the sub-graph that ran here: a header, and its own tree
    │ ○ input
    │ ● START → look
    ● check → END

Below the root the line that goes on straight is the one to the newest checkpoint; inside a branch
it is the child with the most checkpoints below it. So a branch holds at most half of what hangs
off the branch before it, and n checkpoints need no more than 1 + log₂ n lanes, whatever their
shape (heavy paths: Sleator and Tarjan, "A data structure for dynamic trees", 1983). 20,000 forks
of one checkpoint take two.

An *entry* is a row of the whole picture: a checkpoint, or the header of a group (the checkpoints
that a sub-graph made during one checkpoint of its parent). Entries are numbered in drawing order.
A *chain* is a run of entries in one lane, each but the first the child of one before it.
`Layout` holds 12 bytes a checkpoint and a few a chain; prefixes are made when asked for.
`retrograph.engine.folding` hides entries, `retrograph.engine.treerows` puts words to them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from retrograph.engine.history import NONE, History
from retrograph.engine.model import ROOT


class Glyphs(NamedTuple):
    """What lanes are drawn with."""

    through: str
    branch: str
    last: str
    dash: str
    cut: str


UNICODE = Glyphs("│", "├", "╰", "─", "…")
ASCII = Glyphs("|", "+", "\\", "-", "~")


class Group(NamedTuple):
    """What one sub-graph namespace did during one checkpoint of its parent graph."""

    ns: str
    owner: int
    """The checkpoint during which it ran; `NONE` where the store does not tell."""
    checkpoints: int
    """Without those of sub-graphs further down."""


class Cell(NamedTuple):
    """A piece of a prefix, and whether it lies on the highlighted line."""

    text: str
    on: bool


Line = Mapping[int, int]
"""The way from a root to an entry: chain → its last entry on that way. See `Layout.line`."""

# How a chain begins, seen from the chain before it.
_TOP, _BRANCH, _LAST, _WITHIN = 0, 1, 2, 3


class Layout:
    """The whole picture of a history, laid out once; see `lay_out`."""

    __slots__ = ("_chain", "_ends", "_heads", "_how", "_order", "_start", "_up", "_where", "groups")

    def __init__(
        self,
        order: array[int],
        chain: array[int],
        where: array[int],
        groups: Sequence[Group],
        heads: array[int],
        ends: array[int],
        chains: tuple[array[int], array[int], bytearray],
    ) -> None:
        self._order = order
        self._chain = chain
        self._where = where
        self.groups = groups
        self._heads = heads
        self._ends = ends
        self._up, self._start, self._how = chains

    def __len__(self) -> int:
        """Entries: checkpoints and group headers."""
        return len(self._order)

    def checkpoint(self, entry: int) -> int:
        """The checkpoint in a row, `NONE` for a group's header."""
        return max(self._order[entry], NONE)

    def group(self, entry: int) -> int:
        """The number of the group whose header this is (into `groups`), else `NONE`."""
        item = self._order[entry]
        return -2 - item if item < NONE else NONE

    def entry(self, checkpoint: int) -> int:
        """The row of a checkpoint, `NONE` where it is not in this picture."""
        return self._where[checkpoint]

    def header(self, group: int) -> int:
        """The row of a group's header."""
        return self._heads[group]

    def inside(self, group: int) -> range:
        """The rows of a group below its header, sub-graphs further down included."""
        return range(self._heads[group] + 1, self._ends[group])

    def lane(self, entry: int) -> int:
        """Lanes to the left of a row's glyph."""
        chain, lane = self._chain[entry], 0
        while chain >= 0:
            lane += self._how[chain] in (_BRANCH, _LAST)
            chain = self._up[chain]
        return lane

    def starts(self, entry: int) -> bool:
        """Whether a row begins a tree of its own: a root, at the top or in its group."""
        chain = self._chain[entry]
        return self._start[chain] == entry and self._how[chain] in (_TOP, _WITHIN)

    def line(self, entry: int) -> Line:
        """The way from the root to a row, through the owners of sub-graphs, as last rows by chain.

        It costs as many steps as there are lanes, however long the line is.
        """
        found: dict[int, int] = {}
        chain, last = self._chain[entry], entry
        while chain >= 0:
            found[chain] = last
            last = self._start[chain]
            chain = self._up[chain]
        return found

    def on(self, entry: int, line: Line) -> bool:
        """Whether a row lies on a line."""
        return line.get(self._chain[entry], NONE) >= entry

    def cells(
        self,
        entry: int,
        glyphs: Glyphs = UNICODE,
        line: Line | None = None,
        limit: int | None = None,
        below: bool = False,
    ) -> list[Cell]:
        """What stands before a row's glyph, left to right, two columns a lane.

        `line`: which cells are to be set off. `limit`: at most so many lanes, the outer ones cut.
        `below`: as for further text lines of the same row, so without its own joint.
        """
        cells: list[Cell] = []
        line = line if line is not None else {}
        chain = self._chain[entry]
        while chain >= 0:
            how, up = self._how[chain], self._up[chain]
            if how in (_BRANCH, _LAST):
                if limit is not None and len(cells) >= limit:
                    cells[-1] = Cell(glyphs.cut + " ", False)
                    break
                cells.append(self._cell(entry, chain, glyphs, line, below))
            chain = up
        cells.reverse()
        return cells

    def _cell(self, entry: int, chain: int, glyphs: Glyphs, line: Line, below: bool) -> Cell:
        """The cell in the lane that `chain` hangs off."""
        branch = self._how[chain] == _BRANCH
        if entry == self._start[chain] and not below:
            joint = glyphs.branch if branch else glyphs.last
            return Cell(joint + glyphs.dash, chain in line)
        if branch:
            return Cell(glyphs.through + " ", line.get(self._up[chain], NONE) >= entry)
        return Cell("  ", False)

    def prefix(self, entry: int, glyphs: Glyphs = UNICODE, limit: int | None = None) -> str:
        """`cells` as one string."""
        return "".join(cell.text for cell in self.cells(entry, glyphs, limit=limit))

    def enclosing(self, entry: int) -> list[int]:
        """Numbers of the groups that hold a row, outermost first; not the one that it heads."""
        found = []
        chain = self._up[self._chain[entry]]
        while chain >= 0:
            group = self.group(self._start[chain])
            if group >= 0:
                found.append(group)
            chain = self._up[chain]
        found.reverse()
        return found

    def stretches(self) -> list[range]:
        """Rows that follow each other in one chain with nothing hanging off between: what can be
        folded. The ends belong to it: a stretch begins at a root, a branch or after a fork's
        branches, and ends at a fork point, a sub-graph's owner or a leaf."""
        # Every boundary is a chain's first row, or the row at which a chain goes on.
        chain = self._chain
        found, begin = [], 0
        for entry in range(1, len(chain)):
            if chain[entry] != chain[entry - 1]:
                found.append(range(begin, entry))
                begin = entry
        if len(chain):
            found.append(range(begin, len(chain)))
        return found


def lay_out(
    history: History,
    owner: Callable[[int], int] | None = None,
    ns: str | None = None,
) -> Layout:
    """Lay out a history, in time and memory linear in its checkpoints.

    `owner` tells for a checkpoint of a sub-graph the checkpoint of the parent graph during which
    it ran (`NONE` if unknown). Groups without a known owner come last, each at the left edge. An
    owner counts only if its namespace has fewer segments, so that owners cannot form a loop.
    `ns`: only that namespace (as the top of the picture) and what ran inside it.
    """
    forest = _Forest(history, owner, ns)
    return _Drawing(forest).layout(len(history))


class _Forest:
    """The trees to draw: parents within a group, and groups by owner."""

    def __init__(
        self, history: History, owner: Callable[[int], int] | None, ns: str | None
    ) -> None:
        count = len(history)
        top = ROOT if ns is None else ns
        self.parent = array("i", map(history.parent, range(count)))
        self.roots: list[int] = []
        self.groups: list[Group] = []
        self.group_roots: list[list[int]] = []
        self.owned: dict[int, list[int]] = {}
        """Groups by owner, in order of their first checkpoints."""
        self.loose: list[int] = []
        """Groups to draw at the left edge."""
        self._nest(history, owner or (lambda _: NONE), top, whole=ns is None)
        self.roots = [i for i in history.span(top) if self.parent[i] < 0]
        self._link(count)

    def _nest(self, history: History, owner: Callable[[int], int], top: str, whole: bool) -> None:
        """Sort the checkpoints of sub-graphs into groups, and cut parents between groups."""
        depth = {ns: ns.count("|") + 1 if ns else 0 for ns in history.namespaces()}
        oldest: list[int] = []
        for ns in history.namespaces():
            if ns == top:
                continue
            span = history.span(ns)
            numbers: dict[int, int] = {}
            owners = array("i", bytes(4 * len(span)))
            counts: list[int] = []
            for k, i in enumerate(span):
                by = owner(i)
                if not (0 <= by < len(history) and depth[history.ns(by)] < depth[ns]):
                    by = NONE
                owners[k] = by
                if by not in numbers:
                    numbers[by] = len(oldest)
                    oldest.append(i)
                    counts.append(0)
                    self.group_roots.append([])
                counts[numbers[by] - len(self.groups)] += 1
            for k, i in enumerate(span):
                parent = self.parent[i]
                if parent >= 0 and owners[parent - span.start] != owners[k]:
                    self.parent[i] = parent = NONE
                if parent < 0:
                    self.group_roots[numbers[owners[k]]].append(i)
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
        parent = self.parent
        first = array("i", [NONE]) * count
        following = array("i", [NONE]) * count
        ordered = True
        for i in range(count - 1, -1, -1):
            up = parent[i]
            if up >= 0:
                following[i] = first[up]
                first[up] = i
                ordered = ordered and up < i
        self.first, self.following = first, following
        self.newest_child = self.largest_child = first
        if max(following, default=NONE) >= 0:
            self._rank(range(count - 1, -1, -1) if ordered else self._bottom_up())

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
        todo = [(-2 - g, NONE, _TOP) for g in reversed(forest.loose)]
        todo += [(i, NONE, _TOP) for i in reversed(forest.roots)]
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
                todo += [(i, chain, _WITHIN) for i in reversed(forest.group_roots[group])]
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
        self.trunk.append(how in (_TOP, _WITHIN))
        return len(self.up) - 1

    def _go_down(
        self, i: int, chain: int, where: array[int], todo: list[tuple[int, int, int]]
    ) -> None:
        """Draw a line until something hangs off it; what is left goes on `todo`."""
        forest = self.forest
        first, following, owned = forest.first, forest.following, forest.owned
        order, chains = self.order, self.chain
        while True:
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
            todo.append((hanging[k], chain, _LAST if last else _BRANCH))
