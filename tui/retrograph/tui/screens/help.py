"""The help of what has the focus: its keys, what they do, and when they serve."""

from __future__ import annotations

from collections.abc import Iterable

from retrograph.tui.actions import SCOPES, Action
from retrograph.tui.keymap import Keys
from retrograph.tui.screens.dialog import Dialog
from retrograph.tui.spans import Line, Span, columns
from retrograph.tui.ui import Ui


class HelpDialog(Dialog[None]):
    """Lists the actions that can be done now."""

    def __init__(self, ui: Ui, actions: Iterable[Action]) -> None:
        super().__init__(ui, "keys")
        self._actions = list(actions)

    def on_mount(self) -> None:
        self.rows.set_lines(help_lines(self._actions, self.ui.keys))


def help_lines(actions: Iterable[Action], keys: Keys) -> list[Line]:
    """Lines of help, by scope."""
    by_scope: dict[str, list[Action]] = {}
    for action in actions:
        by_scope.setdefault(action.scope, []).append(action)
    every = [action for listed in by_scope.values() for action in listed]
    key_width = max((columns(keys.all(action.id)) for action in every), default=0)
    title_width = max((columns(action.title) for action in every), default=0)
    lines: list[Line] = []
    for scope in sorted(by_scope, key=list(SCOPES).index):
        if lines:
            lines.append([])
        lines.append([Span(SCOPES[scope], "strong")])
        lines += [
            [
                Span(f"{keys.all(action.id):<{key_width}}  ", "accent"),
                Span(f"{action.title:<{title_width}}  "),
                Span(action.help, "dim"),
            ]
            for action in by_scope[scope]
        ]
    return lines
