"""The scrollbar of a list: it looks and is worked as Textual's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.scrollbar import ScrollBarRender

from piloting import opened, press, settle
from piloting.stores import filling, uuid6
from retrograph.tui.widgets.thumb import Thumb, ends
from retrograph.tui.widgets.tree import HistoryTree


@pytest.mark.parametrize(
    ("height", "virtual"), [(35, 41), (35, 100_000), (7, 30), (1, 9), (22, 20)]
)
def test_it_looks_as_textuals(height: int, virtual: int) -> None:
    last = max(virtual - height, 0)
    for position in {0, last, *range(0, last + 1, max(last // 97, 1))}:
        bar = ScrollBarRender.render_bar(
            size=height,
            virtual_size=virtual,
            window_size=height if height < virtual else 0,
            position=position,
        )
        expected = [(s.text, bool(s.style and s.style.reverse)) for s in bar.segments]
        found = ends(height, height, virtual, position)
        assert [found.glyph(line) for line in range(height)] == expected


async def test_pressed_above_below_and_held(tmp_path: Path) -> None:
    with filling(tmp_path / "long.db") as store:
        for n in range(300):
            store.checkpoint(uuid6(n), uuid6(n - 1) if n else None, {}, step=n - 1)
    async with opened(tmp_path / "long.db", "t") as pilot:
        tree = pilot.app.screen.query_one(HistoryTree)
        bar = tree.vertical_scrollbar
        assert isinstance(bar, Thumb)
        bottom = tree.scroll_offset.y
        assert bottom > 2 * tree.size.height
        await pilot.mouse_down(bar, offset=(0, 0))
        await settle(pilot)
        paged = tree.scroll_offset.y
        assert bottom - tree.size.height <= paged < bottom, "a page up"
        await press(pilot, "g")
        assert tree.scroll_offset.y == 0
        await pilot.mouse_down(bar, offset=(0, bar.size.height - 1))
        await settle(pilot)
        assert 0 < tree.scroll_offset.y <= tree.size.height, "a page down"
        await press(pilot, "g")
        await pilot.mouse_down(bar, offset=(0, 0))
        await settle(pilot)
        await pilot.hover(bar, offset=(0, bar.size.height - 1))
        await settle(pilot)
        await pilot.wait_for_animation()
        await pilot.mouse_up(bar, offset=(0, bar.size.height - 1))
        await settle(pilot)
        assert tree.scroll_offset.y > bottom // 2, "dragged"
