"""The list of threads, with a preview of the one under the cursor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal

from retrograph.engine.errors import UsageError
from retrograph.tui import clock
from retrograph.tui.journal import command
from retrograph.tui.messages import (
    CursorMoved,
    MoreWanted,
    PromptAccepted,
    PromptChanged,
    PromptLeft,
    ReadingFailed,
    ReloadWanted,
    RowOpened,
    ThreadSized,
    ThreadsRead,
    WorkEnded,
    WorkGrew,
)
from retrograph.tui.screens.base import BaseScreen
from retrograph.tui.spans import Line, Span
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.bars import Bar
from retrograph.tui.widgets.borders import say_below
from retrograph.tui.widgets.lines import Lines
from retrograph.tui.widgets.threadlist import ThreadList
from retrograph.tui.work import Settled

if TYPE_CHECKING:
    from retrograph.engine.threads.listing import ThreadFilter
    from retrograph.tui.reading.source import Source
    from retrograph.tui.reading.threads import ThreadPages

FIRST = 40
"""Threads that are shown as soon as they are there."""
MORE = 400

SIZE = "size"
"""The group of the worker that reads what the selected thread takes."""


class ThreadsScreen(BaseScreen):
    """The threads of a source, newest activity first, as far as they are looked at."""

    def __init__(self, ui: Ui) -> None:
        super().__init__(ui)
        self.list = ThreadList(ui, id="threads")
        self.preview = Lines(ui, id="preview")
        self._pages: ThreadPages | None = None
        self._wanted: ThreadFilter | None = None
        self._again = 0
        """The ticket of the job that reads the list anew after a change."""
        self._filter_soon = Settled(self, 0.25, self._filter)
        self._typed = ""
        self._preview_soon = Settled(self, 0.05, self._show_preview)
        self._sizes: dict[tuple[str, str], int | None] = {}
        """By thread and its newest checkpoint, of those that were selected."""
        self._size_soon = Settled(self, 0.3, self._read_size)

    def panes(self) -> ComposeResult:
        with Horizontal(id="panes"):
            yield self.list
            yield self.preview
        yield Bar(self.ui, id="crumbs")

    def on_mount(self) -> None:
        self.list.border_title = "threads"
        self.preview.can_focus = False
        self.list.focus()

    # Reading.

    def source_opened(self, source: Source) -> None:
        self._begin()

    def _begin(self) -> None:
        """Read the list anew, with the filter in force."""
        if self.source is None:
            return
        # Imported with the source, since the first frame needs none of it.
        from retrograph.engine.threads.filterlang import parse_filter
        from retrograph.tui.reading.threads import ThreadPages

        try:
            wanted = parse_filter(self.list.filtered, clock.now())
        except UsageError as error:
            self.say_in_prompt([Span(str(error), "failed")])
            return
        self.say_in_prompt([])
        self._wanted = wanted
        self._pages = ThreadPages(self.source.loader, wanted, self.source.redactor)
        self.list.clear()
        self.list.say_empty("")
        self._read(FIRST)

    def _read(self, count: int) -> None:
        pages = self._pages
        if pages is not None:
            self.read("threads", lambda job: pages.more(job, count))

    def source_changed(self) -> None:
        """Read as many as are there again, and show them all at once."""
        if self.reading("threads"):
            self.missed_change = True
            return
        if self.source is None or self._wanted is None:
            return
        from retrograph.tui.reading.threads import ThreadPages

        pages = self._pages = ThreadPages(self.source.loader, self._wanted, self.source.redactor)
        count = max(len(self.list.threads), FIRST)
        self._again = self.read("threads", lambda job: pages.more(job, count))

    @on(ThreadsRead)
    def _threads_read(self, message: ThreadsRead) -> None:
        if message.ticket == self._again and self.newest("threads", message.ticket):
            self.list.replace(message.threads, message.complete)
            self._say()
        elif self.newest("threads", message.ticket):
            first = not self.list.row_count
            self.list.add(message.threads, message.complete)
            if first:
                self.list.select(self.home.remembered().thread)
            self._say()
            if message.complete and not self.list.row_count:
                self.list.say_empty(self._why_empty())
            if not message.complete and len(self.list.threads) <= FIRST:
                self._read(MORE)
        self.say_hints()
        if not self.reading("threads"):
            self.catch_up()

    def _why_empty(self) -> str:
        if self.list.filtered:
            back = self.ui.keys.first("app.back")
            return f"No thread fits the filter. {back} takes it off."
        return "There are no threads here: a graph that is run with this store makes them."

    @on(MoreWanted)
    def _more_wanted(self) -> None:
        if not self.reading("threads"):
            self._read(MORE)

    @on(ReloadWanted)
    def _reload_wanted(self) -> None:
        self._begin()

    @on(ReadingFailed)
    def _reading_failed(self, message: ReadingFailed) -> None:
        message.stop()  # the app would say it once more
        if message.what == SIZE:
            return  # it is told where it can be
        if not self.list.row_count:
            self.list.say_empty(message.sentence, "failed")
        elif message.what == "threads":
            self.catch_up_later(message.sentence)
        else:
            self.complain(message.sentence)

    @on(WorkGrew)
    def _work_grew(self, message: WorkGrew) -> None:
        back = self.ui.keys.first("app.back")
        said = f"looked at {message.done:,}{self.ui.dot}{back}"
        self.query_one("#crumbs", Bar).say(right=[Span(said, "waits")])

    @on(WorkEnded)
    def _work_ended(self, message: WorkEnded) -> None:
        self._say()
        if message.what == "threads":
            self.catch_up()

    @property
    def has_inner(self) -> bool:
        return bool(self.list.filtered) or self.reading("threads")

    def close_inner(self) -> bool:
        if self.stop("threads"):
            self.list.complete = True
            self._say()
            self.say_hints()
            return True
        if self.list.filtered:
            self.list.filtered = ""
            self._begin()
            return True
        return False

    # The filter.

    @on(PromptChanged)
    def _prompt_changed(self, message: PromptChanged) -> None:
        self._typed = message.text
        self._filter_soon()

    @on(PromptAccepted)
    def _prompt_accepted(self, message: PromptAccepted) -> None:
        self._typed = message.text
        self.close_prompt()
        self._filter()

    @on(PromptLeft)
    def _prompt_left(self) -> None:
        self.close_prompt()

    def _filter(self) -> None:
        if self._typed != self.list.filtered:
            self.list.filtered = self._typed
            self._begin()
        self._say()

    # What is said.

    def _say(self) -> None:
        count = len(self.list.threads)
        more = "" if self.list.complete else "+"
        self.say_header([Span(f"{count:,}{more} thread{'' if count == 1 else 's'}", "dim")])
        filtered, dot = self.list.filtered, self.ui.dot
        left: Line = [Span("all threads", "dim")]
        if filtered:
            left = [Span("filter ", "waits"), Span(filtered)]
        right = []
        if self.list.sort != "activity":
            right.append(Span(f"by {self.list.sort}, of {count:,}{more} read", "dim"))
        self.query_one("#crumbs", Bar).say(left, right)
        place = self.list.cursor + 1 if count else 0
        say_below(self.list, f"{place:,} of {count:,}{more}")
        title = f"threads{dot}{self.list.sort}"
        if self.list.border_title != title:
            self.list.border_title = title

    @on(CursorMoved)
    def _cursor_moved(self, message: CursorMoved) -> None:
        if message.rows is self.list:
            self._say()
            self._preview_soon()

    def _show_preview(self) -> None:
        info, source = self.list.selected, self.source
        if info is None or source is None:
            self.preview.set_lines([])
            return
        from retrograph.tui.widgets.preview import preview_lines

        width = self.preview.scrollable_content_region.width
        key = (info.row.thread_id, info.row.last_id)
        if key in self._sizes:
            info = replace(info, row=replace(info.row, size=self._sizes[key]))
        else:
            self._size_soon()
        self.preview.set_lines(preview_lines(info, self.ui, source.redactor, width))

    def _read_size(self) -> None:
        info, source = self.list.selected, self.source
        if info is not None and source is not None and self.preview.region:
            from retrograph.tui.reading.threads import size_of

            loader, thread_id = source.loader, info.row.thread_id
            self.read(SIZE, lambda job: size_of(loader, thread_id))

    @on(ThreadSized)
    def _thread_sized(self, message: ThreadSized) -> None:
        info = self.list.selected
        if info is not None and info.row.thread_id == message.thread_id:
            self._sizes[message.thread_id, info.row.last_id] = message.size
            self._show_preview()

    @on(RowOpened)
    def _row_opened(self) -> None:
        info = self.list.selected
        if info is not None and self.source is not None:
            from retrograph.tui.screens.thread import ThreadScreen

            thread_id = info.row.thread_id
            self.home.journal.did("opened a thread", command("tree", self.source.given, thread_id))
            self.app.push_screen(ThreadScreen(self.ui, thread_id))
