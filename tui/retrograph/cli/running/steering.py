"""Ctrl-C while a graph runs: once holds it before its next super-step, twice ends it."""

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
        self._signals: SimpleQueue[bool] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        self._thread.start()
        self._before = signal.signal(signal.SIGINT, self._came)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGINT, self._before)
        self._signals.put(False)
        self._thread.join()

    def _came(self, number: int, frame: FrameType | None) -> None:
        self._signals.put(True)

    def _serve(self) -> None:
        while self._signals.get():
            if self.asked:
                self._driver.cancel()
                continue
            self.asked = True
            try:
                self._driver.pause()
                self._pausing()
            except HostError:  # its end is noticed by whoever waits for it
                pass
