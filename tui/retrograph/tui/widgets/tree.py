"""The history of a thread as a branching tree: a cursor over flat arrays.

It holds a `Picture` and what is known of the rows, never values. Rows in sight that have not been
read are asked for with `RowsWanted`; they fill in when `Known` has them.
"""

from __future__ import annotations

from collections.abc import Iterable

from retrograph.engine.folding import View, runs
from retrograph.engine.history import NONE
from retrograph.engine.lanes import Line
from retrograph.engine.treerows import Painter, TreeRow
from retrograph.tui.messages import CheckpointSelected, RowOpened, RowsWanted
from retrograph.tui.reading.known import Known, Note
from retrograph.tui.reading.picture import Picture
from retrograph.tui.reading.ways import beside, nearest, straight_child
from retrograph.tui.spans import Span
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.rows import Rows
from retrograph.tui.widgets.treepaint import paint_row

_AHEAD = 1
"""So many pages above and below are read with those in sight."""


class HistoryTree(Rows):
    """The tree of one thread. `show` gives it a picture; the cursor is a checkpoint."""

    SCOPES = ("move", "tree")

    def __init__(self, ui: Ui, *, id: str | None = None) -> None:
        super().__init__(ui, id=id)
        self._picture: Picture | None = None
        self._known: Known | None = None
        self._view: View | None = None
        self._painter: Painter | None = None
        self._line: Line = {}
        self._step_width = 2
        self._asked = range(0)
        self.marks: list[int] = []
        """Checkpoints that the user marked, the newest last."""

    # What is shown.

    def show(self, picture: Picture, known: Known, select: int | None = None) -> None:
        """Show a picture, and select a checkpoint: `select`, else the one that was selected (by
        its id), else the head."""
        before = self._picture
        was, offset = self.selected, self.cursor - self.scroll_offset.y
        opened = self._opened_namespaces()
        self._picture, self._known = picture, known
        history, layout = picture.history, picture.layout
        closed = [
            k for k, group in enumerate(layout.groups) if (group.ns, group.owner) not in opened
        ]
        self._view = View(layout, closed)
        self._painter = Painter(
            history,
            layout,
            known.slim_step,
            known.slim_envelope,
            ascii=self.ui.ascii,
            top=picture.top,
        )
        self._painter.labels = known.labels()
        self._step_width = max(len(str(history.step(history.head(picture.top)))), 2)
        self._asked = range(0)
        if select is None and before is not None and was != NONE:
            select = history.find(before.history.ns(was), before.history.ids[was])
            self.marks = [
                found
                for mark in self.marks
                if (found := history.find(before.history.ns(mark), before.history.ids[mark]))
                != NONE
            ]
        if select is None or select == NONE:
            select, offset = history.head(picture.top), self.size.height
        entry = layout.entry(select) if len(history) else NONE
        if entry != NONE:
            self._view = self._view.reveal(entry)
        row = max(self._view.row(entry), 0) if entry != NONE else 0
        self._line = layout.line(entry) if entry != NONE else {}
        self.rows_changed(cursor=row, top=row - offset)
        self.ask()

    def _opened_namespaces(self) -> set[tuple[str, int]]:
        if self._picture is None or self._view is None:
            return set()
        groups = self._picture.layout.groups
        return {
            (group.ns, group.owner) for k, group in enumerate(groups) if k not in self._view.closed
        }

    def notes_taken(self) -> None:
        """More has been read: draw it."""
        self.refresh()

    @property
    def picture(self) -> Picture | None:
        return self._picture

    @property
    def view(self) -> View | None:
        return self._view

    @property
    def row_count(self) -> int:
        return len(self._view) if self._view is not None else 0

    def row(self, row: int) -> TreeRow | None:
        """What a row shows."""
        if self._view is None or self._painter is None or not 0 <= row < len(self._view):
            return None
        return self._painter.row(self._view, row)

    @property
    def entry(self) -> int:
        """The selected entry of the layout, `NONE` while there is nothing."""
        if self._view is None or not len(self._view):
            return NONE
        return self._view.entry(self.cursor)

    @property
    def selected(self) -> int:
        """The selected checkpoint (of a sub-graph's header its owner), `NONE` without one."""
        if self._picture is None or self.entry == NONE:
            return NONE
        layout = self._picture.layout
        i = layout.checkpoint(self.entry)
        return i if i != NONE else layout.groups[layout.group(self.entry)].owner

    def paint(self, row: int, width: int) -> Iterable[Span]:
        view, picture, painter = self._view, self._picture, self._painter
        if view is None or picture is None or painter is None:
            return ()
        shown = painter.row(view, row)
        lanes = max((width - 24) // 2, 4)
        cells = picture.layout.cells(shown.entry, self.ui.glyphs, self._line, limit=lanes)
        on = picture.layout.on(shown.entry, self._line)
        marked = shown.kind == "checkpoint" and shown.checkpoint in self.marks
        return paint_row(
            shown,
            cells,
            width,
            self.ui.signs,
            self._step_width,
            on,
            "mark" if marked else "",
        )

    # The cursor.

    def cursor_moved(self, before: int, now: int) -> None:
        if self._picture is None:
            return
        entry = self.entry
        self._line = self._picture.layout.line(entry) if entry != NONE else {}
        self.refresh()
        if self.selected != NONE:
            self.post_message(CheckpointSelected(self.selected))

    def select(self, checkpoint: int, center: bool = True) -> None:
        """Put the cursor on a checkpoint, opening what hides it."""
        if self._picture is None or self._view is None or checkpoint == NONE:
            return
        entry = self._picture.layout.entry(checkpoint)
        if entry == NONE:
            return
        self.go(entry, center)

    def go(self, entry: int, center: bool = True) -> None:
        """Put the cursor on an entry, opening what hides it."""
        if self._view is None:
            return
        if not self._view.visible(entry):
            self._set_view(self._view.reveal(entry), entry)
            return
        far = self._view.row(entry) not in self.in_sight
        self.cursor = self._view.row(entry)
        if far and center:
            self.center()
        self.ask()

    def _set_view(self, view: View, entry: int) -> None:
        """Other rows of the same layout; the cursor goes to an entry, and stays where it was on
        the screen."""
        offset = self.cursor - self.scroll_offset.y
        self._view = view
        row = view.row(entry)
        self.rows_changed(cursor=row, top=row - offset)
        if self._picture is not None:
            self._line = self._picture.layout.line(self.entry)
        self.ask()

    # What has to be read.

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.ask()

    def ask(self) -> None:
        """Tell the screen which checkpoints around those in sight have no note yet."""
        view, picture, known = self._view, self._picture, self._known
        if view is None or picture is None or known is None or not len(view):
            return
        height = max(self.size.height, 1)
        first = self.scroll_offset.y
        near = range(max(first - height * _AHEAD, 0), min(first + height * (1 + _AHEAD), len(view)))
        sight = range(max(first, 0), min(first + height, len(view)))
        # Nothing new is asked for while all in sight is known or was asked for.
        if all(row in self._asked or self._is_known(row) for row in sight):
            return
        self._asked = near
        wanted = [i for row in near if (i := self._unknown(row)) != NONE]
        if wanted:
            self.post_message(RowsWanted(tuple(wanted)))

    def asked_again(self) -> None:
        """What was asked for was not read: ask anew."""
        self._asked = range(0)

    def _unknown(self, row: int) -> int:
        if self._view is None or self._picture is None or self._known is None:
            return NONE
        i = self._picture.layout.checkpoint(self._view.entry(row))
        return i if i != NONE and not self._known.has(i) else NONE

    def _is_known(self, row: int) -> bool:
        return self._unknown(row) == NONE

    # Moves along the tree.

    def action_tree_parent(self) -> None:
        view, picture = self._view, self._picture
        if view is None or picture is None or self.entry == NONE:
            return
        group = picture.layout.group(self.entry)
        if group != NONE and group not in view.closed:
            self._set_view(view.close(group), self.entry)
            return
        if group != NONE:
            self.select(picture.layout.groups[group].owner)
            return
        i = picture.layout.checkpoint(self.entry)
        parent = picture.history.parent(i)
        if parent != NONE:
            self.select(parent)
            return
        enclosing = picture.layout.enclosing(self.entry)
        if enclosing:
            self.go(picture.layout.header(enclosing[-1]))

    def action_tree_child(self) -> None:
        view, picture = self._view, self._picture
        if view is None or picture is None or self.entry == NONE:
            return
        if self._open_here():
            return
        group = picture.layout.group(self.entry)
        if group != NONE:
            self.go(self.entry + 1)
            return
        child = straight_child(picture, picture.layout.checkpoint(self.entry))
        if child != NONE:
            self.select(child)

    def _open_here(self) -> bool:
        """Open the closed sub-graph or the fold under the cursor; whether there was one."""
        view, picture = self._view, self._picture
        if view is None or picture is None:
            return False
        fold = view.fold(self.cursor)
        if fold is not None:
            self._set_view(view.unfold(fold), fold.start)
            return True
        group = picture.layout.group(self.entry)
        if group != NONE and group in view.closed:
            self._set_view(view.open(group), self.entry)
            return True
        return False

    def action_tree_fold(self) -> None:
        view, picture = self._view, self._picture
        if view is None or picture is None or self.entry == NONE or self._open_here():
            return
        group = picture.layout.group(self.entry)
        if group != NONE:
            self._set_view(view.close(group), self.entry)
            return
        for run in runs(picture.layout, self._notable()):
            if self.entry in run:
                self._set_view(View(picture.layout, view.closed, [*view.folds, run]), run.start)
                return
        enclosing = picture.layout.enclosing(self.entry)
        if enclosing:
            self._set_view(view.close(enclosing[-1]), picture.layout.header(enclosing[-1]))

    def action_tree_fold_runs(self) -> None:
        view, picture = self._view, self._picture
        if view is None or picture is None or self.entry == NONE:
            return
        folds = [] if view.folds else runs(picture.layout, [*self._notable(), self.entry])
        self._set_view(View(picture.layout, view.closed, folds), self.entry)

    def _notable(self) -> list[int]:
        """Entries that a fold must not hide, as far as they are known."""
        if self._picture is None or self._known is None:
            return []
        layout = self._picture.layout
        kept = [layout.entry(i) for i in self._known.where(_is_notable)]
        return [entry for entry in (*kept, *map(layout.entry, self.marks)) if entry != NONE]

    def action_tree_head(self) -> None:
        if self._picture is not None:
            self.select(self._picture.history.head(self._picture.top))

    def action_tree_next_line(self) -> None:
        self._beside(1)

    def action_tree_previous_line(self) -> None:
        self._beside(-1)

    def _beside(self, way: int) -> None:
        if self._picture is not None and self.selected != NONE:
            self.select(beside(self._picture, self.selected, way))

    def action_tree_next_fork(self) -> None:
        self._to_fork(1)

    def action_tree_previous_fork(self) -> None:
        self._to_fork(-1)

    def _to_fork(self, way: int) -> None:
        picture = self._picture
        if picture is None or self.entry == NONE:
            return
        at = nearest(picture.forks, self.entry, way)
        if at != NONE:
            self.go(at)

    def action_tree_mark(self) -> None:
        i = self.selected
        if i == NONE:
            return
        if i in self.marks:
            self.marks.remove(i)
        else:
            self.marks.append(i)
        self.refresh_lines(self.cursor)
        self.post_message(CheckpointSelected(i))

    def action_tree_next_mark(self) -> None:
        if self._picture is None or not self.marks:
            return
        entries = sorted(self._picture.layout.entry(i) for i in self.marks)
        self.go(next((entry for entry in entries if entry > self.entry), entries[0]))

    def action_tree_open(self) -> None:
        if self.entry != NONE and not self._open_here():
            self.post_message(RowOpened(self, self.cursor))


def _is_notable(note: Note) -> bool:
    label = note.label
    return bool(
        label.kind in ("edit", "copy") or label.trouble or label.answered or label.unreadable
    )
