"""Drawing of spans: roles become styles of the theme in force, spans become Textual's strips."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from retrograph.engine.text import escape
from retrograph.tui.spans import ROLES, Span, columns, fit

COMPONENTS = {f"role--{role}" for role in ROLES}
"""The component classes that a screen with painted widgets must name as its own: one set for all
of them, since Textual works out every one for every widget that names it."""

# At run time a mixin is no widget: Textual follows the first base that is one for styles.
if TYPE_CHECKING:
    _Widget = Widget
else:
    _Widget = object


class Painted(_Widget):
    """A widget that draws lines of spans; mixed in before Textual's class."""

    _styles_by_role: dict[str, Style]

    def notify_style_update(self) -> None:
        self._styles_by_role = {}
        super().notify_style_update()

    def role_style(self, role: str) -> Style:
        """How a role looks in the theme in force, or several, the later ones on top; "" is the
        widget's own style."""
        styles = self.__dict__.setdefault("_styles_by_role", {})
        style: Style | None = styles.get(role)
        if style is None:
            if not role:
                style = self.rich_style
            elif " " in role:
                style = Style.combine(map(self.role_style, role.split()))
            else:
                style = self.screen.get_component_rich_style(f"role--{role}", partial=True)
            styles[role] = style
        return style

    def strip(self, line: Iterable[Span], width: int, under: str = "", cut: str = "…") -> Strip:
        """Spans over exactly `width` columns, on the role that lies `under` the whole line."""
        base = self.role_style("")
        row = self.role_style(under) if under else None
        if row is not None:
            base += row
        segments = []
        used = 0
        for text, role in fit(map(_safe, line), width, cut):
            used += columns(text)
            if not role:
                segments.append(Segment(text, base))
            elif row is not None and row.color is not None:
                # Where the theme gives the row a colour, others would not be legible on it.
                segments.append(Segment(text, base + self.role_style(role) + row))
            else:
                segments.append(Segment(text, base + self.role_style(role)))
        if used < width:
            segments.append(Segment(" " * (width - used), base))
        return Strip(segments, width)


def _safe(span: Span) -> Span:
    """Whoever made the span has escaped what came out of a store; that nothing else reaches the
    terminal does not hang on it."""
    return span if span.text.isprintable() else Span(escape(span.text), span.role)
