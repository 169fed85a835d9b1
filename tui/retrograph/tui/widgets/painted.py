"""Drawing of spans: roles become styles of the theme in force, spans become Textual's strips."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from retrograph.engine.text import escape
from retrograph.tui import roles
from retrograph.tui.spans import Span, columns, fit

# At run time a mixin is no widget: Textual follows the first base that is one for styles.
if TYPE_CHECKING:
    _Widget = Widget
else:
    _Widget = object


class Painted(_Widget):
    """A widget that draws lines of spans; mixed in before Textual's class."""

    _styles_by_role: dict[str, Style]
    _styles_on: dict[tuple[str, str], Style]

    def notify_style_update(self) -> None:
        self._styles_by_role = {}
        self._styles_on = {}
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
                app = self.app
                style = roles.style(role, app.theme_variables, app.native_ansi_color, app.no_color)
            styles[role] = style
        return style

    def strip(self, line: Iterable[Span], width: int, under: str = "", cut: str = "…") -> Strip:
        """Spans over exactly `width` columns, on the role that lies `under` the whole line."""
        # Whoever made a span has escaped what came out of a store; that nothing else reaches the
        # terminal does not hang on it.
        spans = [s if s.text.isprintable() else Span(escape(s.text), s.role) for s in line]
        segments: list[Segment] = []
        used, text, role = 0, "", ""
        # Neighbours of one role are one piece: each costs its style's codes on the way.
        for piece, its in spans:
            used += columns(piece)
            if its == role:
                text += piece
                continue
            if text:
                segments.append(Segment(text, self._style_on(under, role)))
            text, role = piece, its
        if used > width:
            return self.strip(fit(spans, width, cut), width, under)
        if used < width:
            blanks = " " * (width - used)
            if role:
                segments.append(Segment(text, self._style_on(under, role)))
                text, role = blanks, ""
            else:
                text += blanks
        if text:
            segments.append(Segment(text, self._style_on(under, role)))
        return Strip(segments, width)

    def _style_on(self, under: str, role: str) -> Style:
        """How a role looks on another that lies under the whole line."""
        if not under and not role:
            return self.role_style("")
        styles = self.__dict__.setdefault("_styles_on", {})
        style: Style | None = styles.get((under, role))
        if style is None:
            style = self.role_style("")
            row = self.role_style(under) if under else None
            if row is not None:
                style += row
            if role:
                style += self.role_style(role)
                if row is not None and row.color is not None:
                    # Where the theme gives the row a colour, others would not be legible on it.
                    style += row
            styles[under, role] = style
        return style
