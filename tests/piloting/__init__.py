"""Driving the app in tests: opened on a real source, waited for by its work and not by time."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from piloting.idle import asked_for_idle
from retrograph.engine.views.redact import Redactor
from retrograph.tui.app import FOLLOW, RetrographApp
from retrograph.tui.keymap import Keys
from retrograph.tui.ui import Ui
from retrograph.tui.work import Settled

SMALL = (80, 24)
WIDE = (140, 40)
_PACE = 0.08
"""Seconds between two keys of somebody who looks."""


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
    with asked_for_idle(app):
        async with app.run_test(size=size, notifications=True) as pilot:
            while app.source is None and app.failure is None:
                await asyncio.sleep(0.005)
                await pilot.pause()
            await settle(pilot)
            yield pilot


async def settle(pilot: Pilot[Any]) -> None:
    """Wait until nothing is being read, nothing is about to be, and all of it is drawn."""
    await _done(pilot, math.inf)
    await _done(pilot, math.inf)


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys, at a pace at which what one shows is there before the next; and wait for what
    they set going."""
    for key in keys:
        await pilot.press(key)
        await _done(pilot, _PACE)
    await settle(pilot)


async def _done(pilot: Pilot[Any], seconds: float) -> None:
    """Until all work is done, also what would be begun within so many seconds."""
    while True:
        await pilot.pause()
        await pilot.app.animator.wait_until_complete()
        at_work = [w for w in pilot.app.workers if w.group != FOLLOW and not w.is_finished]
        soon = Settled.waiting(seconds)
        if at_work:
            with suppress(WorkerCancelled):  # another one does it instead
                await pilot.app.workers.wait_for_complete(at_work)
        elif soon:
            for one in soon:
                one.hurry()
        else:
            return


def text(pilot: Pilot[Any]) -> str:
    """What is on the screen, line by line, without blanks at the ends."""
    app = pilot.app
    width, height = app.size
    lines = app.screen._compositor.render_strips(app.size)
    shown = ["".join(segment.text for segment in strip).rstrip() for strip in lines[:height]]
    assert all(len(line) <= 2 * width for line in shown)
    return "\n".join(shown)
