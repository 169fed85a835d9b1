"""Driving the app in tests: opened on a real source, waited for by its work and not by time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from retrograph.engine.views.redact import Redactor
from retrograph.tui.app import FOLLOW, RetrographApp
from retrograph.tui.keymap import Keys
from retrograph.tui.ui import Ui
from retrograph.tui.work import Settled

SMALL = (80, 24)
WIDE = (140, 40)


@asynccontextmanager
async def opened(
    source: Path | str,
    thread: str | None = None,
    size: tuple[int, int] = WIDE,
    key_map: str = "default",
    memory: Path | None = None,
    **more: Any,
) -> AsyncIterator[Pilot[None]]:
    """The app on a source, when everything that it reads by itself has been read."""
    ui = Ui(Keys(key_map), ascii=more.pop("ascii", False))
    redactor = more.pop("redactor", Redactor())
    app = RetrographApp(ui, str(source), redactor, thread, memory=memory, **more)
    async with app.run_test(size=size, notifications=True) as pilot:
        while app.source is None and app.failure is None:
            await pilot.pause()
        await settle(pilot)
        yield pilot


async def settle(pilot: Pilot[Any]) -> None:
    """Wait until nothing is being read, nothing is about to be, and all of it is drawn."""
    while True:
        await pilot.pause()
        at_work = [w for w in pilot.app.workers if w.group != FOLLOW and not w.is_finished]
        if at_work:
            await pilot.app.workers.wait_for_complete(at_work)
        elif not Settled.any_waiting():
            await pilot.pause()
            if not Settled.any_waiting():
                return


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys, and wait for what they set going."""
    await pilot.press(*keys)
    await settle(pilot)


def text(pilot: Pilot[Any]) -> str:
    """What is on the screen, line by line, without blanks at the ends."""
    app = pilot.app
    width, height = app.size
    lines = app.screen._compositor.render_strips(app.size)
    shown = ["".join(segment.text for segment in strip).rstrip() for strip in lines[:height]]
    assert all(len(line) <= 2 * width for line in shown)
    return "\n".join(shown)
