"""A value as a tree of rows, of any size: what State, Writes and Info are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from retrograph.engine.errors import RefError
from retrograph.engine.text import cut, escape
from retrograph.engine.text import size as size_text
from retrograph.engine.values import ABSENT
from retrograph.engine.views.outline import NONE, Outline, Row
from retrograph.engine.views.summary import one_line
from retrograph.tui.messages import TextOpened
from retrograph.tui.reading.changes import Changes
from retrograph.tui.reading.copies import Copy, value_copies
from retrograph.tui.spans import Span, clip, columns, pad, spread
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.rows import Rows

_REMEMBERED = 500
"""So many open rows are opened again at the next checkpoint."""

_KEY = 28
"""Longer keys are cut."""
_KEY_COLUMN = 16
"""Values stand below each other behind keys up to this."""
_ALIGNED = 100
"""So many keys of one level are measured."""
_TYPE_FROM = 60


class KnownSiblings(Outline):
    """An outline that tells which nodes stand beside one."""

    def siblings(self, node: int) -> range:
        parent = self._parents[node]
        if parent == NONE:
            return range(node, node + 1)
        return range(self._first[parent], self._first[parent] + self._counts[parent])

    def key(self, node: int) -> object:
        return self._keys[node]


class OutlineRows(Rows):
    """An outline with a cursor. What is open stays open when it is loaded again."""

    SCOPES: ClassVar[tuple[str, ...]] = ("move", "state")
    plain_top = False
    """The rows at the left edge are titles, whose values are not summed up."""

    def __init__(self, ui: Ui, *, id: str | None = None) -> None:
        super().__init__(ui, id=id)
        self._outline = KnownSiblings({})
        self._changes = Changes(self._outline, None, {})
        self._rows: dict[tuple[int, int], Row] = {}
        self._key_widths: dict[int, int] = {}
        self._level = 0

    def load(
        self,
        values: Mapping[str, Any],
        before: Mapping[str, Any] | None = None,
        changed: Mapping[str, str] | None = None,
    ) -> None:
        """Show these values; `before` and `changed` as `Changes` takes them."""
        opened, selected = self._opened(), self._path()
        offset = self.cursor - self.scroll_offset.y
        self._outline = KnownSiblings(dict(values))
        self._changes = Changes(self._outline, before, changed or {})
        self._rows, self._key_widths = {}, {}
        for path in opened:
            self._open_again(path)
        at = self._find(selected)
        self.rows_changed(cursor=at, top=at - offset)

    def open_all(self) -> None:
        """Open the top level."""
        for at in reversed(range(len(self._outline))):
            self._outline.expand(at)
        self.rows_changed()

    # What was open is opened again, by path.

    def _opened(self) -> list[tuple[object, ...]]:
        """Paths of the open rows: those that have a deeper one below."""
        outline = self._outline
        found = []
        for at in range(len(outline) - 1):
            if self._is_open(at):
                found.append(outline.path(outline.node(at)))
                if len(found) == _REMEMBERED:
                    break
        return found

    def _path(self) -> tuple[object, ...]:
        if self.cursor >= len(self._outline):
            return ()
        return self._outline.path(self._outline.node(self.cursor))

    def _open_again(self, path: tuple[object, ...]) -> None:
        at = self._exactly(path)
        if at != NONE:
            self._outline.expand(at)

    def _exactly(self, path: tuple[Any, ...]) -> int:
        if not path:
            return NONE
        try:
            return self._outline.reveal(path)
        except (RefError, StopIteration):
            return NONE

    def _find(self, path: tuple[object, ...]) -> int:
        """The row of a path, or of the nearest one above that is still there."""
        while path:
            at = self._exactly(path)
            if at != NONE:
                return at
            path = path[:-1]
        return 0

    @property
    def pointer(self) -> str:
        """The selected value as a JSON Pointer, "" without one."""
        if self.cursor >= len(self._outline):
            return ""
        return self._outline.pointer(self._outline.node(self.cursor))

    @property
    def place(self) -> str:
        return escape(cut(self.pointer, 200))

    def copies(self) -> list[Copy]:
        """The selected value in its forms."""
        if self.cursor >= len(self._outline):
            return []
        node = self._outline.node(self.cursor)
        return value_copies(self._outline.path(node), self._outline.value(node))

    # Drawing.

    @property
    def row_count(self) -> int:
        return len(self._outline)

    def _row(self, at: int, width: int) -> Row:
        node = self._outline.node(at)
        row = self._rows.get((node, width))
        if row is None:
            row = self._rows[node, width] = self._outline.row(at, width)
        return row

    def paint(self, row: int, width: int) -> Iterable[Span]:
        shown = self._row(row, max(width - 8, 16))
        status, before = self._changes.of(shown.node)
        signs = self.ui.signs
        opened = shown.children and row + 1 < len(self._outline) and self._is_open(row)
        marker = " " if not shown.children else signs.open if opened else signs.closed
        left = [
            Span(*_STATUS[status]),
            Span(" " + "  " * shown.depth),
            Span(f"{marker} ", "dim"),
        ]
        if self.plain_top and not shown.depth:
            return [*left, Span(escape(str(shown.key)), "strong")]
        left += [
            *pad(_key(shown.key), self._key_width(shown.node)),
            Span("  "),
            Span(shown.summary, value_role(shown)),
        ]
        return spread(left, self._right(shown, status, before, width), width, self.ui.cut)

    def _key_width(self, node: int) -> int:
        """Columns of the keys beside this one, so that their values stand below each other."""
        siblings = self._outline.siblings(node)
        width = self._key_widths.get(siblings.start)
        if width is None:
            some = siblings[:_ALIGNED]
            widths = [columns(_key(self._outline.key(k))[0].text) for k in some]
            last = (
                columns(str(len(siblings) - 1)) if isinstance(self._outline.key(node), int) else 0
            )
            width = min(max([*widths, last]), _KEY_COLUMN)
            self._key_widths[siblings.start] = width
        return width

    def _is_open(self, at: int) -> bool:
        outline = self._outline
        return outline.depth(outline.node(at + 1)) > outline.depth(outline.node(at))

    def _right(self, row: Row, status: str, before: Any, width: int) -> list[Span]:
        right: list[Span] = []
        typed = False
        if status == "changed" and not row.children and before is not ABSENT:
            was = one_line(before, max(width // 4, 12))
            right.append(Span(f"was {was}  ", "dim"))
        if width >= _TYPE_FROM and (row.children or row.type not in _PLAIN):
            right.append(Span(clip(escape(row.type), 24), "class"))
            typed = True
        if row.size is not None and row.size >= _SIZE_FROM:
            right.append(Span(f"{size_text(row.size):>9}", "faint"))
        elif typed:
            right.append(Span(" " * 9))  # types stand below each other
        return [Span(" "), *right] if right else right

    # Moving in and out.

    def action_state_expand(self) -> None:
        if not self.row_count:
            return
        if not self._outline.expand(self.cursor):
            if self._outline.count(self._outline.node(self.cursor)):
                self.cursor += 1
            return
        self.rows_changed()

    def action_state_collapse(self) -> None:
        if not self.row_count:
            return
        if self._outline.collapse(self.cursor):
            self.rows_changed()
            return
        parent = self._outline.parent(self.cursor)
        if parent != NONE:
            self.cursor = parent

    def action_state_toggle(self) -> None:
        if self.row_count:
            self._outline.toggle(self.cursor)
            self.rows_changed()

    def action_state_read(self) -> None:
        if not self.row_count:
            return
        value = self._outline.value(self._outline.node(self.cursor))
        if isinstance(value, str):
            self.post_message(TextOpened(self.place, value))
        else:
            self.action_state_toggle()

    def action_state_deeper(self) -> None:
        self._to_level(self._level + 1)

    def action_state_shallower(self) -> None:
        self._to_level(max(self._level - 1, 0))

    def _to_level(self, level: int) -> None:
        """Open so many levels everywhere; the cursor stays on its row, or the one above it."""
        path = self._path()
        self._level = level
        self._outline.collapse_all()
        whole = True
        for at in reversed(range(len(self._outline))):
            if level:
                whole = self._outline.expand_levels(at, level) and whole
        while path[level + 1 :]:
            path = path[:-1]
        self.rows_changed(cursor=max(self._find(path), 0))
        if not whole:
            self.notify("Not all of it is open: there are too many rows.", severity="warning")


_STATUS = {"": (" ", ""), "added": ("+", "done"), "changed": ("~", "waits")}
_PLAIN = frozenset(("str", "int", "float", "bool", "null", "NoneType", "list", "dict"))
_SIZE_FROM = 100
"""Smaller sizes say nothing."""


def _key(key: object) -> list[Span]:
    if isinstance(key, int):
        return [Span(str(key), "number")]
    name = escape(cut(key, 200)) if isinstance(key, str) else one_line(key, _KEY)
    return [Span(clip(name, _KEY))] if columns(name) > _KEY else [Span(name)]


def value_role(row: Row) -> str:
    """The role of a value's summary, by its kind."""
    value = row.value
    if isinstance(value, str):
        return "string"
    if value is None or isinstance(value, (bool, int, float)):
        return "number"
    return "dim"
