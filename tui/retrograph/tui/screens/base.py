"""What every screen has: a header of one line, its panes, and a line of hints."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.screen import Screen

from retrograph.tui.hints import hints_of
from retrograph.tui.keymap import Acts
from retrograph.tui.reading.source import Source
from retrograph.tui.spans import Line, Span
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.bars import Bar, Hints
from retrograph.tui.work import Reads

if TYPE_CHECKING:
    from retrograph.tui.app import RetrographApp


class BaseScreen(Acts, Reads, Screen[None]):
    """A screen over an opened source."""

    def __init__(self, ui: Ui) -> None:
        super().__init__()
        self.ui = ui
        self.bind_keys(ui.keys)

    def compose(self) -> ComposeResult:
        yield Bar(self.ui, id="header")
        yield from self.panes()
        yield Hints(self.ui, id="hints")

    def panes(self) -> ComposeResult:
        """What stands between the header and the hints."""
        yield from ()

    @property
    def home(self) -> RetrographApp:
        return cast("RetrographApp", self.app)

    @property
    def source(self) -> Source | None:
        """The opened source; `None` while it is being opened."""
        return self.home.source

    def take_source(self, source: Source) -> None:
        """The source can be read: called once."""
        self.say_header([])
        self.source_opened(source)

    def source_opened(self, source: Source) -> None:
        """What a screen does first with its source."""

    def say_header(self, right: Line) -> None:
        """The source and the mode at the left, and what the screen says of itself."""
        dot = self.ui.dot
        source = self.source
        left = [Span("retrograph", "accent"), Span("  ")]
        if source is None:
            left.append(Span(f"opening {self.home.named}", "dim"))
        else:
            left += [
                Span(source.name, "strong"),
                Span(f"{dot}{source.backend}{dot}", "dim"),
                Span(source.mode, "done" if source.mode == "read-only" else "waits"),
            ]
        self.query_one("#header", Bar).say(left, right)

    def say_hints(self) -> None:
        """Name the keys that do something for what has the focus."""
        hints, last = hints_of(self, self.ui.keys)
        self.query_one("#hints", Hints).hint(hints, last)

    def on_mount(self) -> None:
        self.say_header([])
        self.say_hints()
        if self.source is not None:
            self.take_source(self.source)

    def on_screen_resume(self) -> None:
        self.say_hints()

    def complain(self, sentence: str) -> None:
        """Say what went wrong; what is on the screen stays."""
        self.notify(sentence, severity="error", timeout=8, markup=False)

    def close_inner(self) -> bool:
        """Go back inside the screen; whether there was something to go back from."""
        return False
