"""The action log on the screen; picking an entry copies its command."""

from __future__ import annotations

from typing import cast

from retrograph.engine.text import escape, local
from retrograph.tui.home import Home
from retrograph.tui.journal import Journal
from retrograph.tui.screens.dialog import Dialog
from retrograph.tui.spans import Line, Span, columns
from retrograph.tui.ui import Ui


class LogDialog(Dialog[None]):
    """Entries with their commands, the newest first."""

    def __init__(self, ui: Ui, journal: Journal) -> None:
        super().__init__(ui, "done so far")
        self._entries = journal.entries[::-1]

    def on_mount(self) -> None:
        width = max((columns(entry.what) for entry in self._entries if entry.command), default=0)
        lines: list[Line] = [
            [
                Span(f"{local(entry.at, '%H:%M:%S')}  ", "faint"),
                Span(f"{entry.what:<{width}}  ", "" if entry.command else "waits"),
                Span(escape(entry.command), "dim"),
            ]
            for entry in self._entries
        ]
        self.rows.set_lines(lines or [[Span("Nothing yet: what you do is listed here.", "dim")]])

    def note_of(self, row: int) -> str | None:
        if row >= len(self._entries):
            return "" if self._entries else None
        entry = self._entries[row]
        return escape(entry.command) or entry.what

    def pick(self, row: int) -> None:
        self.dismiss(None)
        if row < len(self._entries) and self._entries[row].command:
            cast(Home, self.app).copy("the command", self._entries[row].command)
