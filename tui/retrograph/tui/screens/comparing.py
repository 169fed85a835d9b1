"""Choosing what the Diff tab compares with, by a line of text, from the screen of a thread."""

from __future__ import annotations

from textual import on

from retrograph.engine.history import NONE, History
from retrograph.engine.text import cut, escape
from retrograph.tui.asking import AGAINST, Asked
from retrograph.tui.messages import PromptAccepted, PromptChanged
from retrograph.tui.reading.choosing import FORMS, choose, offered, said
from retrograph.tui.screens.finding import FindingScreen
from retrograph.tui.spans import Span


class ComparingScreen(FindingScreen):
    """What is compared with stays while the cursor moves; `~N` moves with it."""

    _up = ""
    """`~N`, where that was chosen."""
    _key: tuple[str, str] | None = None
    """Namespace and id of what was chosen."""

    def open_prompt(self, asked: Asked) -> None:
        model = self.history.model
        if asked.purpose == AGAINST and model is not None:
            history = model.picture.history
            found = tuple(offered(history, model.known, self.history.selected))
            asked = asked._replace(offered=found)
            self.call_after_refresh(self._say_against, "")
        super().open_prompt(asked)

    @on(PromptChanged)
    def _against_typed(self, message: PromptChanged) -> None:
        if message.purpose == AGAINST:
            self._say_against(message.text)

    def _say_against(self, text: str) -> None:
        model = self.history.model
        if model is None:
            return
        if not text.strip():
            self.say_in_prompt([Span(FORMS, "dim")])
            return
        history = model.picture.history
        found = choose(history, model.known, self.history.selected, text)
        if not found:
            self.say_in_prompt([Span("no such checkpoint", "waits")])
            return
        more = f"{self.ui.dot}+{len(found) - 1}" if len(found) > 1 else ""
        words = said(history, model.known, found[0], self.ui.signs)
        self.say_in_prompt([Span(cut(words, 60), "dim"), Span(more, "waits")])

    @on(PromptAccepted)
    def _against_accepted(self, message: PromptAccepted) -> None:
        model = self.history.model
        if message.purpose != AGAINST or model is None or not message.text.strip():
            return
        history = model.picture.history
        found = choose(history, model.known, self.history.selected, message.text)
        if not found:
            named = escape(cut(message.text, 60))
            self.complain(f"There is no checkpoint '{named}' in this thread.")
            return
        text = message.text.strip()
        self._up = text if text.startswith("~") else ""
        self._key = (history.ns(found[0]), history.ids[found[0]])
        self.inspector.compare("chosen")
        self.inspect_again()
        self.tab_picked(self.inspector.title, found[0])

    def inspect_again(self) -> None:
        """Read the selected checkpoint once more, with what it is compared with."""

    def chosen(self, history: History, checkpoint: int) -> int:
        """What a checkpoint is compared with; `NONE` where nothing was chosen, or it is gone."""
        model = self.history.model
        if self._up and model is not None:
            return next(iter(choose(history, model.known, checkpoint, self._up)), NONE)
        return history.find(*self._key) if self._key is not None else NONE
