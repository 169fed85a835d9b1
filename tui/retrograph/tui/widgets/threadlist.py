"""The list of threads, a row each: status, name, what it waits for, checkpoints, last activity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from retrograph.tui.asking import Asked, ask
from retrograph.tui.messages import MoreWanted, ReloadWanted, RowOpened
from retrograph.tui.spans import Span, columns
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from retrograph.engine.threads.status import ThreadInfo

SORTS = ("activity", "checkpoints", "name", "status")
_NEAR = 60
_WIDEST = 60
_ORDER = {"error": 0, "interrupted": 1, "unfinished": 2, "done": 3}


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
        longest = max((columns(info.row.thread_id) for info in threads), default=0)
        self._widest = max(self._widest, min(longest, _WIDEST))
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
        # Imported with the first thread, since the first frame has none and should not wait.
        from retrograph.tui.widgets.threadpaint import paint_thread

        return paint_thread(self.threads[row], self._widest, width, self.ui)

    def action_threads_open(self) -> None:
        if self.selected is not None:
            self.post_message(RowOpened(self, self.cursor))

    def action_threads_sort(self) -> None:
        self.sort = SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)]
        self._arrange()

    def action_threads_filter(self) -> None:
        ask(self, Asked("filter", "filter:", self.filtered))

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
