"""The Diff tab: this checkpoint's values against its parent's, the mark's, or any other's."""

from __future__ import annotations

from collections.abc import Iterable

from textual.message import Message

from retrograph.engine.diff.changes import Path
from retrograph.engine.diff.rows import DiffRow, Line, unified
from retrograph.engine.diff.words import Span as Word
from retrograph.engine.paths import pointer
from retrograph.engine.text import cut, escape
from retrograph.engine.values import ABSENT, Value
from retrograph.engine.views.outline import NONE
from retrograph.tui.asking import AGAINST, Asked, ask
from retrograph.tui.messages import ComparisonMade, ReadingFailed, TextOpened
from retrograph.tui.reading.copies import Copy, value_copies
from retrograph.tui.reading.diffing import Against, Comparison, compare
from retrograph.tui.reading.inspected import Inspected
from retrograph.tui.reading.ways import nearest
from retrograph.tui.spans import Span
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.diffpaint import paint_line, paint_sides, tint
from retrograph.tui.widgets.rows import Rows
from retrograph.tui.work import Job, Reads


class DiffTab(Reads, Rows):
    """Lines of a diff; what did not change is folded away."""

    SCOPES = ("move", "diff")

    def __init__(self, ui: Ui) -> None:
        super().__init__(ui)
        self._inspected: Inspected | None = None
        self._comparison: Comparison | None = None
        self._lines: list[Line] = []
        self._words: dict[int, list[Word] | None] = {}
        self._unfolded: set[Path] = set()
        self._everything = False
        self._sides = False
        self._against: Against | None = None
        """What the user chose; by default the mark, where there is one."""

    def show(self, inspected: Inspected | None) -> None:
        self._inspected = inspected
        self._unfolded = set()
        self._compare()

    @property
    def against(self) -> Against:
        there = self._there()
        if self._against in there:
            return self._against
        return "mark" if "mark" in there else "parent"

    def _there(self) -> list[Against]:
        """What there is to compare with."""
        found: list[Against] = ["parent"]
        if self._inspected is not None:
            found += ["mark"] if self._inspected.mark is not None else []
            found += ["chosen"] if self._inspected.chosen is not None else []
        return found

    def compare_with(self, against: Against) -> None:
        """Compare the checkpoints that are shown from now on with this."""
        self._against = against

    def _compare(self) -> None:
        inspected, against = self._inspected, self.against
        if inspected is None:
            self._take(None)
            return

        def work(job: Job) -> Message:
            return ComparisonMade(compare(inspected, against), job.ticket)

        self.read("diff", work)

    def on_comparison_made(self, message: ComparisonMade) -> None:
        message.stop()
        if self.newest("diff", message.ticket):
            self._take(message.comparison)

    def on_reading_failed(self, message: ReadingFailed) -> None:
        message.stop()
        self._comparison, self._lines = None, []
        self.say_empty(message.sentence, "failed")
        self.rows_changed(cursor=0)

    def _take(self, comparison: Comparison | None) -> None:
        self._comparison = comparison
        self._arrange(cursor=0)

    def _arrange(self, cursor: int | None = None) -> None:
        comparison = self._comparison
        self._words = {}
        if comparison is None:
            self._lines = []
            self.say_empty(
                "This is a root: there is nothing before it to compare with. "
                f"{self.ui.keys.first('tree.mark')} marks another checkpoint to compare with."
            )
        elif unreadable := (self._inspected and self._inspected.unreadable) or (
            comparison.unreadable
        ):
            self._lines = []
            self.say_empty(unreadable, "failed")
        else:
            rows = comparison.rows(self._everything, self._unfolded)
            if self._sides:
                self._lines = [Line(" ", row, row.new) for row in rows]
            else:
                self._lines = list(unified(rows))
            if not comparison.changes and not self._everything:
                self._lines = []
                self.say_empty(f"Nothing changed since {comparison.title}.")
        self.rows_changed(cursor=cursor)

    # Drawing.

    @property
    def row_count(self) -> int:
        return len(self._lines)

    def _words_of(self, row: DiffRow) -> list[Word] | None:
        """The word diff of a row, made when it is first drawn."""
        if row.change is None or row.kind != "replace":
            return None
        key = id(row.change)
        if key not in self._words:
            self._words[key] = row.change.words()
        return self._words[key]

    def paint(self, row: int, width: int) -> Iterable[Span]:
        sign, shown, value = self._lines[row]
        words = self._words_of(shown)
        if self._sides:
            return paint_sides(shown, words, width, self.ui)
        return paint_line(shown, sign, value, words, width, self.ui)

    def row_role(self, row: int) -> str:
        under = super().row_role(row)
        if under or self._sides:
            return under
        return tint(self._lines[row].sign)

    @property
    def place(self) -> str:
        """Where the cursor is."""
        if self.cursor < len(self._lines) and (path := self._lines[self.cursor].row.path):
            return escape(cut(pointer(path), 120))
        return ""

    @property
    def versus(self) -> str:
        """What is compared with, for the border."""
        return f"since {self._comparison.title}" if self._comparison is not None else ""

    def copies(self) -> list[Copy]:
        """The new value of the selected line in its forms (of a removal, the old one)."""
        if self.cursor >= len(self._lines):
            return []
        line = self._lines[self.cursor]
        value: Value = line.value if line.value is not ABSENT else line.row.old
        return [] if value is ABSENT else value_copies(line.row.path, value)

    # Actions.

    def action_diff_sides(self) -> None:
        self._sides = not self._sides
        self._arrange()

    def action_diff_all(self) -> None:
        self._everything = not self._everything
        self._arrange()

    def action_diff_against(self) -> None:
        there = self._there()
        if len(there) == 1:
            mark, choose = (self.ui.keys.first(f) for f in ("tree.mark", "diff.choose"))
            self.notify(
                f"There is only the parent: {mark} in the history marks another checkpoint, "
                f"{choose} takes one by its step or id."
            )
            return
        self._against = there[(there.index(self.against) + 1) % len(there)]
        self._compare()

    def action_diff_choose(self) -> None:
        ask(self, Asked(AGAINST, "compare with"))

    def action_diff_unfold(self) -> None:
        if self.cursor >= len(self._lines):
            return
        line = self._lines[self.cursor]
        if line.row.kind == "fold":
            self._unfolded.add(line.row.path)
            self._arrange()
        elif isinstance(line.value, str):
            self.post_message(TextOpened(escape(cut(pointer(line.row.path), 120)), line.value))

    def action_diff_next(self) -> None:
        self._to_change(1)

    def action_diff_previous(self) -> None:
        self._to_change(-1)

    def _to_change(self, way: int) -> None:
        changed = [k for k, line in enumerate(self._lines) if line.row.change is not None]
        at = nearest(changed, self.cursor, way)
        if at != NONE:
            self.cursor = at
