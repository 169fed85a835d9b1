"""The app in the terminal.

For the command line: `run(source, thread=…)` opens the app on a source and returns when the user
leaves it. It is the only thing to call from outside; importing this module imports Textual.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import BindingsMap
from textual.message import Message

from retrograph.engine.errors import RetrographError
from retrograph.engine.redact import Redactor
from retrograph.engine.serde import Serde
from retrograph.engine.text import escape
from retrograph.tui import theme
from retrograph.tui.keymap import Acts, Keys
from retrograph.tui.messages import ReadingFailed, SourceOpened
from retrograph.tui.reading.source import Source
from retrograph.tui.screens.base import BaseScreen
from retrograph.tui.ui import Ui
from retrograph.tui.work import Job, Reads


def run(
    source: str | None,
    *,
    thread: str | None = None,
    no_redact: bool = False,
    ascii: bool = False,
    theme_name: str | None = None,
    key_map: str = "default",
    keys: Mapping[str, str] | None = None,
    redact: tuple[str, ...] = (),
    configured: str | None = None,
    mouse: bool = True,
) -> int:
    """Open the app; returns the exit code.

    `source` as the user gave it, `None` for "what is here", of which `configured` is what the
    configuration says. `thread`: the id of the thread to show, else their list. `key_map` and
    `keys`: see `keymap.Keys`. Raises `RetrographError` where the source cannot be opened or has no
    such thread, after the terminal is as it was; and `ConfigError` for a key map that is wrong.
    """
    ui = Ui(Keys(key_map, keys), ascii)
    redactor = Redactor(redact, enabled=not no_redact)
    app = RetrographApp(ui, source, redactor, thread, configured, theme_name)
    app.run(mouse=mouse)
    if app.failure is not None:
        raise app.failure
    return app.return_code or 0


class RetrographApp(Acts, Reads, App[None]):
    """Opens the source, holds the stack of screens, and does what can be done everywhere."""

    CSS_PATH: ClassVar[str] = "retrograph.tcss"
    SCOPES = ("app",)
    ENABLE_COMMAND_PALETTE = False
    TITLE = "retrograph"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 — Textual says so

    def __init__(
        self,
        ui: Ui,
        source: str | None,
        redactor: Redactor,
        thread: str | None = None,
        configured: str | None = None,
        theme_name: str | None = None,
    ) -> None:
        super().__init__()
        self.ui = ui
        self._bindings = BindingsMap()
        self.bind_keys(ui.keys)
        self.given = source
        self.redactor = redactor
        self.source: Source | None = None
        self.failure: RetrographError | None = None
        """Why the app ended before it showed anything."""
        self._thread = thread
        self._configured = configured
        for known in theme.THEMES:
            self.register_theme(known)
        self.theme = theme_name or (theme.TERMINAL if self.no_color else theme.DARK)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme.VARIABLES

    # The source.

    def get_default_screen(self) -> BaseScreen:
        if self._thread is not None:
            from retrograph.tui.screens.thread import ThreadScreen

            return ThreadScreen(self.ui, self._thread)
        from retrograph.tui.screens.threads import ThreadsScreen

        return ThreadsScreen(self.ui)

    def on_mount(self) -> None:
        given, redactor, configured = self.given, self.redactor, self._configured

        def work(job: Job) -> Message:
            from retrograph.loaders.registry import open_source

            loader = open_source(given, configured=configured)
            name = redactor.location(given if given is not None else loader.location)
            return SourceOpened(Source(loader, name, redactor, Serde.from_env()))

        self.read("source", work)

    @property
    def named(self) -> str:
        """The source as it was given, short and safe to draw, while it is being opened."""
        return escape(Path(self.redactor.location(self.given or ".")).name or "here")

    def on_source_opened(self, message: SourceOpened) -> None:
        self.source = message.source
        for screen in self.screen_stack:
            if isinstance(screen, BaseScreen) and screen.is_mounted:
                screen.take_source(message.source)

    def on_reading_failed(self, message: ReadingFailed) -> None:
        if message.what == "source" and isinstance(message.error, RetrographError):
            self.failure = message.error
            self.exit(return_code=2)

    def on_unmount(self) -> None:
        if self.source is not None:
            # What is still being read must not keep the program from ending.
            self.source.loader.interrupt()
            self.source.loader.close()

    # Actions.

    def action_app_back(self) -> None:
        screen = self.screen
        if isinstance(screen, BaseScreen) and screen.close_inner():
            return
        if len(self.screen_stack) > 1:
            self.pop_screen()

    def action_app_theme(self) -> None:
        names = theme.NAMES
        now = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(now + 1) % len(names)]
