"""The column between two panes, which can be dragged."""

from __future__ import annotations

from textual import events
from textual.strip import Strip
from textual.widget import Widget

from retrograph.tui.messages import SplitterMoved


class Splitter(Widget):
    """Tells where it is dragged to; the screen shares out the room."""

    def __init__(self) -> None:
        super().__init__(id="splitter")
        self._dragged = False

    def render_line(self, y: int) -> Strip:
        return Strip.blank(self.size.width, self.rich_style)

    def on_mouse_down(self) -> None:
        self._dragged = True
        self.capture_mouse()
        self.add_class("-dragged")

    def on_mouse_up(self) -> None:
        self._dragged = False
        self.release_mouse()
        self.remove_class("-dragged")

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragged:
            self.post_message(SplitterMoved(event.screen_x))
