"""A line to type in, in the place of the breadcrumb: search, go to, filter."""

from __future__ import annotations

from typing import cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.suggester import SuggestFromList
from textual.widgets import Input

from retrograph.tui.asking import Asked
from retrograph.tui.home import Home
from retrograph.tui.keymap import Acts
from retrograph.tui.messages import PromptAccepted, PromptChanged, PromptLeft
from retrograph.tui.spans import Line, Span, width
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.bars import Bar


class Typed(Input):
    """What is typed in. A key that ends the prompt does so in its turn, and not when it has come up
    to the app: until then others would fall into the line."""

    def __init__(self, prompt: Prompt, value: str, offered: tuple[str, ...]) -> None:
        suggester = SuggestFromList(offered, case_sensitive=False) if offered else None
        super().__init__(value, compact=True, select_on_focus=False, suggester=suggester)
        self._prompt = prompt

    async def _on_key(self, event: events.Key) -> None:
        if self._prompt.ends(self, event):
            event.stop()
            event.prevent_default()


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
        self._over = False
        """It was accepted or left."""
        self._behind: list[events.Key] | None = []
        """Keys that were typed since, until what had the focus has it again."""

    def compose(self) -> ComposeResult:
        yield Bar(self._ui, classes="prompt-label")
        yield Typed(self, self._value, self._offered)
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
        """Say something about what was typed, at the right; nothing before there is a line."""
        if self._ahead is not None:
            return
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

    def ends(self, line: Input, event: events.Key) -> bool:
        """Whether a key is not for the line: it ends the prompt, or came behind its end."""
        keys = self._ui.keys
        if self._over:
            self._hand_on(event)
        elif event.key in keys.of("prompt.accept"):
            self._over = True
            # Behind what the line, and then this, have yet to tell of its changes.
            line.call_later(self.call_later, self.action_prompt_accept)
        elif event.key in keys.of("prompt.leave"):
            self._over = True
            line.call_later(self.call_later, self.action_prompt_leave)
        return self._over

    def _hand_on(self, event: events.Key) -> None:
        focused = self.screen.focused if self._behind is None else None
        if focused is not None:
            # What a parent of a widget sends to it would not come up through that parent.
            key = events.Key(event.key, event.character).set_sender(self)
            cast(Home, self.app).aim(key, focused)
        elif self._behind is not None:
            self._behind.append(event)

    def closed(self) -> None:
        """What had the focus has it again: keys that came behind the end are meant for it."""
        behind, self._behind = self._behind or [], None
        for event in behind:
            self._hand_on(event)

    def action_prompt_accept(self) -> None:
        self.post_message(PromptAccepted(self.purpose, self.value))

    def action_prompt_leave(self) -> None:
        self.post_message(PromptLeft(self.purpose))
