"""The app, where somebody sits at a terminal to look at it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from retrograph.engine.thread import Thread
    from retrograph.loaders.launch import HostOptions
    from retrograph.loaders.project import Config


def at_a_terminal() -> bool:
    """Whether the app can be shown: it reads keys from stdin, and draws on stderr."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return all(s is not None and s.isatty() for s in streams) and os.environ.get("TERM") != "dumb"


class Looks(NamedTuple):
    """How the app looks this time; what is not said is as configured."""

    theme: str | None = None
    ascii: bool = False
    mouse: bool = True


AS_CONFIGURED = Looks()


def look(
    source: str | None,
    thread: str | None,
    no_redact: bool,
    looks: Looks = AS_CONFIGURED,
    graph: HostOptions | None = None,
) -> int:
    """Open the app; returns the exit code. `graph`: whose reducers make whole values of
    DeltaChannels. Raises as `retrograph.tui.app.run` does."""
    from retrograph.loaders.project import load_config

    config = load_config()
    settings = config.settings
    # Textual paints at most so often a second; at its default, 60, a key waits longer for that than
    # for everything else. It reads this when it is imported, which is here and nowhere else.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    from retrograph.tui.app import run

    with _folding(graph, config) as let_fold:
        return run(
            source,
            config.redactor(no_redact),
            thread=thread,
            configured=settings.source,
            keys=settings.keys,
            theme_name=looks.theme or settings.theme,
            ascii=looks.ascii or settings.ascii,
            mouse=looks.mouse and settings.mouse,
            let_fold=let_fold,
        )


def _folding(
    graph: HostOptions | None, config: Config
) -> AbstractContextManager[Callable[[Thread], None] | None]:
    if graph is None or graph.graph is None:
        return nullcontext()
    from retrograph.cli.hosting import folding

    return folding(graph, config)
