"""A vertical scrollbar of which only those lines are drawn that look other than before.

Textual makes every line of a scrollbar anew for each position and draws them all. In a long list a
page moves the thumb by less than an eighth of a line, and the bar costs as much as the rows beside
it.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip

_GLYPHS = ScrollBarRender.VERTICAL_BARS
_PARTS = len(_GLYPHS)
"""The thumb's ends are drawn in eighths of a line."""


class Ends(NamedTuple):
    """Where the thumb begins and ends, in eighths of a line."""

    start: int
    end: int

    @property
    def lines(self) -> range:
        return range(self.start // _PARTS, ceil(self.end / _PARTS))

    def glyph(self, line: int) -> tuple[str, bool]:
        """What stands on a line, and whether it is drawn in reverse."""
        above, below = line * _PARTS, (line + 1) * _PARTS
        if self.start >= below or self.end <= above:
            return " ", False
        if self.start > above:
            return _GLYPHS[_PARTS - 1 - (self.start - above)], False
        return _GLYPHS[_PARTS - 1 - (self.end - above) % _PARTS if self.end < below else -1], True


def ends(height: int, window: int, virtual: int, position: float) -> Ends:
    """Of a bar so many lines high, where so many lines are in sight from `position` on, of so many
    in all."""
    if not height or not window or virtual <= window:
        return Ends(0, 0)
    length = max(1.0, window * height / virtual)
    start = int((height - length) * position / (virtual - window) * _PARTS)
    return Ends(start, start + ceil(length * _PARTS))


class Thumb(ScrollBar):
    """The bar; `move` says where it stands."""

    def move(self, to: float) -> None:
        """The first line in sight is `to` now."""
        before = self._ends()
        self.set_reactive(ScrollBar.position, to)
        now = self._ends()
        lines = {*before.lines, *now.lines}
        changed = [line for line in sorted(lines) if before.glyph(line) != now.glyph(line)]
        if changed:
            self.refresh(*(Region(0, line, self.size.width, 1) for line in changed))

    def render_line(self, y: int) -> Strip:
        glyph, reverse = self._ends().glyph(y)
        bar = self.render()
        assert isinstance(bar, ScrollBarRender)
        assert isinstance(bar.style, Style)
        style = bar.style + Style(reverse=True) if reverse else bar.style
        if glyph == " " and not reverse:
            style = self.rich_style + Style(bgcolor=style.bgcolor)
        width = self.size.width
        return Strip([Segment(glyph * width, style)], width)

    async def _on_mouse_down(self, event: events.MouseDown) -> None:
        lines = self._ends().lines
        if event.y < lines.start:
            self.action_scroll_up()
        elif event.y >= lines.stop:
            self.action_scroll_down()
        else:
            self.action_grab()

    def _ends(self) -> Ends:
        return ends(self.size.height, self.window_size, self.window_virtual_size, self.position)
