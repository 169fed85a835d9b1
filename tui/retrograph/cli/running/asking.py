"""What a person at the terminal is asked while a graph runs, and after."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from retrograph.cli.paint import clip
from retrograph.cli.running.keys import read_key
from retrograph.engine.text import escape
from retrograph.engine.tree.labels import names

if TYPE_CHECKING:
    from retrograph.engine.host.client import Event
    from retrograph.engine.replay.driving import Choice

_KEYS = "Enter one step · g go on · q stop "


class Chooser:
    """Decides where a run is held: a person does, where one sits there; else it stops, with
    `stepping` after one super-step."""

    def __init__(
        self,
        *,
        asks: bool,
        stepping: bool,
        due: Callable[[], Sequence[str]],
        paused: Collection[str],
        stopping: Callable[[], bool],
        quiet: Callable[[], None],
    ) -> None:
        """`due`: what is due now; `paused`: nodes to wait before; `stopping`: whether a pause was
        asked for meanwhile; `quiet` ends what is being drawn."""
        self._asks = asks
        self.stepping = stepping
        """Whether it is still gone step by step."""
        self._due = due
        self._paused = paused
        self._stopping = stopping
        self._quiet = quiet
        self.waited = 0.0
        """Seconds that a person took."""

    def __call__(self, event: Event) -> Choice:
        if self._stopping():
            return "stop"
        why = event.get("why")
        if not self._asks:
            first, self.stepping = self.stepping, False
            if first and why is None and not set(self._due()) & set(self._paused):
                return "step"
            return "stop"
        self._quiet()
        began = time.monotonic()
        choice = self._chosen(why)
        self.waited += time.monotonic() - began
        self.stepping = choice == "step"
        return choice

    def _chosen(self, why: str | None) -> Choice:
        _prompt(f"Held before {names(self._due())}" + (f", {why}. " if why else ". ") + _KEYS)
        try:
            while True:
                key = read_key(self._stopping)
                if key in "\r\n s":
                    return "step"
                if key == "g":
                    return "go"
                if key in "q\x04\x1b":
                    return "stop"
        finally:
            _unprompt()


def ask_answer() -> str | None:
    """An answer typed at the terminal; `None`: not now."""
    _prompt("Answer now, as JSON or text; Enter leaves it open: ")
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        sys.stdout.write("\n")
        return None
    return line.rstrip("\n") or None


def _prompt(text: str) -> None:
    room = shutil.get_terminal_size((80, 24)).columns - 1  # it is painted over, one line high
    sys.stdout.write(clip(escape(text), room))
    sys.stdout.flush()


def _unprompt() -> None:
    sys.stdout.write("\n" if os.environ.get("TERM") == "dumb" else "\r\x1b[K")
    sys.stdout.flush()
