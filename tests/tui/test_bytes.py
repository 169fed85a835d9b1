"""How much is sent to the terminal: over a slow line every byte is waited for."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from textual._compositor import CompositorUpdate
from textual.app import App
from textual.widget import Widget

from piloting import opened, press, settle

ROOM = (200, 60)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the frames, in characters."""
    sizes: list[int] = []
    display = App._display

    def counted(app: App[Any], screen: Any, update: Any) -> None:
        if isinstance(update, CompositorUpdate):
            sizes.append(len(update.render_segments(app.console)))
        display(app, screen, update)

    monkeypatch.setattr(App, "_display", counted)
    return sizes


@pytest.mark.parametrize(("keys", "most"), [("k", 6_000), ("m", 2_000)])
async def test_a_key_sends_what_it_changed(
    demo: Path, sent: list[int], keys: str, most: int
) -> None:
    async with opened(demo, "order-4412", ROOM) as pilot:
        await settle(pilot)
        whole = max(sent)
        sent.clear()
        await press(pilot, keys)
        await settle(pilot)
        assert sent, "nothing was drawn"
        assert sum(sent) < most < whole


async def test_what_looks_as_before_is_not_sent_again(demo: Path, sent: list[int]) -> None:
    async with opened(demo, "order-4412", ROOM) as pilot:
        await settle(pilot)
        sent.clear()
        pilot.app.screen.query_one("#history").redraw()  # type: ignore[attr-defined]
        await settle(pilot)
        assert not sent


async def test_what_stands_there_is_what_would_be_drawn_anew(demo: Path) -> None:
    dice = random.Random(7)
    keys = [
        "j",
        "k",
        "g",
        "G",
        "pageup",
        "pagedown",
        "ctrl+d",
        "ctrl+u",
        "]",
        "[",
        "o",
        "O",
        "c",
        "C",
        "m",
        "left",
        "right",
        ".",
        "1",
        "2",
        "4",
        "6",
    ]
    async with opened(demo, "order-4412", (100, 16)) as pilot:
        screen = pilot.app.screen
        for _ in range(60):
            key = dice.choice(keys)
            await press(pilot, key)
            stands = screen._compositor.render_strips(pilot.app.size)
            for widget in screen.walk_children(Widget):
                widget._styles_cache.clear()
                widget._render_cache = widget._render_cache._replace(lines=[])
                widget._set_dirty()
            assert stands == screen._compositor.render_strips(pilot.app.size), key
