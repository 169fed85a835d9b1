"""How each role of a text looks: colours by their names in the theme, and attributes.

Not in the stylesheet: Textual would match some fifty rules against twenty imagined nodes for every
screen that it styles, the first frame's among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from rich.style import Style
from textual.color import Color


class Look(NamedTuple):
    """`None` and "" say nothing."""

    color: str | None = None
    """A variable of the theme, or a colour as Textual writes it."""
    background: str | None = None
    attributes: str = ""
    """As Rich writes them."""


ROLES: Mapping[str, Look] = {
    "dim": Look("dim"),
    "faint": Look("faint"),
    "strong": Look(attributes="bold"),
    "accent": Look("accent"),
    "done": Look("success"),
    "waits": Look("warning"),
    "failed": Look("error"),
    "fork": Look("fork"),
    "string": Look("string"),
    "number": Look("number"),
    "class": Look("dim", attributes="italic"),
    "on": Look(attributes="bold"),
    "match": Look(background="match"),
    "mark": Look("accent", attributes="bold"),
    "added": Look(background="added"),
    "removed": Look(background="removed"),
    "added-word": Look(background="added-word"),
    "removed-word": Look(background="removed-word"),
    "cursor": Look(background="cursor"),
    "cursor-blurred": Look(background="cursor-blurred"),
}

_SIXTEEN = {
    "dim": Look(attributes="dim"),
    "class": Look(attributes="dim italic"),
    "cursor": Look("cursor-text"),
    "cursor-blurred": Look(attributes="underline"),
    "match": Look("ansi_black"),
    "added": Look("success"),
    "removed": Look("error"),
    "added-word": Look("success", attributes="bold reverse"),
    "removed-word": Look("error", attributes="bold reverse"),
}
"""What the terminal's own sixteen colours change: dim is an attribute, and the cursor brings its
own text colour."""

_COLOURLESS = {
    "cursor": Look(attributes="reverse"),
    "waits": Look(attributes="bold"),
    "failed": Look(attributes="bold"),
    "fork": Look(attributes="underline"),
    "match": Look(attributes="reverse"),
}
"""What it takes where attributes are all there is."""


def look(role: str, sixteen: bool, colourless: bool) -> Look:
    """How a role looks. `sixteen`: in the terminal's own colours; `colourless`: in none."""
    found = ROLES[role]
    for wanted, changes in ((sixteen, _SIXTEEN), (colourless, _COLOURLESS)):
        if wanted and role in changes:
            new = changes[role]
            found = Look(
                new.color or found.color,
                new.background or found.background,
                new.attributes or found.attributes,
            )
    return found


def style(role: str, variables: Mapping[str, str], sixteen: bool, colourless: bool) -> Style:
    """The same as Rich's style. `variables`: the theme's."""
    colour, background, attributes = look(role, sixteen, colourless)
    return _style(
        variables.get(colour, colour) if colour else None,
        variables.get(background, background) if background else None,
        attributes,
    )


@lru_cache(maxsize=256)
def _style(colour: str | None, background: str | None, attributes: str) -> Style:
    made, ground = (Color.parse(c) if c else None for c in (colour, background))
    return Style(
        color=made.rich_color if made is not None and made.a > 0 else None,
        bgcolor=ground.rich_color if ground is not None and ground.a > 0 else None,
    ) + Style.parse(attributes)
