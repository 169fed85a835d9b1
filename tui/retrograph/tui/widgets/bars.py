"""The lines around the panes: what was opened, where one is, what can be done."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip
from textual.widget import Widget

from retrograph.tui.spans import Line, Span, fit, spread, width
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.painted import Painted


class Bar(Painted, Widget):
    """One line, with something at its left and something at its right edge."""

    DEFAULT_CSS = "Bar { height: 1; padding: 0 1; }"

    def __init__(self, ui: Ui, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.ui = ui
        self._left: Line = ()
        self._right: Line = ()

    def say(self, left: Line | None = None, right: Line | None = None) -> None:
        """Show these; `None` leaves a side as it is."""
        before = self._left, self._right
        self._left = self._left if left is None else left
        self._right = self._right if right is None else right
        if before != (self._left, self._right):
            self.refresh()

    def render_line(self, y: int) -> Strip:
        columns = self.size.width
        return self.strip(self.line(columns), columns, cut=self.ui.cut)

    def line(self, columns: int) -> list[Span]:
        """What stands there in so many columns."""
        if not self._left:
            right = fit(self._right, columns, self.ui.cut)
            return [Span(" " * (columns - width(right))), *right]
        if width(self._right) > columns // 2:
            return spread(self._left, fit(self._right, columns // 2, self.ui.cut), columns)
        return spread(self._left, self._right, columns, self.ui.cut)

    @property
    def text(self) -> str:
        """What stands there, for tests."""
        return "".join(span.text for span in self.line(self.size.width)).rstrip()


class Header(Bar):
    """The line at the top. Where it is narrow, what stands first in it goes first, then what is
    at the right is cut: the source and the mode stay."""

    def line(self, columns: int) -> list[Span]:
        left = self._left
        if width(left) + width(self._right) + 2 > columns:
            left = left[2:]
        room = max(columns - width(left) - 2, 0)
        return spread(left, fit(self._right, room, self.ui.cut), columns, self.ui.cut)


class Hints(Bar):
    """The keys that do something here, as many as there is room for; help stands at the right."""

    def hint(self, hints: Sequence[tuple[str, str]], last: tuple[str, str]) -> None:
        """(key, word) in the order of their importance, and the one at the right."""
        self._hints = hints
        self._last = last
        self.refresh()

    _hints: Sequence[tuple[str, str]] = ()
    _last: tuple[str, str] = ("", "")

    def line(self, columns: int) -> list[Span]:
        right = [Span(self._last[0], "accent"), Span(f" {self._last[1]}", "dim")]
        room = columns - width(right) - 2
        left: list[Span] = []
        for key, word in self._hints:
            piece = [Span(key, "accent"), Span(f" {word}  ", "dim")]
            if width(left) + width(piece) - 2 > room:
                break
            left += piece
        return spread(left, right, columns, self.ui.cut)
