"""The four looks: dark, light, the terminal's own colours, high contrast.

Each is a Textual theme; the stylesheet names only variables. Meaning of colour: accent is focus
and selection; green is done and added; amber waits for somebody, or was edited; red failed, or
was removed; violet is forks, and routes that turned.
"""

from __future__ import annotations

from textual.theme import Theme

DARK, LIGHT, TERMINAL, CONTRAST = "dark", "light", "terminal", "contrast"
NAMES = (DARK, LIGHT, TERMINAL, CONTRAST)
"""In the order in which they follow each other."""


def _theme(
    name: str,
    dark: bool,
    ground: str,
    text: str,
    accent: str,
    green: str,
    amber: str,
    red: str,
    violet: str,
    **more: str,
) -> Theme:
    """`more` are the variables that only our stylesheet knows; dashes stand as underscores."""
    variables = {name.replace("_", "-"): value for name, value in more.items()}
    line = variables["line"]
    return Theme(
        name=name,
        dark=dark,
        ansi=name == TERMINAL,
        primary=accent,
        secondary=violet,
        accent=accent,
        success=green,
        warning=amber,
        error=red,
        foreground=text,
        background=ground,
        surface=ground,
        panel=ground,
        variables={
            "fork": violet,
            "input-cursor-background": text,
            "input-selection-background": variables["cursor"],
            "scrollbar": line,
            "scrollbar-hover": variables["faint"],
            "scrollbar-active": accent,
            "scrollbar-background": ground,
            "scrollbar-background-hover": ground,
            "scrollbar-background-active": ground,
            "scrollbar-corner-color": ground,
            "border": accent,
            "border-blurred": line,
            **variables,
        },
    )


THEMES = (
    _theme(
        DARK,
        dark=True,
        ground="#15171c",
        text="#d3d7de",
        accent="#79b8ff",
        green="#85c99a",
        amber="#e3b76c",
        red="#f07f78",
        violet="#bb9af7",
        line="#343a45",
        dim="#8b93a1",
        faint="#5f6774",
        string="#a8cfa0",
        number="#92b8e6",
        cursor="#25354a",
        cursor_blurred="#22262e",
        cursor_text="transparent",
        match="#4a4122",
        added="#17291f",
        removed="#311c1f",
        added_word="#2a5a3b",
        removed_word="#6b2c31",
    ),
    _theme(
        LIGHT,
        dark=False,
        ground="#fbfaf6",
        text="#2a2e35",
        accent="#1557b0",
        green="#25703c",
        amber="#8f5b00",
        red="#b3261e",
        violet="#6a3fb5",
        line="#d6d3ca",
        dim="#666b73",
        faint="#8f939a",
        string="#3a6b3f",
        number="#2b5f9e",
        cursor="#d9e6f7",
        cursor_blurred="#eeece5",
        cursor_text="transparent",
        match="#f6e6a8",
        added="#e4f3e4",
        removed="#fae3e1",
        added_word="#b3dfba",
        removed_word="#f2b8b3",
    ),
    _theme(
        CONTRAST,
        dark=True,
        ground="#000000",
        text="#ffffff",
        accent="#5cc8ff",
        green="#5dff8f",
        amber="#ffd24a",
        red="#ff7a7a",
        violet="#d9a6ff",
        line="#9a9a9a",
        dim="#d0d0d0",
        faint="#a8a8a8",
        string="#b9ffb0",
        number="#a9d4ff",
        cursor="#00448f",
        cursor_blurred="#3a3a3a",
        cursor_text="transparent",
        match="#6b5500",
        added="#00330f",
        removed="#4a0008",
        added_word="#007a28",
        removed_word="#a00016",
    ),
    _theme(
        TERMINAL,
        dark=True,
        ground="ansi_default",
        text="ansi_default",
        accent="ansi_cyan",
        green="ansi_green",
        amber="ansi_yellow",
        red="ansi_red",
        violet="ansi_magenta",
        line="ansi_bright_black",
        dim="ansi_default",
        faint="ansi_bright_black",
        string="ansi_green",
        number="ansi_blue",
        cursor="ansi_blue",
        cursor_blurred="ansi_default",
        cursor_text="ansi_bright_white",
        ansi_background="ansi_black",
        ansi_foreground="ansi_white",
        input_cursor_foreground="ansi_default",
        input_selection_foreground="ansi_bright_white",
        match="ansi_yellow",
        added="ansi_default",
        removed="ansi_default",
        added_word="ansi_default",
        removed_word="ansi_default",
    ),
)

BY_NAME = {known.name: known for known in THEMES}
VARIABLES = dict(THEMES[0].variables)
"""For themes of Textual's own that a user may have: what ours say more than they do."""
