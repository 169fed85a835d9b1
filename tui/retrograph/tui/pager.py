"""Handing a text to the user's own pager, and the terminal with it."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import Any

from textual.app import App

from retrograph.engine.text import escape


def page(app: App[Any], text: str) -> None:
    """Show a text in $PAGER, and come back when it ends. Escapes in it are made visible for the
    pager too."""
    pager = shlex.split(os.environ.get("PAGER") or "less") or ["less"]
    safe = "\n".join(escape(line) for line in text.split("\n"))
    try:
        with app.suspend():
            subprocess.run(pager, input=safe.encode("utf-8", "replace"), check=False)
    except OSError as error:
        app.notify(f"{pager[0]} cannot be run: {error.strerror}.", severity="error")
