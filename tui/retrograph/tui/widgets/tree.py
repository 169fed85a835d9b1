"""The history of a thread as a branching tree: a cursor over flat arrays.

It holds a `TreeModel`, never values. Rows in sight that have not been read are asked for with
`RowsWanted`; they fill in when `Known` has them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal

from retrograph.engine.history import NONE
from retrograph.tui.asking import Asked, ask
from retrograph.tui.messages import (
    CheckpointSelected,
    MarksChanged,
    RowOpened,
    RowsWanted,
    ScanWanted,
)
from retrograph.tui.spans import Span
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.rows import Rows

# What draws a thread is imported with the first picture of one: the first frame does without.
if TYPE_CHECKING:
    from retrograph.engine.tree.lanes import Line
    from retrograph.engine.tree.rows import Painter, TreeRow
    from retrograph.tui.reading.known import Known
    from retrograph.tui.reading.picture import Picture
    from retrograph.tui.reading.treemodel import TreeModel


class HistoryTree(Rows):
    """The tree of one thread. `show` gives it a picture; the cursor is a checkpoint."""

    SCOPES = ("move", "tree")

    def __init__(self, ui: Ui, *, id: str | None = None) -> None:
        super().__init__(ui, id=id)
        self.model: TreeModel | None = None
        self.searched = ""
        """What the rows are searched for; it stands out in them."""
        self._painter: Painter | None = None
        self._line: Line = {}
        self._asked = range(0)

    # What is shown.

    def show(self, picture: Picture, known: Known, select: int | None = None) -> None:
        """Show a picture, and select a checkpoint: `select`, else the one that was selected (by
        its id), else the head."""
        from retrograph.engine.tree.rows import Painter
        from retrograph.tui.reading.treemodel import TreeModel

        before, was = self.model, self.selected
        offset = self.cursor - self.scroll_offset.y
        history, layout = picture.history, picture.layout
        marks: list[int] = []
        if before is not None:

            def now(i: int) -> int:
                old = before.picture.history
                return history.find(old.ns(i), old.ids[i])

            marks = [i for i in map(now, before.marks) if i != NONE]
            old = before.picture
            # Who looks at the head goes on to look at the head.
            if select is None and was not in (NONE, old.history.head(old.top)):
                select = now(was)
        self.model = model = TreeModel(picture, known, before.opened if before else (), marks)
        self._painter = Painter(
            history,
            layout,
            known.slim_step,
            known.slim_envelope,
            ascii=self.ui.ascii,
            top=picture.top,
        )
        self._painter.labels = known.labels()
        head = history.head(picture.top)
        self._asked = range(0)
        if select is None or model.entry(select) == NONE:
            select, offset = head, self.size.height
        self._put(model.entry(select), offset)

    @property
    def row_count(self) -> int:
        return len(self.model.view) if self.model is not None else 0

    def row(self, row: int) -> TreeRow | None:
        """What a row shows."""
        if self.model is None or self._painter is None or not 0 <= row < self.row_count:
            return None
        return self._painter.row(self.model.view, row)

    @property
    def entry(self) -> int:
        """The selected entry of the layout, `NONE` while there is nothing."""
        return self.model.view.entry(self.cursor) if self.model and self.row_count else NONE

    @property
    def selected(self) -> int:
        """The selected checkpoint (of a sub-graph's header its owner), `NONE` without one."""
        return self.model.checkpoint(self.entry) if self.model is not None else NONE

    @property
    def marked(self) -> tuple[tuple[str, str], ...]:
        """(namespace, id) of the marks."""
        if self.model is None:
            return ()
        history = self.model.picture.history
        return tuple((history.ns(i), history.ids[i]) for i in self.model.marks)

    def mark_again(self, marks: Iterable[tuple[str, str]]) -> None:
        """Put marks where they were; those whose checkpoint is gone are left out."""
        if self.model is not None:
            history = self.model.picture.history
            found = (history.find(ns, id_) for ns, id_ in marks)
            self.model.marks = [i for i in found if i != NONE]
            self.redraw()

    @property
    def marks(self) -> list[int]:
        """The checkpoints that the user marked, the newest last."""
        return self.model.marks if self.model is not None else []

    def paint(self, row: int, width: int) -> Iterable[Span]:
        model, shown = self.model, self.row(row)
        if model is None or shown is None:
            return ()
        from retrograph.tui.widgets.treepaint import highlighted, paint_row

        layout = model.picture.layout
        lanes = max((width - 24) // 2, 4)
        marked = shown.kind == "checkpoint" and shown.checkpoint in model.marks
        spans = paint_row(
            shown,
            layout.cells(shown.entry, self.ui.glyphs, self._line, limit=lanes),
            width,
            self.ui.signs,
            model.picture.step_width,
            on=layout.on(shown.entry, self._line),
            mark="mark" if marked else "",
        )
        return highlighted(spans, self.searched) if self.searched else spans

    # The cursor.

    def cursor_moved(self, before: int, now: int) -> None:
        if self.model is None:
            return
        entry, layout, was = self.entry, self.model.picture.layout, self._line
        line = self._line = layout.line(entry) if entry != NONE else {}
        if not self.all_to_draw:
            # Of the others only those that leave the line to the selected one, or come to it.
            view = self.model.view
            turned = (row for row in self.in_sight if layout.differs(view.entry(row), was, line))
            self.redraw_rows(before, now, *turned)
        if self.selected != NONE:
            self.post_message(CheckpointSelected(self.selected))

    def select(self, checkpoint: int) -> None:
        """Put the cursor on a checkpoint, opening what hides it."""
        if self.model is not None:
            self.go(self.model.entry(checkpoint))

    def go(self, entry: int) -> None:
        """Put the cursor on an entry, opening what hides it."""
        if self.model is None or entry == NONE:
            return
        before = self.model.view
        self.model.reveal(entry)
        self._after(before, entry)

    def _move(self, move: Callable[[TreeModel, int], int]) -> None:
        """Make a move of the model, and show what came of it."""
        if self.model is None or self.entry == NONE:
            return
        before = self.model.view
        entry = move(self.model, self.entry)
        self.model.reveal(entry)
        self._after(before, entry)

    def _after(self, before: object, entry: int) -> None:
        if self.model is None:
            return
        if self.model.view is not before:
            self._put(entry, self.cursor - self.scroll_offset.y)
            return
        row = self.model.view.row(entry)
        far = row not in self.in_sight
        self.cursor = row
        if far:
            self.center()
        self.ask()

    def _put(self, entry: int, offset: int) -> None:
        """Other rows: the cursor goes to an entry, so many rows below the top of the screen."""
        if self.model is None:
            return
        row = max(self.model.view.row(entry), 0) if entry != NONE else 0
        self._line = self.model.picture.layout.line(entry) if entry != NONE else {}
        self.rows_changed(cursor=row, top=row - offset)
        if self.selected != NONE:
            self.post_message(CheckpointSelected(self.selected))
        self.ask()

    # What has to be read.

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.ask()

    def ask(self) -> None:
        """Tell the screen which checkpoints in sight, and a page around them, have no note yet."""
        if self.model is None or not self.row_count:
            return
        height, first = max(self.size.height, 1), self.scroll_offset.y
        # Nothing new is asked for while all in sight is known or was asked for.
        if all(row in self._asked or self._unread(row) == NONE for row in self.in_sight):
            return
        near = range(max(first - height, 0), min(first + 2 * height, self.row_count))
        self._asked = near
        wanted = [i for row in near if (i := self._unread(row)) != NONE]
        if wanted:
            self.post_message(RowsWanted(tuple(wanted)))

    def asked_again(self) -> None:
        """What was asked for was not read: ask anew when something moves."""
        self._asked = range(0)

    def _unread(self, row: int) -> int:
        """The checkpoint of a row if it has no note yet, else `NONE`."""
        assert self.model is not None
        i = self.model.picture.layout.checkpoint(self.model.view.entry(row))
        return i if i != NONE and not self.model.known.has(i) else NONE

    # Actions.

    def action_tree_open(self) -> None:
        if self.model is None or self.entry == NONE:
            return
        before, entry = self.model.view, self.entry
        if self.model.open(entry):
            self._after(before, entry)
        else:
            self.post_message(RowOpened(self, self.cursor))

    def action_tree_parent(self) -> None:
        self._move(lambda model, entry: model.left(entry))

    def action_tree_child(self) -> None:
        self._move(lambda model, entry: model.right(entry))

    def action_tree_fold(self) -> None:
        self._move(lambda model, entry: model.toggle(entry))

    def action_tree_fold_runs(self) -> None:
        self._move(lambda model, entry: model.toggle_runs(entry))

    def action_tree_head(self) -> None:
        self._move(lambda model, _: model.head())

    def action_tree_next_line(self) -> None:
        self._move(lambda model, entry: model.beside(entry, 1))

    def action_tree_previous_line(self) -> None:
        self._move(lambda model, entry: model.beside(entry, -1))

    def action_tree_next_fork(self) -> None:
        self._move(lambda model, entry: model.fork(entry, 1))

    def action_tree_previous_fork(self) -> None:
        self._move(lambda model, entry: model.fork(entry, -1))

    def action_tree_mark(self) -> None:
        if self.model is not None and self.entry != NONE:
            self.model.mark(self.entry)
            self.redraw()
            self.post_message(MarksChanged())
            self.post_message(CheckpointSelected(self.selected))

    def action_tree_next_mark(self) -> None:
        self._move(lambda model, entry: model.next_mark(entry))

    def action_tree_next_match(self) -> None:
        self._move(lambda model, entry: model.match(entry, 1))

    def action_tree_previous_match(self) -> None:
        self._move(lambda model, entry: model.match(entry, -1))

    def action_tree_next_question(self) -> None:
        self._scan("question", 1)

    def action_tree_previous_question(self) -> None:
        self._scan("question", -1)

    def action_tree_next_error(self) -> None:
        self._scan("error", 1)

    def action_tree_previous_error(self) -> None:
        self._scan("error", -1)

    def _scan(self, kind: Literal["question", "error"], way: Literal[1, -1]) -> None:
        if self.entry != NONE:
            self.post_message(ScanWanted(kind, self.entry, way))

    def action_tree_search(self) -> None:
        ask(self, Asked("search", "/", self.searched))

    def action_tree_jump(self) -> None:
        ask(self, Asked("jump", "step or end of an id:"))

    def found(self, text: str, matches: array[int]) -> None:
        """These entries are the matches of a search for a text, from now on."""
        if self.model is not None:
            self.searched = text
            self.model.matches = matches
            self.redraw()
