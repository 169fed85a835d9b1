"""When an app has nothing left to do: asked of its event loop.

Textual's pilot takes an app for idle whose process has used next to no processor in 20 ms. That is
most of the time of a test, and wrong where another thread reads, or the machine is busy.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from textual.app import App

_PATIENCE = 1.0
"""Seconds after which it is left alone: it may be animated without end."""
_ROUNDS = 3
_FRAMES = 0.02
"""Textual draws 60 times a second, and puts off until then what would be drawn twice."""


@contextmanager
def asked_for_idle(app: App[Any]) -> Iterator[None]:
    """Have the pilot ask `app` for it, within the block."""

    async def idle(min_sleep: float = 0.0, max_sleep: float = _PATIENCE) -> None:
        await until_idle(app)

    with patch("textual.app.wait_for_idle", idle), patch("textual.pilot.wait_for_idle", idle):
        yield


async def until_idle(app: App[Any]) -> None:
    """Until all that is due now is done and drawn, and nothing came of the drawing. What waits for
    a thread is not due, nor what waits for a timer of more than a frame."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        await _drained(deadline)
        if not app.screen_stack:
            return
        app.screen._on_timer_update()
        if not _ready():
            wait = _next_timer()
            if wait > _FRAMES:
                return
            await asyncio.sleep(max(wait, 0.0))


async def _drained(deadline: float) -> None:
    quiet = 0
    while quiet < _ROUNDS and time.monotonic() < deadline:
        await asyncio.sleep(0)  # the others, and what other threads have handed in, come first
        quiet = 0 if _ready() else quiet + 1


def _ready() -> bool:
    """Whether anything in the loop can go on."""
    return bool(asyncio.get_running_loop()._ready)  # type: ignore[attr-defined]


def _next_timer() -> float:
    """Seconds until the next timer."""
    loop = asyncio.get_running_loop()
    timers = loop._scheduled  # type: ignore[attr-defined]
    return (
        min((one.when() for one in timers if not one.cancelled()), default=math.inf) - loop.time()
    )
