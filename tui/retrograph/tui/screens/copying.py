"""The copy menu: the selected thing in one of several forms, by one letter."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events

from retrograph.engine.text import cut, escape
from retrograph.tui.reading.copies import Copy
from retrograph.tui.screens.dialog import Dialog
from retrograph.tui.spans import Line, Span, columns
from retrograph.tui.ui import Ui


class CopyMenu(Dialog[Copy]):
    """The result is the form that was picked."""

    def __init__(self, ui: Ui, copies: Sequence[Copy]) -> None:
        super().__init__(ui, "copy")
        self._copies = copies

    def on_mount(self) -> None:
        width = max((columns(copy.title) for copy in self._copies), default=0)
        lines: list[Line] = [
            [
                Span(f"{copy.key}  ", "accent"),
                Span(f"{copy.title:<{width}}  "),
                Span(
                    copy.preview if copy.preview is not None else escape(cut(copy.text(), 200)),
                    "dim",
                ),
            ]
            for copy in self._copies
        ]
        self.rows.set_lines(lines)

    def on_key(self, event: events.Key) -> None:
        for row, copy in enumerate(self._copies):
            if event.character == copy.key:
                event.stop()
                event.prevent_default()
                self.pick(row)

    def pick(self, row: int) -> None:
        self.dismiss(self._copies[row] if row < len(self._copies) else None)
