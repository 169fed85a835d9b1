"""The screen of one thread: its tree at the left, the inspector of one checkpoint at the right."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message

from retrograph.engine.history import NONE
from retrograph.engine.ids import time_of
from retrograph.engine.model import CheckpointKey, ThreadRow
from retrograph.engine.text import cut, escape, local
from retrograph.engine.thread import Thread
from retrograph.tui.messages import (
    CheckpointRead,
    CheckpointSelected,
    CursorMoved,
    IndexRead,
    IndexUnchanged,
    NotesRead,
    ReadingFailed,
    RowOpened,
    RowsWanted,
    TabPicked,
    TextOpened,
    WorkEnded,
    WorkGrew,
)
from retrograph.tui.reading.copies import Copy, checkpoint_copies
from retrograph.tui.reading.index import look_again, read_index
from retrograph.tui.reading.inspected import read_inspected
from retrograph.tui.reading.known import Known
from retrograph.tui.reading.notes import note_page
from retrograph.tui.reading.source import Source
from retrograph.tui.screens.finding import SCAN, FindingScreen
from retrograph.tui.spans import Span
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.bars import Bar
from retrograph.tui.widgets.inspector import Inspector
from retrograph.tui.widgets.tabs import TABS
from retrograph.tui.widgets.tree import HistoryTree
from retrograph.tui.work import Job, Settled

_SETTLED = 0.07
"""Seconds that the cursor rests before a checkpoint is read: a held key loads one, not forty."""

_BREATH = 0.3
"""Seconds between two readings of a thread that is being written all the time."""

_SMALL = 3_000
"""Threads up to this size are read whole, so that search and folds know all of it."""

ONE_PANE = 100
"""Narrower terminals show one pane at a time."""

_STEP = 4
_NARROWEST = 24


class ThreadScreen(FindingScreen):
    """Mediates between the tree and the inspector; reads what they want in the background."""

    SCOPES = ("thread",)

    def __init__(self, ui: Ui, thread_id: str, select: str | None = None) -> None:
        """`select`: the id of the checkpoint to begin with, instead of the head."""
        super().__init__(ui)
        self.thread_id = thread_id
        self._select = select
        self.thread = None
        self.history = HistoryTree(ui, id="history")
        self.inspector = Inspector(ui, TABS, id="inspector")
        self._known: Known | None = None
        self._wanted: tuple[int, ...] = ()
        self._row: ThreadRow | None = None
        self._stale = False
        self._width: int | None = None
        """Columns of the history, where the user chose them."""
        self._inspect_soon = Settled(self, _SETTLED, self._inspect)
        self._notes_soon = Settled(self, 0.02, self._read_notes)

    def panes(self) -> ComposeResult:
        with Horizontal(id="panes"):
            yield self.history
            yield self.inspector
        yield Bar(self.ui, id="crumbs")

    def on_mount(self) -> None:
        self.history.border_title = "history"
        self.history.focus()

    # Reading.

    def source_opened(self, source: Source) -> None:
        self.action_thread_reload()

    def action_thread_reload(self) -> None:
        if self.source is None:
            return
        thread = Thread(self.source.loader, self.thread_id, self.source.serde)
        before = self._known
        self.read("index", lambda job: read_index(job, thread, before))

    def source_changed(self) -> None:
        thread, known, row = self.thread, self._known, self._row
        if thread is None or known is None or self.source is None:
            return
        if self.reading("index"):
            self._stale = True
            return
        again = Thread(self.source.loader, self.thread_id, self.source.serde)
        self.read("index", lambda job: look_again(job, again, known, row))

    @on(IndexUnchanged)
    def _index_unchanged(self, message: IndexUnchanged) -> None:
        if self._known is not None and self.newest("index", message.ticket):
            self._known.forget_leaves()
            self.history.asked_again()
            self.history.ask()
            self._inspect_soon()
            self._look_later()

    def _look_later(self) -> None:
        """Somebody wrote while the index was being read: read it again, but not all the time."""
        if self._stale:
            self._stale = False
            self.set_timer(_BREATH, self.source_changed)

    @on(IndexRead)
    def _index_read(self, message: IndexRead) -> None:
        if not self.newest("index", message.ticket):
            return
        self._known, self.thread, self._row = message.known, message.thread, message.row
        select = None
        if self._select is not None and message.picture.complete:
            select, self._select = message.picture.history.find("", self._select), None
        self.history.show(message.picture, message.known, select)
        self._say_header()
        if message.picture.complete and len(message.picture.history) <= _SMALL:
            self.read_everything()

    @on(RowsWanted)
    def _rows_wanted(self, message: RowsWanted) -> None:
        self._wanted = message.checkpoints
        self._notes_soon()

    def _read_notes(self) -> None:
        thread, known, wanted = self.thread, self._known, self._wanted
        if thread is None or known is None:
            self.history.asked_again()
            return

        def work(job: Job) -> Message:
            return NotesRead(known, note_page(thread, wanted), job.ticket)

        self.read("notes", work)

    @on(NotesRead)
    def _notes_read(self, message: NotesRead) -> None:
        if message.known is self._known:
            message.known.take(message.notes)
            self.history.refresh()
            self.history.ask()
            self.search_again()

    @on(CheckpointSelected)
    def _checkpoint_selected(self) -> None:
        self.say_place()
        self._inspect_soon()

    def _inspect(self) -> None:
        thread, source, i = self.thread, self.source, self.history.selected
        known = self._known
        if thread is None or source is None or known is None or i == NONE:
            return
        mark = self.history.marks[-1] if self.history.marks else NONE
        redactor = source.redactor

        def work(job: Job) -> Message:
            return CheckpointRead(read_inspected(thread, known, i, mark, redactor), job.ticket)

        self.read("checkpoint", work)

    @on(CheckpointRead)
    def _checkpoint_read(self, message: CheckpointRead) -> None:
        if self.newest("checkpoint", message.ticket):
            self.inspector.show(message.inspected)
            self.say_place()

    @on(ReadingFailed)
    def _reading_failed(self, message: ReadingFailed) -> None:
        if message.what == "notes":
            self.history.asked_again()
        if message.what == "index" and self.thread is None:
            self.history.say_empty(message.sentence, "failed")
            self.home.cannot_show(message.error)
        else:
            self.complain(message.sentence)

    @on(WorkGrew)
    def _work_grew(self, message: WorkGrew) -> None:
        if not self.reading(message.what):
            return
        of = f" of {message.total:,}" if message.total is not None else ""
        back = self.ui.keys.first("app.back")
        said = f"reading {message.done:,}{of}{self.ui.dot}{back}"
        self.query_one("#crumbs", Bar).say(right=[Span(said, "waits")])

    @on(WorkEnded)
    def _work_ended(self, message: WorkEnded) -> None:
        self.say_place()
        if message.what == "index":
            self._look_later()

    # What the lines around the panes say.

    def _say_header(self) -> None:
        model = self.history.model
        if self.source is None or model is None:
            return
        picture = model.picture
        history, dot = picture.history, self.ui.dot
        count = len(history)
        lines = len(history.leaves(picture.top))
        facts = [
            f"{count:,} checkpoint{'' if count == 1 else 's'}"
            + ("" if picture.complete else self.ui.cut),
            f"{lines:,} line{'' if lines == 1 else 's'}",
        ]
        name = escape(cut(self.thread_id, 60))
        self.say_header([Span(name, "strong"), Span(dot + dot.join(facts), "dim")])

    def say_place(self) -> None:
        tree = self.history
        row = tree.row(tree.cursor)
        if row is None:
            return
        ns = row.ns or "main"
        parts = [cut(escape(self.thread_id), 30), cut(escape(ns), 30)]
        if row.kind == "checkpoint":
            step = "" if row.step is None else f"step {row.step}"
            parts.append(" ".join(filter(None, (step, escape(row.id[-6:])))))
        else:
            parts.append(row.text)
        if place := self.inspector.place:
            parts.append(place)
        left: list[Span] = []
        for part in parts:
            if left:
                left.append(Span(" > " if self.ui.ascii else " › ", "faint"))
            left.append(Span(part, "dim"))
        left[-1] = Span(left[-1].text)
        at = time_of(row.id) if row.id else None
        when = local(at, "%Y-%m-%d %H:%M:%S") if at is not None else ""
        self.query_one("#crumbs", Bar).say(left, [Span(when, "dim")])
        rows = tree.row_count
        tree.border_subtitle = f"{tree.cursor + 1:,} of {rows:,}"

    @on(CursorMoved)
    def _cursor_moved(self) -> None:
        self.say_place()

    def copies(self) -> list[Copy]:
        source, model, i = self.source, self.history.model, self.history.selected
        if source is None or model is None or i == NONE:
            return []
        history = model.picture.history
        key = CheckpointKey(self.thread_id, history.ns(i), history.ids[i])
        inner = self.inspector.copies() if self.inspector.has_focus_within else []
        return [*inner, *checkpoint_copies(source.given, key)]

    @on(TextOpened)
    def _text_opened(self, message: TextOpened) -> None:
        from retrograph.tui.screens.reader import ReaderScreen

        self.app.push_screen(ReaderScreen(self.ui, message.title, message.text))

    # Panes.

    @on(RowOpened)
    def _row_opened(self, message: RowOpened) -> None:
        if message.rows is self.history:
            self._inspecting(True)

    @on(events.DescendantFocus)
    def _focus_moved(self) -> None:
        self.set_class(self.inspector.has_focus_within, "-inspecting")
        self.say_hints()

    def _inspecting(self, yes: bool) -> None:
        # First the pane must be there: what is not displayed cannot have the focus.
        self.set_class(yes, "-inspecting")
        (self.inspector.tab if yes else self.history).focus()

    def action_thread_next_tab(self) -> None:
        self._inspecting(not self.inspector.has_focus_within)

    def action_thread_zoom(self) -> None:
        self.toggle_class("-zoomed")
        self._share()

    def action_thread_wider(self) -> None:
        self._widen(_STEP)

    def action_thread_narrower(self) -> None:
        self._widen(-_STEP)

    def _widen(self, by: int) -> None:
        most = self.size.width - _NARROWEST
        self._width = min(max(self.history.outer_size.width + by, _NARROWEST), most)
        self._share()

    def _share(self) -> None:
        """Give the history the width that the user chose, unless it stands alone."""
        alone = self.has_class("-zoomed") or self.app.size.width < ONE_PANE
        self.history.styles.width = None if alone else self._width

    def on_resize(self) -> None:
        self._share()

    def focus_again(self) -> None:
        self.history.focus()

    def close_inner(self) -> bool:
        stopped = [self.stop(group) for group in (SCAN, "index")]
        if any(stopped):
            self.say_place()
            return True
        if self.has_class("-inspecting"):
            self._inspecting(False)
            return True
        return False

    @on(TabPicked)
    def _tab_picked(self, message: TabPicked) -> None:
        self.inspector.pick(message.title)
        self.say_hints()

    def pick_tab(self, title: str) -> None:
        self.inspector.pick(title)
        if not self.inspector.display or not self.inspector.region:
            self._inspecting(True)
        self.say_hints()

    def action_thread_tab_state(self) -> None:
        self.pick_tab("State")

    def action_thread_tab_diff(self) -> None:
        self.pick_tab("Diff")

    def action_thread_tab_messages(self) -> None:
        self.pick_tab("Messages")

    def action_thread_tab_writes(self) -> None:
        self.pick_tab("Writes")

    def action_thread_tab_graph(self) -> None:
        self.pick_tab("Graph")

    def action_thread_tab_info(self) -> None:
        self.pick_tab("Info")
