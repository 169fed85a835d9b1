"""What every screen has: a header of one line, its panes, and a line of hints."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from retrograph.tui.asking import Asked
from retrograph.tui.hints import hints_of
from retrograph.tui.home import Home
from retrograph.tui.keymap import Acts
from retrograph.tui.spans import Line, Span, clip
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.bars import Header, Hints
from retrograph.tui.work import Reads

if TYPE_CHECKING:
    from retrograph.tui.reading.copies import Copy
    from retrograph.tui.reading.source import Source
    from retrograph.tui.widgets.prompt import Prompt


_BREATH = 0.3
"""Seconds between two readings of what is being written all the time."""
_AGAIN = 3.0
"""Seconds until something that could not be read is tried again, and the most of them."""
_AGAIN_AT_MOST = 60.0


class BaseScreen(Acts, Reads, Screen[None]):
    """A screen over an opened source."""

    missed_change = False
    """Somebody wrote to the source while another screen lay over this one, or while it was being
    read, or it could not be read."""
    _failed = ""
    """Why it could not be read the last time."""
    _pause = _AGAIN

    def __init__(self, ui: Ui) -> None:
        super().__init__()
        self.ui = ui
        self.bind_keys(ui.keys)

    def compose(self) -> ComposeResult:
        yield Header(self.ui, id="header")
        yield from self.panes()
        yield Hints(self.ui, id="hints")

    def panes(self) -> ComposeResult:
        """What stands between the header and the hints."""
        yield from ()

    @property
    def home(self) -> Home:
        return cast(Home, self.app)

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

    def source_changed(self) -> None:
        """Somebody has written to the source."""

    def catch_up(self) -> None:
        """It has been read: read what was written meanwhile, but not all the time."""
        self._failed, self._pause = "", _AGAIN
        if self.missed_change:
            self.set_timer(_BREATH, self._read_missed)

    def catch_up_later(self, sentence: str) -> None:
        """It could not be read, for the reason in `sentence`: say so once, and try again, ever more
        rarely."""
        if sentence != self._failed:
            self.complain(sentence)
        self._failed, self.missed_change = sentence, True
        self.set_timer(self._pause, self._read_missed)
        self._pause = min(2 * self._pause, _AGAIN_AT_MOST)

    def _read_missed(self) -> None:
        if self.missed_change:
            self.missed_change = False
            self.source_changed()

    def say_header(self, right: Line | None = None) -> None:
        """The source and the mode at the left, and what the screen says of itself (`None`: what
        it said before)."""
        dot = self.ui.dot
        source = self.source
        left = [Span("retrograph", "accent"), Span("  ")]
        if source is None:
            left.append(Span(f"opening {self.home.named}", "dim"))
        else:
            left += [
                Span(clip(source.name, 32, self.ui.cut), "strong"),
                Span(f"{dot}{source.backend}{dot}", "dim"),
                Span(source.mode, "done" if source.mode == "read-only" else "waits"),
            ]
        if self.home.away:
            left.append(Span(f"{dot}no answer", "failed"))
        self.query_one("#header", Header).say(left, right)

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
        self._read_missed()

    def complain(self, sentence: str) -> None:
        """Say what went wrong; what is on the screen stays."""
        self.notify(sentence, severity="error", timeout=8, markup=False)

    def tell(self, sentence: str) -> None:
        """Say something for a moment."""
        self.notify(sentence, timeout=4, markup=False)

    # The prompt, in the place of the breadcrumb.

    _prompt: Prompt | None = None
    """The one that is open."""
    _asked_from: Widget | None = None
    """What had the focus before it."""

    def open_prompt(self, asked: Asked) -> None:
        """Ask for a line of text."""
        from retrograph.tui.widgets.prompt import Prompt

        self.close_prompt()
        self.set_class(True, "-prompting")
        self._asked_from = self.focused
        self._prompt = Prompt(self.ui, asked)
        self.mount(self._prompt, before="#hints")

    def typed_ahead(self, event: events.Key, aimed: Widget | None) -> bool:
        """Whether a key that came to `aimed` was meant for the prompt, which was not there yet: it
        goes there."""
        prompt = self._prompt
        if prompt is None or (aimed is not None and prompt in aimed.ancestors_with_self):
            return False
        prompt.take_key(event)
        return True

    def close_prompt(self) -> None:
        """Take the prompt away; what had the focus has it again."""
        prompt, self._prompt = self._prompt, None
        if prompt is not None:
            self.set_class(False, "-prompting")
            self.focus_again()
            prompt.closed()
            prompt.remove()

    def say_in_prompt(self, line: Line) -> None:
        if self._prompt is not None:
            self._prompt.say(line)

    def focus_again(self) -> None:
        """Give the focus to what had it before the prompt."""
        if self._asked_from is not None and self._asked_from.is_attached:
            self.set_focus(self._asked_from)

    def copies(self) -> list[Copy]:
        """What can be copied here, in its forms."""
        return []

    @property
    def has_inner(self) -> bool:
        """Whether there may be something to go back from inside the screen."""
        return True

    def close_inner(self) -> bool:
        """Go back inside the screen; whether there was something to go back from."""
        return False
