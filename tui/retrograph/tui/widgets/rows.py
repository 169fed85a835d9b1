"""A list of any length, of which only the rows in sight are ever made.

The base of the tree, the value outline and every other list: it knows how many rows there are,
has a cursor, scrolls, and asks for one line of spans when that line is to be drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.geometry import Region, Size
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from retrograph.tui.keymap import Acts
from retrograph.tui.messages import CursorMoved, RowOpened
from retrograph.tui.reading.wrap import Wrapped
from retrograph.tui.spans import Line, Span
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.painted import Painted
from retrograph.tui.widgets.thumb import Thumb

NOWHERE = -1

_EMPTY = 8
"""Lines that the sentence of an empty list may take."""

_MARGIN = 2
"""Rows kept in sight above and below the cursor."""


class Rows(Acts, Painted, ScrollView, can_focus=True):
    """`row_count` and `paint` are what a subclass must say; `cursor` is the selected row."""

    SCOPES: ClassVar[tuple[str, ...]] = ("move",)
    cursor: var[int] = var(0, init=False)

    def __init__(self, ui: Ui, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.ui = ui
        self.bind_keys(ui.keys)
        self._on_screen: dict[int, Strip] = {}
        """What stands on each line of the widget."""
        self._sight: tuple[int, int] | None = None
        """While lines are made: the first row in sight, and the columns of a row."""
        self.all_to_draw = False
        """Every line is to be drawn anew; which of them have changed need not be asked."""

    # What a subclass says.

    @property
    def row_count(self) -> int:
        raise NotImplementedError

    def paint(self, row: int, width: int) -> Iterable[Span]:
        """The spans of one row; what is longer than `width` columns is cut."""
        raise NotImplementedError

    empty: Line = ()
    """What stands in the place of the rows while there are none."""

    # What a subclass calls.

    def rows_changed(self, cursor: int | None = None, top: int | None = None) -> None:
        """The rows are others now: draw them, and put the cursor and the first row in sight."""
        count = self.row_count
        self.virtual_size = Size(0, count)
        if top is not None:
            self.scroll_to(y=max(top, 0), animate=False, force=True)
        wanted = self.cursor if cursor is None else cursor
        wanted = min(max(wanted, 0), max(count - 1, 0))
        if wanted == self.cursor:
            self._keep_in_sight()
            if count:
                self.post_message(CursorMoved(self, wanted))
        else:
            self.cursor = wanted
        self.redraw()
        # A scrollbar that comes only with these rows has missed where they were scrolled to.
        self.call_after_refresh(self._place_scrollbar)

    def _place_scrollbar(self) -> None:
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = self.scroll_y

    @property
    def in_sight(self) -> range:
        """The rows on the screen."""
        first = self.scroll_offset.y
        return range(min(first, self.row_count), min(first + self.size.height, self.row_count))

    # The cursor.

    def validate_cursor(self, cursor: int) -> int:
        return min(max(cursor, 0), max(self.row_count - 1, 0))

    def watch_cursor(self, before: int, now: int) -> None:
        self._keep_in_sight()
        self.cursor_moved(before, now)
        if self.row_count:
            self.post_message(CursorMoved(self, now))

    def cursor_moved(self, before: int, now: int) -> None:
        """Draw what the cursor's move changed: the two rows, unless a subclass says more."""
        self.redraw_rows(before, now)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.move(new_value)
        if round(old_value) != round(new_value):
            self.all_to_draw = True
            self.refresh(self.size.region)

    @property
    def vertical_scrollbar(self) -> Thumb:
        bar = self._vertical_scrollbar
        if bar is None:
            self._vertical_scrollbar = bar = Thumb(name="vertical")
            bar.display = False
            self.app._start_widget(self, bar)
        assert isinstance(bar, Thumb)
        return bar

    def _keep_in_sight(self) -> None:
        height = self.size.height
        if not height:
            return
        margin = min(_MARGIN, (height - 1) // 2)
        top = self.scroll_offset.y
        lowest = max(self.cursor + margin - height + 1, 0)
        highest = max(self.cursor - margin, 0)
        wanted = min(max(top, lowest), highest) if lowest <= highest else lowest
        wanted = min(wanted, max(self.row_count - height, 0))
        if wanted != top:
            self.scroll_to(y=wanted, animate=False, force=True)

    def center(self) -> None:
        """Put the cursor's row in the middle where it is far from what was in sight."""
        height = self.size.height
        self.scroll_to(y=max(self.cursor - height // 2, 0), animate=False, force=True)

    def on_resize(self, _: events.Resize) -> None:
        self._keep_in_sight()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        row = NOWHERE if offset is None else offset.y + self.scroll_offset.y
        if 0 <= row < self.row_count:
            self.cursor = row
            if event.chain == 2:
                self.post_message(RowOpened(self, row))

    def _to(self, row: int) -> None:
        """Put the cursor on a row, and that in sight: a wheel may have left the cursor behind."""
        self.cursor = row
        self._keep_in_sight()

    def action_move_down(self) -> None:
        self._to(self.cursor + 1)

    def action_move_up(self) -> None:
        self._to(self.cursor - 1)

    def action_move_page_down(self) -> None:
        self._scroll_with_cursor(max(self.size.height - 1, 1))

    def action_move_page_up(self) -> None:
        self._scroll_with_cursor(-max(self.size.height - 1, 1))

    def action_move_half_down(self) -> None:
        self._scroll_with_cursor(max(self.size.height // 2, 1))

    def action_move_half_up(self) -> None:
        self._scroll_with_cursor(-max(self.size.height // 2, 1))

    def action_move_top(self) -> None:
        self._to(0)

    def action_move_bottom(self) -> None:
        self._to(self.row_count - 1)

    def _scroll_with_cursor(self, by: int) -> None:
        """Scroll so that the cursor stays where it is on the screen, and moves in the list."""
        self.scroll_to(y=self.scroll_offset.y + by, animate=False, force=True)
        self.cursor += by

    # Drawing.

    def redraw(self) -> None:
        """Draw the lines that look other than they did. The others are not sent again: over a
        slow line it is bytes that take time."""
        if self.all_to_draw:
            return
        self._sight = self._look()
        height = self.size.height
        changed = [
            y for y, drawn in self._on_screen.items() if y < height and self._strip_at(y) != drawn
        ]
        self._sight = None
        self._draw_lines(changed)

    def redraw_rows(self, *rows: int) -> None:
        """Draw some rows, where they are in sight."""
        if not self.all_to_draw:
            first, height = self.scroll_offset.y, self.size.height
            self._draw_lines(row - first for row in rows if 0 <= row - first < height)

    def _draw_lines(self, lines: Iterable[int]) -> None:
        width = self.size.width
        regions = [Region(0, y, width, 1) for y in lines]
        if regions:
            self.refresh(*regions)

    def render_lines(self, crop: Region) -> list[Strip]:
        self.all_to_draw = False
        self._sight = self._look()
        strips = super().render_lines(crop)
        self._sight = None
        return strips

    def render_line(self, y: int) -> Strip:
        strip = self._on_screen[y] = self._strip_at(y)
        return strip

    def _look(self) -> tuple[int, int]:
        return self.scroll_offset.y, self.scrollable_content_region.width

    def _strip_at(self, y: int) -> Strip:
        first, width = self._sight or self._look()
        row = y + first
        if not self.row_count and self.empty and y < _EMPTY:
            return self._empty_line(y, width)
        if not 0 <= row < self.row_count:
            return Strip.blank(width, self.role_style(""))
        return self.strip(self.paint(row, width), width, self.row_role(row), self.ui.cut)

    def say_empty(self, sentence: str, role: str = "dim") -> None:
        """Say why there is nothing, and how to get it."""
        self.empty = [Span(sentence, role)] if sentence else ()
        self.redraw()

    def _empty_line(self, y: int, width: int) -> Strip:
        sentence, role = self.empty[0]
        wrapped = Wrapped(sentence, max(width, 1))
        line = [Span(wrapped.line(y), role)] if y < len(wrapped) else []
        return self.strip(line, width, cut=self.ui.cut)

    def row_role(self, row: int) -> str:
        """The role that lies under a whole row."""
        if row != self.cursor or not self.can_focus:
            return ""
        return "cursor" if self.has_focus else "cursor-blurred"

    def on_focus(self) -> None:
        self.redraw_rows(self.cursor)

    def on_blur(self) -> None:
        self.redraw_rows(self.cursor)

    @property
    def cursor_region(self) -> Region:
        """Where the selected row is, in the widget's content."""
        return Region(0, self.cursor - self.scroll_offset.y, self.size.width, 1)
