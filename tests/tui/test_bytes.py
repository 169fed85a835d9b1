"""How much is sent to the terminal: over a slow line every byte is waited for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual._compositor import CompositorUpdate
from textual.app import App

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
