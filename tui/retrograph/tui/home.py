"""What screens ask of the app that holds them: the source, what is remembered, the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from textual import events
    from textual.widget import Widget

    from retrograph.tui.journal import Journal
    from retrograph.tui.memory import Memory, OfSource
    from retrograph.tui.reading.source import Source


class Home(Protocol):
    """The app, as its screens see it."""

    source: Source | None
    """`None` while it is being opened."""
    away: bool
    """The source does not answer."""
    journal: Journal
    memory: Memory

    @property
    def named(self) -> str:
        """The source as it was given, short and safe to draw."""
        ...

    def remember(self, **changes: Any) -> None:
        """Change fields of `memory`."""
        ...

    def remembered(self) -> OfSource:
        """What is remembered of the source."""
        ...

    def remember_thread(self, thread_id: str) -> None: ...

    def remember_marks(self, thread_id: str, marks: tuple[tuple[str, str], ...]) -> None: ...

    def cannot_show(self, error: Exception) -> None:
        """The first screen has nothing to show."""
        ...

    def copy(self, what: str, text: str) -> None:
        """Copy a text; `what` names it for the user."""
        ...

    def aim(self, key: events.Key, aimed: Widget) -> None:
        """Send a key to a widget, as if that had the focus when it was typed."""
        ...
