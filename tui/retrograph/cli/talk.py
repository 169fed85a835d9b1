"""stderr and the exit codes: what is said to the person, never data.

| code | means |
|---|---|
| 0 | done; also: nothing found, or nobody reads on |
| 1 | the job failed, or Retrograph has a fault |
| 2 | a wrong call, input or source: one sentence on stderr, nothing on stdout |
| 130 | cancelled |
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType

from retrograph.engine.text import escape

DONE = 0
FAILED = 1
WRONG = 2
CANCELLED = 130

_SLOW = 0.5  # seconds before progress is shown
_OFTEN = 0.1  # seconds between two


def say(sentence: str) -> None:
    """One line on stderr, escaped; lost where stderr is closed."""
    _write(escape(sentence) + "\n")


def complain(sentence: str) -> None:
    """Say what is wrong, in red on a terminal."""
    line = escape(sentence)
    if _terminal() and not os.environ.get("NO_COLOR"):
        line = f"\x1b[31m{line}\x1b[0m"
    _write(f"retrograph: {line}\n")


def confirm(question: str) -> bool:
    """Ask on the terminal; anything but yes is no. Without a terminal nobody can be asked: yes."""
    if not (_terminal() and sys.stdin is not None and sys.stdin.isatty()):
        return True
    _write(f"{escape(question)} [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def show_traceback(error: BaseException, shown: Callable[[str], str] = str) -> None:
    """The whole traceback, each of its lines escaped, and as `shown` leaves it."""
    import traceback

    for text in traceback.format_exception(error):
        for line in text.splitlines():
            say(shown(line))


class Progress:
    """A quiet line on a terminal's stderr, only while something takes long.

    >>> with Progress("reading {:,} threads") as progress:
    ...     progress.at(12_300)
    """

    def __init__(self, words: str) -> None:
        self._words = words
        self._next = time.monotonic() + _SLOW
        self._shown = False
        self._terminal = _terminal()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        """Take the line away, and say no more: something else is about to be drawn."""
        if self._shown:
            _write("\r\x1b[K")
        self._shown = self._terminal = False

    def at(self, *numbers: int) -> None:
        """Tell how far it is; cheap enough for every row."""
        if not self._terminal:
            return
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _OFTEN
            self._shown = True
            _write("\r\x1b[K" + escape(self._words.format(*numbers)))


class Waiting:
    """A quiet line on a terminal's stderr while something of which no number is known takes long.

    >>> with Waiting("starting agent.py:graph"):
    ...     start()
    """

    def __init__(self, words: str) -> None:
        self._words = words
        self._lock = threading.Lock()
        self._shown = self._over = False
        self._timer = threading.Timer(_SLOW, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Waiting:
        if _terminal():
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._shown:
                _write("\r\x1b[K")

    def _show(self) -> None:
        with self._lock:
            if not self._over:
                self._shown = True
                _write(escape(self._words))


def _terminal() -> bool:
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # closed
        return False


def _write(text: str) -> None:
    try:
        data = text.encode(sys.stderr.encoding or "utf-8", "backslashreplace")
        sys.stderr.buffer.write(data)
        sys.stderr.buffer.flush()
    except (AttributeError, OSError, ValueError):
        pass
