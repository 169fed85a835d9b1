"""Ctrl-C while a graph runs: once holds it before its next super-step, twice ends it, as does
SIGTERM at once: what was begun is put in order all the same."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from queue import SimpleQueue
from types import FrameType, TracebackType
from typing import Any

from retrograph.engine.errors import HostError
from retrograph.engine.replay.driving import Driver


class Interrupts:
    """In force within its block. What a signal asks for is done by a thread, since its handler
    may stand in the midst of anything."""

    def __init__(self, driver: Driver, pausing: Callable[[], None]) -> None:
        """`pausing` is called, by that thread, when the first one has come."""
        self.asked = False
        """Whether a pause was asked for."""
        self._driver = driver
        self._pausing = pausing
        self._signals: SimpleQueue[int | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        self._thread.start()
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._came)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        self._signals.put(None)
        self._thread.join()

    def _came(self, number: int, frame: FrameType | None) -> None:
        self._signals.put(number)

    def _serve(self) -> None:
        while (number := self._signals.get()) is not None:
            if self.asked or number == signal.SIGTERM:
                self.asked = True
                self._driver.cancel()
                continue
            self.asked = True
            try:
                self._driver.pause()
                self._pausing()
            except HostError:  # its end is noticed by whoever waits for it
                pass
