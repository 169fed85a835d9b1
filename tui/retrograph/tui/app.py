"""The app in the terminal.

For the command line: `run(source, thread=…)` opens the app on a source and returns when the user
leaves it. It is the only thing to call from outside; importing this module imports Textual.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App
from textual.binding import BindingsMap
from textual.filter import ANSIToTruecolor, LineFilter
from textual.message import Message
from textual.theme import Theme

from retrograph.engine.errors import ConfigError, RetrographError
from retrograph.engine.text import escape
from retrograph.engine.views.telling import without_passwords
from retrograph.tui import garbage, theme
from retrograph.tui.aiming import AimingApp
from retrograph.tui.hints import available
from retrograph.tui.journal import Journal
from retrograph.tui.keymap import Acts, Keys
from retrograph.tui.memory import OfSource, default_path, load, save
from retrograph.tui.messages import (
    FileWritten,
    ReadingFailed,
    SourceAnswers,
    SourceLost,
    SourceOpened,
    SourceWarned,
)
from retrograph.tui.screens.base import BaseScreen
from retrograph.tui.ui import Ui
from retrograph.tui.work import Job, Reads


def run(
    source: str | None,
    redactor: Redactor,
    *,
    thread: str | None = None,
    configured: str | None = None,
    keys: Mapping[str, str] | None = None,
    theme_name: str | None = None,
    ascii: bool = False,
    mouse: bool = True,
    let_fold: LetFold | None = None,
) -> int:
    """Open the app; returns the exit code.

    `source` as the user gave it, `None` for "what is here", of which `configured` is what the
    configuration says. `redactor`: of the run, as `Config.redactor` makes it. `thread`: the id of
    the thread to show, else their list. `keys`: keys by the id of an action, and under `map` the
    name of the map that they change. `theme_name`: one of `theme.NAMES`.
    `let_fold`: lets a thread show DeltaChannels whole; it may take its time, and raise
    `RetrographError`.

    Raises `RetrographError` where the source cannot be opened or has no such thread, after the
    terminal is as it was; and `ConfigError` for keys or a theme that do not exist.
    """
    own = dict(keys or {})
    ui = Ui(Keys(own.pop("map", "default"), own), ascii)
    if theme_name is not None and theme_name not in theme.NAMES:
        raise ConfigError(f"There is no theme '{theme_name}'; there are {', '.join(theme.NAMES)}.")
    memory = default_path()
    app = RetrographApp(ui, source, redactor, thread, configured, theme_name, let_fold, memory)
    app.heed_signals = True
    app.run(mouse=mouse)
    app.put_down()
    if app.failure is not None:
        raise app.failure
    return app.return_code or 0


if TYPE_CHECKING:
    from retrograph.engine.views.redact import Redactor
    from retrograph.tui.reading.source import LetFold, Source

FOLLOW = "follow"
"""The group of the worker that looks for changes."""
_TOASTS = 3
"""So many warnings are shown when they come; all of them stand in the log."""


class RetrographApp(Acts, Reads, AimingApp):
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
        let_fold: LetFold | None = None,
        memory: Path | None = None,
    ) -> None:
        """`memory`: the file of what is remembered; `None`: nothing is. The others as in `run`."""
        self._memory_path = memory
        self.memory = self._recalled = load(memory)
        no_color = "NO_COLOR" in os.environ
        # Before Textual asks for it: a theme that is set later has the whole stylesheet parsed once
        # more before the first frame.
        self.set_reactive(App.theme, theme_name or self._first_theme(no_color))
        # Without colours the attributes of the terminal's own palette are what is left.
        super().__init__(ansi_color=True if no_color else None)
        self.ui = ui
        self._bindings = BindingsMap()
        self.bind_keys(ui.keys)
        self.given = source
        self.redactor = redactor
        self.source: Source | None = None
        self.journal = Journal()
        self.failure: RetrographError | None = None
        """Why the app ended before it showed anything."""
        self.heed_signals = False
        """Whether the app ends, with the terminal as it was, where it is told to by a signal."""
        self.away = False
        """The source does not answer."""
        self._warned = 0
        self._thread = thread
        self._configured = configured
        self._let_fold = let_fold
        for known in theme.THEMES:
            self.register_theme(known)

    def _first_theme(self, no_color: bool) -> str:
        """The theme to begin with, where none was asked for."""
        if no_color:
            return theme.TERMINAL
        return self.memory.theme if self.memory.theme in theme.NAMES else theme.DARK

    def get_theme(self, theme_name: str) -> Theme | None:
        return theme.BY_NAME.get(theme_name) or super().get_theme(theme_name)

    def get_line_filters(self) -> Sequence[LineFilter]:
        filters = super().get_line_filters()
        # Themes of ours name a colour of the terminal's own in no case but one, and then it is
        # sent: there is nothing in a line that has to be turned into another colour.
        if self.theme in theme.BY_NAME:
            filters = [one for one in filters if not isinstance(one, ANSIToTruecolor)]
        return filters

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme.VARIABLES

    # What is remembered.

    def remember(self, **changes: Any) -> None:
        self.memory = self.memory._replace(**changes)

    @property
    def _location(self) -> str:
        """What the source is remembered by; without secrets, whatever is shown."""
        source = self.source
        return "" if source is None else without_passwords(source.loader.location)

    def remembered(self) -> OfSource:
        """What is remembered of the source."""
        return self.memory.of(self._location)

    def remember_thread(self, thread_id: str) -> None:
        self.memory = self.memory.with_source(self._location, thread=thread_id)

    def remember_marks(self, thread_id: str, marks: tuple[tuple[str, str], ...]) -> None:
        self.memory = self.memory.with_marks(self._location, thread_id, marks)

    def put_down(self) -> None:
        """Write what is to be remembered, if it is not what it was."""
        if self.memory != self._recalled:
            try:
                save(self._memory_path, self.memory)
            except OSError:
                return  # it is a convenience: a folder that cannot be written is no fault

    # The source.

    def get_default_screen(self) -> BaseScreen:
        if self._thread is not None:
            from retrograph.tui.screens.thread import ThreadScreen

            return ThreadScreen(self.ui, self._thread)
        from retrograph.tui.screens.threads import ThreadsScreen

        return ThreadsScreen(self.ui)

    def on_mount(self) -> None:
        if self.heed_signals:
            loop = asyncio.get_running_loop()
            for signum in (signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(signum, self.exit, None, 128 + signum)
        # First the frame, then the source: whoever waits should see that it began.
        self.call_after_refresh(self._open)
        for clash in self.ui.keys.clashes:
            self.notify(clash, severity="warning", timeout=8, markup=False)

    def _open(self) -> None:
        """Open the source in the background."""
        garbage.look_seldom()
        garbage.leave_alone()
        given, redactor, configured = self.given, self.redactor, self._configured
        let_fold = self._let_fold

        def work(job: Job) -> Message:
            from retrograph.engine.serde import Serde
            from retrograph.loaders.registry import open_source
            from retrograph.tui.reading.source import Source

            loader = open_source(given, configured=configured)
            name = redactor.location(given if given is not None else loader.location)
            return SourceOpened(Source(loader, name, redactor, Serde.from_env(), let_fold))

        self.read("source", work)

    def follow(self) -> None:
        """Look every now and then whether somebody has written, for as long as the app runs."""
        source = self.source
        if source is None:
            return
        loader, shown = source.loader, self.redactor.location

        def work(job: Job) -> None:
            from retrograph.tui.reading.following import follow

            follow(job, loader, shown)

        self.read(FOLLOW, work)

    def on_source_lost(self, message: SourceLost) -> None:
        """What is on the screen stays."""
        self._answers(False)
        self.journal.noted(message.sentence)
        self.notify(message.sentence, severity="error", timeout=8, markup=False)

    def on_source_answers(self, message: SourceAnswers) -> None:
        self._answers(True)
        self.journal.noted(message.sentence)
        self.notify(message.sentence, timeout=4, markup=False)
        # What could not be read meanwhile is read now.
        self.on_source_changed()

    def _answers(self, yes: bool) -> None:
        self.away = not yes
        for screen in self.screen_stack:
            if isinstance(screen, BaseScreen):
                screen.say_header()

    def on_source_warned(self, message: SourceWarned) -> None:
        self.journal.noted(message.sentence)
        if self._warned < _TOASTS:
            self.notify(message.sentence, severity="warning", timeout=8, markup=False)
        self._warned += 1

    def on_source_changed(self) -> None:
        screens = [screen for screen in self.screen_stack if isinstance(screen, BaseScreen)]
        for screen in screens:
            # Those below read it when they come back: nobody sees them.
            screen.missed_change = screen is not screens[-1]
        if screens:
            screens[-1].source_changed()

    @property
    def named(self) -> str:
        """The source as it was given, short and safe to draw, while it is being opened."""
        return escape(Path(self.redactor.location(self.given or ".")).name or "here")

    def on_source_opened(self, message: SourceOpened) -> None:
        self.source = message.source
        for screen in self.screen_stack:
            if isinstance(screen, BaseScreen) and screen.is_mounted:
                screen.take_source(message.source)
        self.follow()

    def on_reading_failed(self, message: ReadingFailed) -> None:
        if message.what == "source":
            self.cannot_show(message.error)
        else:
            self.notify(message.sentence, severity="error", timeout=8, markup=False)

    def cannot_show(self, error: Exception) -> None:
        """The first screen has nothing to show: the app ends, and `run` raises the error."""
        if len(self.screen_stack) == 1 and isinstance(error, RetrographError):
            self.failure = error
            self.exit(return_code=2)

    def on_unmount(self) -> None:
        if self.source is not None:
            # What is still being read must not keep the program from ending.
            self.source.loader.interrupt()
            self.source.loader.close()

    # Actions.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "app_back" and len(self.screen_stack) == 1:
            screen = self.screen
            return not isinstance(screen, BaseScreen) or screen.has_inner
        return super().check_action(action, parameters)

    def action_app_back(self) -> None:
        screen = self.screen
        if isinstance(screen, BaseScreen) and screen.close_inner():
            return
        if len(self.screen_stack) > 1:
            self.pop_screen()

    def action_app_help(self) -> None:
        from retrograph.tui.screens.help import HelpDialog

        actions = [action for action, _ in available(self.screen)]
        self.push_screen(HelpDialog(self.ui, actions))

    def action_app_palette(self) -> None:
        from retrograph.tui.screens.palette import Choice, Palette

        def picked(choice: Choice | None) -> None:
            if choice is not None:
                action, doer = choice
                self.call_later(self.run_action, action.name, doer)

        self.push_screen(Palette(self.ui, available(self.screen)), picked)

    def action_app_copy(self) -> None:
        from retrograph.tui.reading.copies import Copy
        from retrograph.tui.screens.copying import CopyMenu

        screen = self.screen
        copies = screen.copies() if isinstance(screen, BaseScreen) else []
        if not copies:
            self.notify("There is nothing to copy here.", markup=False)
            return

        def picked(copy: Copy | None) -> None:
            if copy is not None:
                self.copy(copy.title, copy.text())

        self.push_screen(CopyMenu(self.ui, copies), picked)

    def copy(self, what: str, text: str) -> None:
        """Copy through the terminal (OSC 52), and by the desktop's own tool where there is one."""
        from retrograph.tui.clipboard import to_desktop

        self.copy_to_clipboard(text)
        self.read("clipboard", lambda _: to_desktop(text))
        self.notify(f"Copied: {what}.", timeout=3, markup=False)

    def action_app_screenshot(self) -> None:
        svg = self.export_screenshot(title="retrograph")
        path = Path.cwd() / f"retrograph-{datetime.now():%Y%m%d-%H%M%S}.svg"

        def work(job: Job) -> Message:
            path.write_text(svg, "utf-8")
            return FileWritten(str(path))

        self.read("screenshot", work)

    def on_file_written(self, message: FileWritten) -> None:
        self.notify(f"Saved {escape(message.path)}.", markup=False)

    def action_app_log(self) -> None:
        from retrograph.tui.screens.log import LogDialog

        self.push_screen(LogDialog(self.ui, self.journal))

    async def action_app_quit(self) -> None:
        await self.action_quit()

    def action_app_theme(self) -> None:
        names = theme.NAMES
        now = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(now + 1) % len(names)]
        self.remember(theme=self.theme)
