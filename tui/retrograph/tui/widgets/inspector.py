"""The inspector: tabs that show one checkpoint, each a widget of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget

from retrograph.engine.text import escape
from retrograph.tui.messages import TabPicked
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.borders import say_below
from retrograph.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from retrograph.tui.reading.copies import Copy
    from retrograph.tui.reading.inspected import Inspected


class Tab(Protocol):
    """What a tab has to be, besides a focusable widget."""

    def show(self, inspected: Inspected | None) -> None:
        """Draw this checkpoint; `None` while there is none."""
        ...

    @property
    def place(self) -> str:
        """Where inside the checkpoint the cursor is, for the breadcrumb: `/messages/2`."""
        ...


TabMaker = Callable[[Ui], Widget]


class Inspector(Container):
    """Holds the tabs; a tab is made when it is first shown, and only the one in sight draws."""

    def __init__(self, ui: Ui, tabs: Mapping[str, TabMaker], *, id: str | None = None) -> None:
        """`tabs`: by title, in their order."""
        super().__init__(id=id)
        self._ui = ui
        self._makers = tabs
        self._made: dict[str, Widget] = {}
        self._inspected: Inspected | None = None
        self._drawn: dict[str, Inspected | None] = {}
        self.title = next(iter(tabs))
        """Of the tab in sight."""

    def compose(self) -> ComposeResult:
        yield self._make(self.title)

    def on_mount(self) -> None:
        self._head()

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(self._makers)

    @property
    def tab(self) -> Widget:
        """The tab in sight."""
        return self._made[self.title]

    @property
    def place(self) -> str:
        place: str = getattr(self.tab, "place", "")
        return place

    def copies(self) -> list[Copy]:
        """What can be copied of the tab in sight."""
        copies: Callable[[], list[Copy]] | None = getattr(self.tab, "copies", None)
        return copies() if copies is not None else []

    def show(self, inspected: Inspected | None) -> None:
        """Show a checkpoint; the border says which, since it comes a moment after the cursor."""
        self._inspected = inspected
        self._draw()
        self.say_which()

    def fail(self, sentence: str) -> None:
        """Say why a checkpoint cannot be shown, instead of showing another one."""
        self._inspected = None
        say_below(self, "")
        self._drawn = {}
        self._draw()
        if isinstance(self.tab, Rows):
            self.tab.say_empty(sentence, "failed")

    def say_which(self) -> None:
        """Say in the border which checkpoint is shown, and what it is compared with."""
        if self._inspected is None:
            say_below(self, "")
            return
        snapshot = self._inspected.snapshot
        step = snapshot.envelope.step
        number = "" if step is None else f"step {step}{self._ui.dot}"
        versus: str = getattr(self.tab, "versus", "")
        say_below(self, f"{number}{escape(snapshot.key.id[-6:])} {versus}".rstrip())

    @property
    def against(self) -> str:
        """What the tab in sight compares with: "parent", "mark", "chosen"; "" where it does not."""
        against: str = getattr(self.tab, "against", "")
        return against

    def compare(self, against: str) -> None:
        """Compare with the parent, the mark, or what was chosen, from the next checkpoint on."""
        for tab in self._made.values():
            compare: Callable[[str], None] | None = getattr(tab, "compare_with", None)
            if compare is not None:
                compare(against)

    def pick(self, title: str) -> None:
        """Show a tab."""
        focused = self.has_focus_within
        if title != self.title:
            self.tab.display = False
            self.title = title
            if title not in self._made:
                self.mount(self._make(title))
            self.tab.display = True
            self._head()
            self._draw()
            self.say_which()
        if focused:
            self.tab.focus()

    def _make(self, title: str) -> Widget:
        made = self._made[title] = self._makers[title](self._ui)
        return made

    def _draw(self) -> None:
        title = self.title
        if title in self._drawn and self._drawn[title] is self._inspected:
            return
        self._drawn[title] = self._inspected
        show: Callable[[Inspected | None], None] = self.tab.show  # type: ignore[attr-defined]
        show(self._inspected)

    # The tabs' titles stand in the border.

    def _head(self) -> None:
        parts = []
        for title in self._makers:
            here = title == self.title
            parts.append(Content.styled(title, "bold $accent" if here else "$dim"))
        self.border_title = Content("  ").join(parts)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self and event.y == 0:
            at = 2  # the corner and a blank
            for title in self._makers:
                if at <= event.x < at + len(title):
                    self.post_message(TabPicked(title))
                    return
                at += len(title) + 2
