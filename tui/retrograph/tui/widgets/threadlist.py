"""The list of threads, a row each: status, name, what it waits for, checkpoints, last activity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrograph.engine.ids import time_of
from retrograph.engine.labels import names
from retrograph.engine.status import ThreadInfo
from retrograph.engine.summary import one_line
from retrograph.engine.text import ago, cut, escape
from retrograph.engine.text import size as size_text
from retrograph.engine.values import Value
from retrograph.tui import clock
from retrograph.tui.messages import MoreWanted, PromptWanted, ReloadWanted, RowOpened
from retrograph.tui.spans import Span, clip, columns, pad, spread
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.rows import Rows

SORTS = ("activity", "checkpoints", "name", "status")
_NEAR = 60
_ORDER = {"error": 0, "interrupted": 1, "unfinished": 2, "done": 3}
_ROLES = {"done": "done", "interrupted": "waits", "error": "failed", "unfinished": "waits"}


class ThreadList(Rows):
    """Shows what has been read, and asks for more when its end comes near."""

    SCOPES = ("move", "threads")

    def __init__(self, ui: Ui, *, id: str | None = None) -> None:
        super().__init__(ui, id=id)
        self.threads: list[ThreadInfo] = []
        """In the order in which they are shown."""
        self.complete = False
        self.sort = SORTS[0]
        self._read: list[ThreadInfo] = []
        self._widest = 12

    def clear(self) -> None:
        self._read, self.threads, self.complete = [], [], False
        self.rows_changed(cursor=0)

    def add(self, threads: Sequence[ThreadInfo], complete: bool) -> None:
        """More of the list; the selected thread stays selected."""
        self._read += threads
        self.complete = complete
        longest = max((columns(name_of(info)) for info in threads), default=0)
        self._widest = max(self._widest, longest)
        self._arrange()

    def replace(self, threads: Sequence[ThreadInfo], complete: bool) -> None:
        """The list was read again from its beginning; the selected thread stays selected."""
        selected, offset = self.selected, self.cursor - self.scroll_offset.y
        self._read, self.complete = list(threads), complete
        self.threads = arranged(self._read, self.sort)
        ids = [info.row.thread_id for info in self.threads]
        wanted = selected.row.thread_id if selected is not None else None
        at = ids.index(wanted) if wanted in ids else self.cursor
        self.rows_changed(cursor=at, top=at - offset)

    def select(self, thread_id: str | None) -> None:
        """Put the cursor on a thread, if it has been read."""
        for row, info in enumerate(self.threads):
            if info.row.thread_id == thread_id:
                self.cursor = row
                return

    @property
    def selected(self) -> ThreadInfo | None:
        return self.threads[self.cursor] if self.cursor < len(self.threads) else None

    def _arrange(self) -> None:
        before = self.selected
        self.threads = arranged(self._read, self.sort)
        self.rows_changed(cursor=self.threads.index(before) if before in self.threads else 0)

    def cursor_moved(self, before: int, now: int) -> None:
        super().cursor_moved(before, now)
        if not self.complete and now + _NEAR > len(self.threads):
            self.post_message(MoreWanted())

    @property
    def row_count(self) -> int:
        return len(self.threads)

    def paint(self, row: int, width: int) -> Iterable[Span]:
        info = self.threads[row]
        name_width = min(self._widest, max(width * 2 // 5, 12))
        role = _ROLES[info.status]
        left = [
            Span(f"{status_glyph(info.status, self.ui)} ", role),
            *pad([Span(clip(name_of(info), name_width, self.ui.cut))], name_width),
            Span("  "),
            *waits_for(info, self.ui),
        ]
        right = [Span(f"{info.row.checkpoints:>7,}", "dim")]
        if info.row.size is not None:
            right.append(Span(f"{size_text(info.row.size):>9}", "dim"))
        right.append(Span(f"{last_activity(info):>13}", "dim"))
        return spread(left, right, width, self.ui.cut)

    def action_threads_open(self) -> None:
        if self.selected is not None:
            self.post_message(RowOpened(self, self.cursor))

    def action_threads_sort(self) -> None:
        self.sort = SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)]
        self._arrange()

    def action_threads_filter(self) -> None:
        self.post_message(PromptWanted("filter", "filter:", self.filtered))

    def action_threads_reload(self) -> None:
        self.post_message(ReloadWanted())

    filtered = ""
    """The words of the filter in force."""


def arranged(threads: Sequence[ThreadInfo], sort: str) -> list[ThreadInfo]:
    """The threads in another order; what is alike stays in the order of activity."""
    if sort == "checkpoints":
        return sorted(threads, key=lambda info: -info.row.checkpoints)
    if sort == "name":
        return sorted(threads, key=lambda info: info.row.thread_id)
    if sort == "status":
        return sorted(threads, key=lambda info: _ORDER[info.status])
    return list(threads)


def name_of(info: ThreadInfo) -> str:
    """The thread's id, safe to draw; an empty one has to be seen too."""
    return escape(cut(info.row.thread_id, 200)) or '""'


def status_glyph(status: str, ui: Ui) -> str:
    signs = ui.signs
    return {"done": signs.answered, "interrupted": signs.question, "error": signs.failed}.get(
        status, signs.step
    )


def waits_for(info: ThreadInfo, ui: Ui) -> list[Span]:
    """What the thread waits for: the open question, the error, or the nodes that are due."""
    signs = ui.signs
    if info.status == "error":
        node, error = next(iter(info.step.errors), (None, ""))
        who = f"{escape(node)}: " if node else ""
        return [Span(f"{who}{escape(cut(error, 200))}", "failed")]
    if info.status == "interrupted":
        question = next((q for q in info.step.questions if not q.answered), None)
        if question is not None:
            who = f"{escape(question.node)}: " if question.node else ""
            return [Span(f"{who}{question_line(question.value)}", "waits")]
    if info.next:
        return [Span(f"{signs.arrow} ", "dim"), Span(names(info.next, signs), "waits")]
    return [Span("done", "dim")]


def question_line(value: Value) -> str:
    """A question in one line: of several fields the first that is text, which is what it asks."""
    if isinstance(value, dict):
        asked = next((v for v in value.values() if isinstance(v, str) and v), None)
        if asked is not None:
            return escape(cut(asked, 200))
    return escape(cut(value, 200)) if isinstance(value, str) else one_line(value, 200)


def last_activity(info: ThreadInfo) -> str:
    at = time_of(info.row.last_id)
    return ago(at, clock.now()) if at is not None else ""
