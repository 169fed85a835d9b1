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

An *entry* is a row of the whole picture: a checkpoint, or the header of a group (the checkpoints
that a sub-graph made during one checkpoint of its parent). Entries are numbered in drawing order.
A *chain* is a run of entries in one lane, each but the first the child of one before it.
`Layout` holds 12 bytes a checkpoint and 9 a chain; prefixes are made when asked for.
`retrograph.engine.tree.layout` makes it, `retrograph.engine.tree.folding` hides entries, and
`retrograph.engine.tree.rows` puts words to them.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from retrograph.engine.history import NONE


class Glyphs(NamedTuple):
    """What lanes are drawn with."""

    through: str
    branch: str
    last: str
    dash: str
    cut: str


UNICODE = Glyphs("│", "├", "╰", "─", "…")
ASCII = Glyphs("|", "+", "\\", "-", "..")


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

TOP, BRANCH, LAST, WITHIN = 0, 1, 2, 3
"""How a chain begins: at the left edge; off another chain that goes on below (`├─`) or does not
(`╰─`); below the header of its group, in the same lane."""


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

    def with_more_below(self, count: int) -> Layout:
        """The same with so many checkpoints more that go on below the last row, in its lane."""
        rows, start = len(self._order), len(self._where)
        return Layout(
            self._order + array("i", range(start, start + count)),
            self._chain + self._chain[-1:] * count,
            self._where + array("i", range(rows, rows + count)),
            self.groups,
            self._heads,
            self._ends,
            (self._up, self._start, self._how),
        )

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
            lane += self._how[chain] in (BRANCH, LAST)
            chain = self._up[chain]
        return lane

    def starts(self, entry: int) -> bool:
        """Whether a row begins a tree of its own: a root, at the top or in its group."""
        chain = self._chain[entry]
        return self._start[chain] == entry and self._how[chain] in (TOP, WITHIN)

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

    def differs(self, entry: int, one: Line, other: Line) -> bool:
        """Whether a row looks other when another line is set off."""
        if self.on(entry, one) != self.on(entry, other):
            return True
        return self.cells(entry, line=one) != self.cells(entry, line=other)

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
            if how in (BRANCH, LAST):
                if limit is not None and len(cells) >= limit:
                    cells[-1] = Cell(glyphs.cut.ljust(2), False)
                    break
                cells.append(self._cell(entry, chain, glyphs, line, below))
            chain = up
        cells.reverse()
        return cells

    def _cell(self, entry: int, chain: int, glyphs: Glyphs, line: Line, below: bool) -> Cell:
        """The cell in the lane that `chain` hangs off."""
        branch = self._how[chain] == BRANCH
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
