"""Everything that can be done here, found by typing."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.widgets import Input

from retrograph.tui.actions import Action
from retrograph.tui.keymap import Acts
from retrograph.tui.screens.dialog import Dialog
from retrograph.tui.spans import Line, Span, columns
from retrograph.tui.ui import Ui

Choice = tuple[Action, Acts]


class Palette(Dialog[Choice]):
    """The result is the action, and who does it."""

    def __init__(self, ui: Ui, choices: Sequence[Choice]) -> None:
        super().__init__(ui, "find an action", typing=True)
        # The palette itself, and mere moves, are of no use here.
        self._all = [c for c in choices if c[0].scope != "move" and c[0].id != "app.palette"]
        self._found: list[Choice] = self._all

    def on_mount(self) -> None:
        self._show("")

    @on(Input.Changed)
    def _changed(self, message: Input.Changed) -> None:
        self._show(message.value)

    def _show(self, text: str) -> None:
        self._found = sorted(
            (c for c in self._all if score(c[0], text) is not None),
            key=lambda choice: score(choice[0], text) or 0,
        )
        width = max((columns(action.title) for action, _ in self._all), default=0)
        keys = self.ui.keys
        lines: list[Line] = [
            [
                Span(f"{action.title:<{width}}  "),
                Span(f"{keys.first(action.id):>5}  ", "accent"),
                Span(action.help, "dim"),
            ]
            for action, _ in self._found
        ]
        self.rows.set_lines(lines)

    def on_key(self, event: events.Key) -> None:
        # The line to type in has the focus; the arrows are for the rows below it.
        move = {"down": 1, "up": -1, "pagedown": 10, "pageup": -10}.get(event.key)
        if move is not None:
            event.stop()
            self.rows.cursor += move

    def note_of(self, row: int) -> str | None:
        if row >= len(self._found):
            return ""
        action = self._found[row][0]
        return f"{action.help} ({action.id})"

    def pick(self, row: int) -> None:
        self.dismiss(self._found[row] if row < len(self._found) else None)


def score(action: Action, text: str) -> int | None:
    """How well an action fits what was typed, 0 the best; `None` where a word is nowhere in it."""
    words = text.lower().split()
    title, more = action.title.lower(), f"{action.id} {action.help.lower()}"
    worst = 0
    for word in words:
        if title.startswith(word):
            rank = 0
        elif f" {word}" in title:
            rank = 1
        elif word in title:
            rank = 2
        elif word in more:
            rank = 3
        else:
            return None
        worst = max(worst, rank)
    return worst
