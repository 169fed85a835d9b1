"""The words in a border's lower line."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Region
from textual.widget import Widget


def say_below(widget: Widget, words: str) -> None:
    """Set the subtitle of a widget's border, and draw that line only: setting `border_subtitle`
    draws the whole widget with all that is in it."""
    subtitle = Content(words)
    if widget._border_subtitle != subtitle:
        widget._border_subtitle = subtitle
        inset, (width, height) = widget.content_offset, widget.outer_size
        widget.refresh(Region(-inset.x, height - 1 - inset.y, width, 1))
