"""Lines that are all there from the beginning: help, menus, details."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrograph.tui.spans import Line, Span
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.rows import Rows


class Lines(Rows):
    """Shows given lines of spans."""

    def __init__(
        self,
        ui: Ui,
        lines: Sequence[Line] = (),
        *,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(ui, id=id, classes=classes)
        self.lines = lines

    def on_mount(self) -> None:
        self.rows_changed()

    def set_lines(self, lines: Sequence[Line], cursor: int = 0) -> None:
        self.lines = lines
        self.rows_changed(cursor=cursor)

    @property
    def row_count(self) -> int:
        return len(self.lines)

    def paint(self, row: int, width: int) -> Iterable[Span]:
        return self.lines[row]
