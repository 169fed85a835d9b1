"""Waiting for what comes from outside the app."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

PATIENCE = 60
"""Seconds after which a test that waits for a change has failed."""


async def until(condition: Callable[[], bool]) -> None:
    """Let the app work until something holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.02)
