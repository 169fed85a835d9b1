"""A long text on the whole screen."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events
from textual.app import ComposeResult
from textual.message import Message

from retrograph.engine.text import escape
from retrograph.tui.messages import TextRendered
from retrograph.tui.pager import page
from retrograph.tui.reading.markdown import markdown
from retrograph.tui.reading.wrap import Wrapped
from retrograph.tui.screens.base import BaseScreen
from retrograph.tui.spans import Line, Span
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.rows import Rows
from retrograph.tui.work import Job, Reads


class TextRows(Reads, Rows):
    """The wrapped lines of a text, or what they mean as Markdown."""

    SCOPES = ("move", "reader")

    def __init__(self, ui: Ui, text: str, markdown: bool = False) -> None:
        super().__init__(ui)
        self.text = text
        self._wrap = True
        self._markdown = markdown
        self._lines = Wrapped(text, None)
        self._rendered: list[Line] | None = None

    @property
    def row_count(self) -> int:
        return len(self._lines if self._rendered is None else self._rendered)

    def paint(self, row: int, width: int) -> Iterable[Span]:
        if self._rendered is not None:
            return self._rendered[row]
        return [Span(escape(self._lines.line(row)))]

    def on_resize(self, _: events.Resize) -> None:
        self._wrap_again()

    def _wrap_again(self) -> None:
        room = self.scrollable_content_region.width
        if not self._markdown:
            self._rendered = None
            self._lines = Wrapped(self.text, room if self._wrap else None)
            self.rows_changed()
            return
        text, ascii = self.text, self.ui.ascii

        def work(job: Job) -> Message:
            return TextRendered(markdown(text, room, ascii), job.ticket)

        self.read("markdown", work)

    def on_text_rendered(self, message: TextRendered) -> None:
        message.stop()
        if self.newest("markdown", message.ticket) and self._markdown:
            self._rendered = message.lines
            self.rows_changed()

    def action_reader_markdown(self) -> None:
        self._markdown = not self._markdown
        self._wrap_again()

    def action_reader_wrap(self) -> None:
        self._wrap = not self._wrap
        self._wrap_again()

    def action_reader_pager(self) -> None:
        page(self.app, self.text)


class ReaderScreen(BaseScreen):
    """Shows one text; Esc goes back."""

    def __init__(self, ui: Ui, title: str, text: str, markdown: bool = False) -> None:
        super().__init__(ui)
        self.rows = TextRows(ui, text, markdown)
        self.rows.border_title = title

    def panes(self) -> ComposeResult:
        yield self.rows

    def on_mount(self) -> None:
        self.rows.focus()
