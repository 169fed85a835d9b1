"""Lines that stay on a terminal, and below them a few that are painted anew."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from retrograph.cli.output import Output
from retrograph.cli.paint import Line, fit


class Screen:
    """Not safe for several threads by itself."""

    def __init__(self, out: Output) -> None:
        self.out = out
        self._below = 0
        """Lines that are painted below what stays."""

    def stay(self, lines: Iterable[Line]) -> None:
        """Print lines for good; what was below them is gone."""
        self.clear()
        self.out.now(lines)

    def below(self, lines: Sequence[Line]) -> None:
        """Paint these below what stays, in place of what was there. Only on a terminal that can."""
        if not self.out.moves:
            return
        width = (self.out.width or 80) - 1  # a full line would take the cursor with it
        self.clear()
        self.out.now([fit(line, width) for line in lines])
        self._below = len(lines)

    def clear(self) -> None:
        if self.out.moves:
            # From the first column, and with what a pressed key has left there.
            up = f"\x1b[{self._below}A" if self._below else ""
            sys.stdout.write(f"\r{up}\x1b[J")
            sys.stdout.flush()
            self._below = 0
