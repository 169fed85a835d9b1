"""Which actions can be done now, and the few that are hinted at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from textual.screen import Screen

from retrograph.tui.actions import Action, in_scopes
from retrograph.tui.keymap import Acts, Keys


def owners(screen: Screen[Any]) -> Iterator[Acts]:
    """The nodes that a key goes through, from what has the focus outward."""
    focused = screen.focused
    chain = (focused or screen).ancestors_with_self
    for node in chain:
        if isinstance(node, Acts):
            yield node
            if "prompt" in node.SCOPES:
                return  # what is typed goes no further


def available(screen: Screen[Any]) -> list[tuple[Action, Acts]]:
    """What can be done now, and by whom, the innermost first."""
    return [
        (action, node)
        for node in owners(screen)
        for action in in_scopes(*node.SCOPES)
        if node.check_action(action.name, ())
    ]


def hints_of(screen: Screen[Any], keys: Keys) -> tuple[list[tuple[str, str]], tuple[str, str]]:
    """(key, word) of what is hinted at, the innermost first, and help for the right edge."""
    shown = [
        (keys.first(action.id), action.hint)
        for action, _ in available(screen)
        if action.hint and action.id != "app.help" and keys.of(action.id)
    ]
    return shown, (keys.first("app.help"), "help")
