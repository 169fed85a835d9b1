"""The app, where somebody sits at a terminal to look at it."""

from __future__ import annotations

import os
import sys


def at_a_terminal() -> bool:
    """Whether the app can be shown: it reads keys from stdin, and draws on stderr."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return all(s is not None and s.isatty() for s in streams) and os.environ.get("TERM") != "dumb"


def look(source: str | None, thread: str | None, no_redact: bool) -> int:
    """Open the app; returns the exit code. Raises as `retrograph.tui.app.run` does."""
    from retrograph.loaders.project import load_config

    config = load_config()
    settings = config.settings
    # Textual paints at most so often a second; at its default, 60, a key waits longer for that than
    # for everything else. It reads this when it is imported, which is here and nowhere else.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    from retrograph.tui.app import run

    return run(
        source,
        thread=thread,
        redactor=config.redactor(no_redact),
        configured=settings.source,
        keys=settings.keys,
        theme_name=settings.theme,
        ascii=settings.ascii,
        mouse=settings.mouse,
    )
