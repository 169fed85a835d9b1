"""Asking the user for a line of text, from any widget of a screen."""

from __future__ import annotations

from typing import NamedTuple, Protocol, cast

from textual.widget import Widget

AGAINST = "against"
"""A purpose: what a checkpoint is compared with."""


class Asked(NamedTuple):
    """What a line of text is wanted for."""

    purpose: str
    label: str
    value: str = ""
    offered: tuple[str, ...] = ()
    """What is offered as a completion, the likeliest first."""


class Asks(Protocol):
    """A screen with a prompt."""

    def open_prompt(self, asked: Asked) -> None: ...


def ask(widget: Widget, asked: Asked) -> None:
    """Open the prompt of the widget's screen. At once, not by a message: what is typed meanwhile
    is meant for it."""
    cast(Asks, widget.screen).open_prompt(asked)
