"""Where typed keys go: to what they were typed for, also when a prompt comes up in between."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from textual import events
from textual.app import App
from textual.widget import Widget

from retrograph.tui.screens.base import BaseScreen


class AimingApp(App[None]):
    """An app that keeps keys in order when they come faster than what they open."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._aimed: WeakKeyDictionary[events.Key, Widget | None] = WeakKeyDictionary()
        """Keys that have not come up yet, and what they were sent to."""

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and not event.is_forwarded:
            aimed = self._on_its_way()
            if aimed is not None:
                self.aim(event, aimed)
                return
            self._aimed[event] = self.focused
        await super().on_event(event)

    def _on_its_way(self) -> Widget | None:
        """What an earlier key was sent to that has not come up yet, where the focus has moved: the
        later one goes the same way, so that they stay in order."""
        focused = self.focused
        for aimed in self._aimed.values():
            if aimed is not None and aimed is not focused and aimed.is_attached:
                return aimed
        return None

    def aim(self, key: events.Key, aimed: Widget) -> None:
        """Send a key to a widget, as if that had the focus when it was typed."""
        self._aimed[key] = aimed
        aimed._forward_event(key)

    def on_key(self, event: events.Key) -> None:
        """A key that nobody took has come up: it may have been typed before a prompt was there."""
        if event not in self._aimed:
            return  # typed ahead, and handed on already
        aimed, screen = self._aimed.pop(event), self.screen
        if isinstance(screen, BaseScreen) and screen.typed_ahead(event, aimed):
            event.stop()
            event.prevent_default()
