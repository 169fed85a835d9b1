"""The screen of one thread: its tree at the left, the inspector of one checkpoint at the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.message import Message

from retrograph.engine.history import NONE
from retrograph.engine.text import cut, escape
from retrograph.tui import garbage
from retrograph.tui.journal import command, tab_command
from retrograph.tui.messages import (
    CheckpointRead,
    CheckpointSelected,
    IndexRead,
    IndexUnchanged,
    MarksChanged,
    NotesRead,
    ReadingFailed,
    RowsWanted,
    ValueHistoryWanted,
    WorkEnded,
    WorkGrew,
)
from retrograph.tui.screens.comparing import ComparingScreen
from retrograph.tui.screens.finding import SCAN
from retrograph.tui.spans import Span
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.bars import Bar
from retrograph.tui.work import Job, Settled

# What reads a thread is imported when it is first read: the first frame does without.
if TYPE_CHECKING:
    from retrograph.tui.reading.copies import Copy
    from retrograph.tui.reading.known import Known
    from retrograph.tui.reading.source import Source

_SETTLED = 0.07
"""Seconds that the cursor rests before a checkpoint is read: a held key loads one, not forty."""

_SMALL = 3_000
"""Threads up to this size are read whole, so that search and folds know all of it."""


class ThreadScreen(ComparingScreen):
    """Mediates between the tree and the inspector; reads what they want in the background."""

    SCOPES = ("thread",)

    def __init__(self, ui: Ui, thread_id: str, select: str | None = None) -> None:
        """`select`: the id of the checkpoint to begin with, instead of the head."""
        super().__init__(ui, thread_id)
        self._select = select
        self.thread = None
        self._known: Known | None = None
        self._wanted: tuple[int, ...] = ()
        self._whole = False
        """All of the thread is shown."""
        self._inspect_soon = Settled(self, _SETTLED, self._inspect)
        self._notes_soon = Settled(self, 0.02, self._read_notes)

    # Reading.

    def source_opened(self, source: Source) -> None:
        self.home.remember_thread(self.thread_id)
        self.action_thread_reload()

    def action_thread_reload(self) -> None:
        if self.source is None:
            return
        thread = self.source.thread(self.thread_id)
        before = self._known

        def work(job: Job) -> Message:
            from retrograph.tui.reading.index import read_index

            return read_index(job, thread, before)

        self.read("index", work)

    def source_changed(self) -> None:
        if self.reading("index"):
            self.missed_change = True
            return
        known, model = self._known, self.history.model
        if known is None or model is None or self.source is None:
            return
        again, picture = self.source.thread(self.thread_id), model.picture

        def work(job: Job) -> Message:
            from retrograph.tui.reading.index import look_again

            return look_again(job, again, known, picture)

        self.read("index", work)

    @on(IndexUnchanged)
    def _index_unchanged(self, message: IndexUnchanged) -> None:
        if self._known is not None and self.newest("index", message.ticket):
            self._known.forget_leaves()
            self.history.asked_again()
            self.history.ask()
            self._inspect_soon()
            self.catch_up()

    @on(IndexRead)
    def _index_read(self, message: IndexRead) -> None:
        if not self.newest("index", message.ticket):
            return
        self._known, self.thread = message.known, message.thread
        select = None
        if self._select is not None and message.picture.complete:
            select, self._select = message.picture.history.find("", self._select), None
        first = not self.history.row_count
        self.history.show(message.picture, message.known, select)
        if first or not message.picture.complete:
            self.history.mark_again(self.home.remembered().marks.get(self.thread_id, ()))
        self._say_header()
        if first or not self._whole:
            garbage.leave_alone()
        self._whole = message.picture.complete
        if message.picture.complete and len(message.picture.history) <= _SMALL:
            self.read_everything()

    @on(MarksChanged)
    def _marks_changed(self) -> None:
        self.home.remember_marks(self.thread_id, self.history.marked)

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
            from retrograph.tui.reading.notes import note_page

            return NotesRead(known, note_page(thread, wanted), job.ticket)

        self.read("notes", work)

    @on(NotesRead)
    def _notes_read(self, message: NotesRead) -> None:
        if message.known is self._known:
            message.known.take(message.notes)
            self.history.redraw()
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
        mark = self._marked
        redactor, chosen = source.redactor, self.chosen(thread.history, i)

        def work(job: Job) -> Message:
            from retrograph.tui.reading.inspected import read_inspected

            inspected = read_inspected(thread, known, i, mark, redactor, chosen)
            return CheckpointRead(inspected, job.ticket)

        self.read("checkpoint", work)

    @property
    def _marked(self) -> int:
        """The checkpoint that was marked last, `NONE` without one."""
        return self.history.marks[-1] if self.history.marks else NONE

    def inspect_again(self) -> None:
        self._inspect()

    @on(CheckpointRead)
    def _checkpoint_read(self, message: CheckpointRead) -> None:
        if self.newest("checkpoint", message.ticket):
            self.inspector.show(message.inspected)
            self.say_place()

    @on(ReadingFailed)
    def _reading_failed(self, message: ReadingFailed) -> None:
        message.stop()  # the app would say it once more
        if message.what == "notes":
            self.history.asked_again()
        if message.what == "index" and self.thread is None:
            self.history.say_empty(message.sentence, "failed")
            self.home.cannot_show(message.error)
        elif message.what == "index":
            self.catch_up_later(message.sentence)
        elif message.what == "checkpoint":
            if self.newest("checkpoint", message.ticket):
                self.inspector.fail(message.sentence)
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
            self.catch_up()

    # What the lines around the panes say.

    def _say_header(self) -> None:
        model = self.history.model
        if self.source is None or model is None:
            return
        picture = model.picture
        dot, count, lines = self.ui.dot, len(picture.history), picture.lines
        facts = [
            f"{count:,} checkpoint{'' if count == 1 else 's'}"
            + ("" if picture.complete else self.ui.cut),
            f"{lines:,} line{'' if lines == 1 else 's'}",
        ]
        name = escape(cut(self.thread_id, 60))
        self.say_header([Span(name, "strong"), Span(dot + dot.join(facts), "dim")])

    def copies(self) -> list[Copy]:
        source, model, i = self.source, self.history.model, self.history.selected
        if source is None or model is None or i == NONE:
            return []
        from retrograph.engine.model import CheckpointKey
        from retrograph.tui.reading.copies import checkpoint_copies

        history = model.picture.history
        key = CheckpointKey(self.thread_id, history.ns(i), history.ids[i])
        inner = self.inspector.copies() if self.inspector.has_focus_within else []
        return [*inner, *checkpoint_copies(source.given, key)]

    def tab_picked(self, title: str, other: int | None = None) -> None:
        model, source, i = self.history.model, self.source, self.history.selected
        if model is None or source is None or i == NONE:
            return
        from retrograph.engine.model import CheckpointKey
        from retrograph.engine.threads.refs import written

        history = model.picture.history

        def ref(k: int) -> str:
            return written(CheckpointKey(self.thread_id, history.ns(k), history.ids[k]))

        if other is None:
            against = self.inspector.against
            other = {"chosen": self.chosen(history, i), "mark": self._marked}.get(against, NONE)
        compared = ref(other) if other not in (NONE, i) else None
        done = tab_command(title, source.given, ref(i), compared)
        if done is not None:
            self.home.journal.did(*done)

    @on(ValueHistoryWanted)
    def _value_history_wanted(self, message: ValueHistoryWanted) -> None:
        thread, source, i = self.thread, self.source, self.history.selected
        if thread is None or source is None or i == NONE:
            return
        from retrograph.engine.model import CheckpointKey
        from retrograph.engine.threads.refs import written
        from retrograph.tui.reading.settings import settings
        from retrograph.tui.screens.valuehistory import ValueHistory

        pointer, redactor = message.pointer, source.redactor
        history = thread.history
        key = CheckpointKey(self.thread_id, history.ns(i), history.ids[i])
        said = command("blame", source.given, written(key), pointer)
        self.home.journal.did("looked up a value's history", said)

        def picked(place: tuple[str, str] | None) -> None:
            model = self.history.model
            if place is not None and model is not None:
                self.history.select(model.picture.history.find(*place))

        dialog = ValueHistory(
            self.ui, pointer, lambda job: settings(job, thread, i, pointer, redactor)
        )
        self.app.push_screen(dialog, picked)

    def close_inner(self) -> bool:
        stopped = [self.stop(group) for group in (SCAN, "index")]
        if any(stopped):
            self.say_place()
            return True
        return super().close_inner()
