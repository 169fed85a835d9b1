"""A box over the screen: a title, perhaps a line to type in, and rows to pick from."""

from __future__ import annotations

from typing import TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from retrograph.tui.keymap import Acts
from retrograph.tui.messages import CursorMoved, RowOpened
from retrograph.tui.reading.wrap import Wrapped
from retrograph.tui.spans import Span
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.lines import Lines

_NOTE = 2
"""Lines of the note below the rows."""

Result = TypeVar("Result")


class Dialog(Acts, ModalScreen[Result]):
    """The result is what was picked, or `None`."""

    # Not in the app's stylesheet, since the first frame would wait until it is parsed.
    CSS_PATH = "dialog.tcss"
    SCOPES = ("dialog",)

    def __init__(self, ui: Ui, title: str, typing: bool = False) -> None:
        super().__init__()
        self.ui = ui
        self.bind_keys(ui.keys)
        self.rows = Lines(ui, classes="dialog-rows")
        self.note = Lines(ui, classes="dialog-note")
        self.note.can_focus = False
        self._box_title = title
        self._typing = typing

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = self._box_title
            if self._typing:
                yield Input(compact=True, classes="dialog-input")
            yield self.rows
            yield self.note

    def on_mount(self) -> None:
        (self.query_one(Input) if self._typing else self.rows).focus()

    @property
    def input(self) -> Input:
        return self.query_one(Input)

    def action_dialog_close(self) -> None:
        self.dismiss(None)

    def action_dialog_pick(self) -> None:
        self.pick(self.rows.cursor)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.pick(self.rows.cursor)

    @on(RowOpened)
    def _opened(self, message: RowOpened) -> None:
        self.pick(message.row)

    @on(CursorMoved)
    def _cursor_moved(self, message: CursorMoved) -> None:
        if message.rows is self.rows:
            self._say_note()

    def on_resize(self) -> None:
        # The note and the line to type in stay in sight however many rows there are.
        around = 5 + (_NOTE + 1) * (self.note_of(0) is not None) + 2 * self._typing
        self.rows.styles.max_height = max(self.size.height - around, 3)
        self.call_after_refresh(self._say_note)

    def _say_note(self) -> None:
        note = self.note_of(self.rows.cursor)
        self.note.display = note is not None
        wrapped = Wrapped(note or "", max(self.rows.size.width, 20))
        shown = range(min(len(wrapped), _NOTE))
        lines = [[Span(wrapped.line(k), "dim")] for k in shown]
        self.note.set_lines([[], *lines, *([[]] * (_NOTE - len(lines)))])

    def note_of(self, row: int) -> str | None:
        """What is to be said of a row in full, below the rows; `None` where nothing ever is."""
        return None

    def pick(self, row: int) -> None:
        """A row was picked."""
        self.dismiss(None)
