"""The help of what has the focus: its keys, what they do, and when they serve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
        self._of_lines, lines = help_lines(self._actions, self.ui.keys)
        self.rows.set_lines(lines, cursor=1)

    def note_of(self, row: int) -> str | None:
        action = self._of_lines[row] if row < len(self._of_lines) else None
        return f"{action.help} ({action.id})" if action is not None else ""

    _of_lines: Sequence[Action | None] = ()


def help_lines(actions: Iterable[Action], keys: Keys) -> tuple[list[Action | None], list[Line]]:
    """The action of each line, and the lines, by scope."""
    by_scope: dict[str, list[Action]] = {}
    for action in actions:
        by_scope.setdefault(action.scope, []).append(action)
    every = [action for listed in by_scope.values() for action in listed]
    key_width = max((columns(keys.all(action.id)) for action in every), default=0)
    title_width = max((columns(action.title) for action in every), default=0)
    lines: list[Line] = []
    of_lines: list[Action | None] = []
    for scope in sorted(by_scope, key=list(SCOPES).index):
        if lines:
            lines.append([])
            of_lines.append(None)
        lines.append([Span(SCOPES[scope], "strong")])
        of_lines += [None, *by_scope[scope]]
        lines += [
            [
                Span(f"{keys.all(action.id):<{key_width}}  ", "accent"),
                Span(f"{action.title:<{title_width}}  "),
                Span(action.help, "dim"),
            ]
            for action in by_scope[scope]
        ]
    return of_lines, lines
