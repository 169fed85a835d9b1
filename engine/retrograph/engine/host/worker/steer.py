"""Pausing a run between two super-steps, steered by another thread."""

from __future__ import annotations

import threading
from typing import Any


class Steering:
    """`pause` holds before the next super-step, `step` lets one run, `go` all, `stop` ends."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._mode = "go"
        self._steps = 0

    def begin(self, paused: bool) -> None:
        with self._changed:
            self._mode = "pause" if paused else "go"
            self._steps = 0

    def tell(self, header: dict[str, Any]) -> None:
        """A `tell` from the viewer."""
        what = header["tell"]
        with self._changed:
            if what == "step":
                self._mode = "pause"
                self._steps += 1
            elif what in ("go", "pause", "stop"):
                self._mode = what
                self._steps = 0
            self._changed.notify_all()

    def hold(self) -> None:
        """Let nothing pass until the viewer says so."""
        with self._changed:
            self._mode = "pause"
            self._steps = 0

    @property
    def free(self) -> bool:
        """Nothing holds, nothing is counted: the usual case, told without a lock."""
        return self._mode == "go"

    def holds(self) -> bool:
        """Whether a super-step that would begin now must wait."""
        with self._changed:
            return self._mode != "go" and self._steps == 0

    def wait(self) -> bool:
        """Wait until the super-step may begin; False where the run ends here instead."""
        with self._changed:
            self._changed.wait_for(lambda: self._mode in ("go", "stop") or self._steps > 0)
            if self._steps > 0:
                self._steps -= 1
            return self._mode != "stop"
