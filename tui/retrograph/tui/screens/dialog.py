"""A box over the screen: a title, perhaps a line to type in, and rows to pick from."""

from __future__ import annotations

from typing import TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from retrograph.tui.keymap import Acts
from retrograph.tui.messages import RowOpened
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.lines import Lines
from retrograph.tui.widgets.painted import COMPONENTS

Result = TypeVar("Result")


class Dialog(Acts, ModalScreen[Result]):
    """The result is what was picked, or `None`."""

    COMPONENT_CLASSES = COMPONENTS
    SCOPES = ("dialog",)

    def __init__(self, ui: Ui, title: str, typing: bool = False) -> None:
        super().__init__()
        self.ui = ui
        self.bind_keys(ui.keys)
        self.rows = Lines(ui, classes="dialog-rows")
        self._box_title = title
        self._typing = typing

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = self._box_title
            if self._typing:
                yield Input(compact=True, classes="dialog-input")
            yield self.rows

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

    def pick(self, row: int) -> None:
        """A row was picked."""
        self.dismiss(None)
