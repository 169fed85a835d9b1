"""A value as flat rows, made level by level as they are opened.

As in jless (https://github.com/PaulJuliusMartinez/jless), a value is one flat array of rows, each
of which knows its parent, its depth and its next sibling; folding only changes which are shown.
Rows are made when their parent is opened, so the first rows of 80 MB cost the top level alone.
The children of a row stand side by side in the array: node `first` … `first + count − 1`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from retrograph.engine.paths import Path, pointer, resolve
from retrograph.engine.values import (
    MAX_DEPTH,
    TOO_DEEP,
    Obj,
    Unreadable,
    Value,
    children,
    type_name,
)
from retrograph.engine.views.summary import WIDTH, one_line, size_of

NONE: Final = -1

OPEN_ALL_LIMIT: Final = 200_000
"""Rows that one "expand everything" may make."""


class Row(NamedTuple):
    """One row, ready to be drawn but for colours."""

    node: int
    depth: int
    key: object
    """A name, a position, or `None` for the value itself."""
    type: str
    summary: str
    """One line, escaped."""
    size: int | None
    """About the stored bytes; `None` where counting would take long."""
    children: int
    open: bool
    value: Value


class Outline:
    """The rows of one value. Positions (`at`) are those of the rows now shown; nodes are for good.

    `roots` shows the children of the value at depth 0 (the channels of a state), else the value
    itself is the one row at depth 0.
    """

    def __init__(self, value: Value, roots: bool = True) -> None:
        self._keys: list[object] = [None]
        self._values: list[Value] = [value]
        self._parents = array("i", [NONE])
        self._depths = array("H", [0])
        self._first = array("i", [NONE])
        self._counts = array("i", [NONE])
        self._sizes: dict[int, int | None] = {}
        self._open: set[int] = set()
        self._roots = roots
        self._shown: array[int] = array("i", [0])
        if roots:
            self._shown = array("i", self._make(0))
            self._open.add(0)

    def __len__(self) -> int:
        """Rows shown."""
        return len(self._shown)

    def row(self, at: int, width: int = WIDTH) -> Row:
        """The row shown at a position."""
        node = self._shown[at]
        value = self._values[node]
        return Row(
            node=node,
            depth=self.depth(node),
            key=self._keys[node],
            type=type_name(value),
            summary=one_line(value, width),
            size=self._size(node),
            children=self.count(node),
            open=node in self._open,
            value=value,
        )

    def _size(self, node: int) -> int | None:
        if node not in self._sizes:
            self._sizes[node] = size_of(self._values[node])
        return self._sizes[node]

    def depth(self, node: int) -> int:
        return self._depths[node] - (1 if self._roots else 0)

    def value(self, node: int) -> Value:
        return self._values[node]

    def node(self, at: int) -> int:
        return self._shown[at]

    def position(self, node: int) -> int:
        """Where a node is shown, `NONE` where a folded one hides it."""
        try:
            return self._shown.index(node)
        except ValueError:
            return NONE

    def _end(self, at: int) -> int:
        """After the last shown row below the one at `at`."""
        depth = self._depths[self._shown[at]]
        end = at + 1
        while end < len(self._shown) and self._depths[self._shown[end]] > depth:
            end += 1
        return end

    def count(self, node: int) -> int:
        """How many children a node has, without making them where that can be told."""
        known = self._counts[node]
        if known != NONE:
            return known
        value = self._values[node]
        if isinstance(value, (list, dict, tuple)):
            return len(value)
        return sum(1 for _ in children(value))

    def parent(self, at: int) -> int:
        """Position of the parent row, `NONE` at the top."""
        return self.position(self._parents[self._shown[at]])

    def next_sibling(self, at: int) -> int:
        """Position of the next row under the same parent, else `NONE`."""
        node = self._shown[at] + 1
        parent = self._parents[node - 1]
        if parent == NONE or node >= self._first[parent] + self._counts[parent]:
            return NONE
        return self.position(node)

    def path(self, node: int) -> tuple[object, ...]:
        """The keys from the value to a node."""
        keys = [self._keys[n] for n in self._chain(node) if n != 0]
        return tuple(keys)

    def pointer(self, node: int) -> str:
        return pointer(self.path(node))

    def _chain(self, node: int) -> list[int]:
        chain = []
        while node != NONE:
            chain.append(node)
            node = self._parents[node]
        return chain[::-1]

    def _make(self, node: int) -> range:
        """The nodes of the children, made at the first time."""
        if self._counts[node] == NONE:
            first = len(self._keys)
            below: Iterable[tuple[object, Value]]
            depth = self._depths[node] + 1
            deep = depth > MAX_DEPTH
            below = [("…", Unreadable(TOO_DEEP, 0))] if deep else children(self._values[node])
            for key, child in below:
                self._keys.append(key)
                self._values.append(child)
            made = len(self._keys) - first
            self._parents.extend([node] * made)
            self._depths.extend([depth] * made)
            self._first.extend([NONE] * made)
            self._counts.extend([NONE] * made)
            self._first[node] = first
            self._counts[node] = made
        return range(self._first[node], self._first[node] + self._counts[node])

    def expand(self, at: int) -> int:
        """Open the row; what was open below it shows again. Returns how many rows appeared."""
        node = self._shown[at]
        if node in self._open or not self.count(node):
            return 0
        self._open.add(node)
        rows = self._rows_below(node)
        self._shown[at + 1 : at + 1] = rows
        return len(rows)

    def _rows_below(self, node: int) -> array[int]:
        """What shows below an open node, in order."""
        rows: array[int] = array("i")
        stack: list[Sequence[int]] = [self._make(node)]
        while stack:
            level = stack.pop()
            opened = next((i for i, child in enumerate(level) if child in self._open), NONE)
            if opened == NONE:
                rows.extend(level)
                continue
            rows.extend(level[: opened + 1])
            stack += (level[opened + 1 :], self._make(level[opened]))
        return rows

    def collapse(self, at: int) -> int:
        """Fold the row. Returns how many rows went."""
        node = self._shown[at]
        if node not in self._open:
            return 0
        self._open.discard(node)
        end = self._end(at)
        del self._shown[at + 1 : end]
        return end - at - 1

    def toggle(self, at: int) -> bool:
        """Open or fold the row; whether it is now open."""
        if self._shown[at] in self._open:
            self.collapse(at)
            return False
        self.expand(at)
        return self._shown[at] in self._open

    def expand_levels(self, at: int, levels: int, limit: int = OPEN_ALL_LIMIT) -> bool:
        """Open the row and so many levels below it; `False` where `limit` rows ended it early."""
        self.collapse(at)
        todo = [(self._shown[at], levels)]
        made = 0
        whole = True
        while todo:
            node, left = todo.pop()
            if not self.count(node):
                continue
            if made + self.count(node) > limit:
                whole = False
                continue
            below = self._make(node)
            made += len(below)
            if node != self._shown[at]:
                self._open.add(node)
            if left > 1:
                todo.extend((child, left - 1) for child in below)
        self.expand(at)
        return whole

    def collapse_all(self) -> None:
        """Fold everything but the top."""
        self._open = {0} if self._roots else set()
        self._shown = array("i", self._make(0)) if self._roots else array("i", [0])

    def reveal(self, path: str | Path) -> int:
        """Open what hides a path and give its position. Raises `RefError` where there is no such
        place."""
        keys, _ = resolve(self._values[0], path)
        node = 0
        for key in keys:
            if node not in self._open:
                self.expand(self.position(node))
            below = self._make(node)
            node = next(n for n in below if self._is(n, key))
        return self.position(node) if keys or not self._roots else 0

    def _is(self, node: int, key: object) -> bool:
        mine = self._keys[node]
        return mine is key or (type(mine) is type(key) and mine == key)


def opens(value: Value) -> bool:
    """Whether a value has parts to show."""
    if isinstance(value, (list, dict, tuple)):
        return bool(value)
    if isinstance(value, Obj) and value.fields:
        return True
    return next(iter(children(value)), None) is not None
