"""A line to type in, in the place of the breadcrumb: search, go to, filter."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.suggester import SuggestFromList
from textual.widgets import Input

from retrograph.tui.keymap import Acts
from retrograph.tui.messages import PromptAccepted, PromptChanged, PromptLeft
from retrograph.tui.spans import Line, Span, width
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.bars import Bar


class Prompt(Acts, Horizontal):
    """Asks for a line of text, and tells each change of it."""

    SCOPES = ("prompt",)

    def __init__(
        self, ui: Ui, purpose: str, label: str, value: str = "", offered: tuple[str, ...] = ()
    ) -> None:
        """`offered`: what the right arrow completes to, the likeliest first."""
        super().__init__(classes="prompt")
        self.bind_keys(ui.keys)
        self._ui = ui
        self.purpose = purpose
        self._label = label
        self._value = value
        self._offered = offered

    def compose(self) -> ComposeResult:
        yield Bar(self._ui, classes="prompt-label")
        suggester = SuggestFromList(self._offered, case_sensitive=False) if self._offered else None
        yield Input(self._value, compact=True, select_on_focus=False, suggester=suggester)
        yield Bar(self._ui, classes="prompt-said")

    def on_mount(self) -> None:
        label = self.query_one(".prompt-label", Bar)
        label.say([Span(self._label, "accent")])
        label.styles.width = len(self._label) + 2
        self.query_one(Input).focus()

    def say(self, line: Line) -> None:
        """Say something about what was typed, at the right."""
        said = self.query_one(".prompt-said", Bar)
        said.styles.width = min(width(line) + 2, self.size.width * 2 // 3)
        said.say(right=line)

    @property
    def value(self) -> str:
        return self.query_one(Input).value

    @on(Input.Changed)
    def _changed(self, message: Input.Changed) -> None:
        message.stop()
        self.post_message(PromptChanged(self.purpose, message.value))

    @on(Input.Submitted)
    def _submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self.action_prompt_accept()

    def action_prompt_accept(self) -> None:
        self.post_message(PromptAccepted(self.purpose, self.value))

    def action_prompt_leave(self) -> None:
        self.post_message(PromptLeft(self.purpose))
