"""The thumb of a scrollbar, moved without drawing the whole bar.

Textual draws every line of a scrollbar for each position. In a long list a page moves the thumb by
less than an eighth of a line, and the bar costs as much as the rows beside it.
"""

from __future__ import annotations

from math import ceil

from textual.geometry import Region
from textual.scrollbar import ScrollBar

_PARTS = 8
"""The thumb's ends are drawn in eighths of a line (`ScrollBarRender.VERTICAL_BARS`)."""


def move_thumb(bar: ScrollBar, to: float) -> None:
    """Put a vertical scrollbar's thumb where the first line in sight is `to`, and draw the lines
    that it left and those that it came to."""
    before = _ends(bar)
    bar.set_reactive(ScrollBar.position, to)
    for was, now in zip(before, _ends(bar), strict=True):
        if was != now:
            first, last = sorted((was // _PARTS, now // _PARTS))
            bar.refresh(Region(0, first, bar.size.width, last - first + 1))


def _ends(bar: ScrollBar) -> tuple[int, int]:
    """Where the thumb begins and ends, in eighths of a line."""
    height, window, virtual = bar.size.height, bar.window_size, bar.window_virtual_size
    if not height or virtual <= window:
        return 0, 0
    length = max(1.0, window * height / virtual)
    start = int((height - length) * bar.position / (virtual - window) * _PARTS)
    return start, start + ceil(length * _PARTS)
