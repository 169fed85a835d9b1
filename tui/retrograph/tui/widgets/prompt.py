"""A line to type in, in the place of the breadcrumb: search, go to, filter."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.suggester import SuggestFromList
from textual.widgets import Input

from retrograph.tui.asking import Asked
from retrograph.tui.keymap import Acts
from retrograph.tui.messages import PromptAccepted, PromptChanged, PromptLeft
from retrograph.tui.spans import Line, Span, width
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.bars import Bar


class Prompt(Acts, Horizontal):
    """Asks for a line of text, and tells each change of it."""

    SCOPES = ("prompt",)

    def __init__(self, ui: Ui, asked: Asked) -> None:
        super().__init__(classes="prompt")
        self.bind_keys(ui.keys)
        self._ui = ui
        self.purpose = asked.purpose
        self._label = asked.label
        self._value = asked.value
        self._offered = asked.offered
        self._ahead: list[events.Key] | None = []
        """Keys that were typed before there was a line to type in."""

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
        ahead, self._ahead = self._ahead or [], None
        for event in ahead:
            self.take_key(event)

    def take_key(self, event: events.Key) -> None:
        """Type a key that was aimed elsewhere."""
        if self._ahead is not None:
            self._ahead.append(event)
        else:
            line = self.query_one(Input)
            # What the app itself sends does not come back to it, and so to the bindings.
            line._forward_event(events.Key(event.key, event.character).set_sender(line))

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
