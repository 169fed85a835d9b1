"""The two panes of a thread: its tree at the left, the inspector of one checkpoint at the right."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal

from retrograph.engine.ids import time_of
from retrograph.engine.text import cut, escape, local
from retrograph.tui.messages import (
    CursorMoved,
    RowOpened,
    SplitterMoved,
    TabPicked,
    TextOpened,
)
from retrograph.tui.screens.base import BaseScreen
from retrograph.tui.spans import Span
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.bars import Bar
from retrograph.tui.widgets.borders import say_below
from retrograph.tui.widgets.inspector import Inspector
from retrograph.tui.widgets.splitter import Splitter
from retrograph.tui.widgets.tabs import TABS
from retrograph.tui.widgets.tree import HistoryTree

ONE_PANE = 100
"""Narrower terminals show one pane at a time."""

_STEP = 4
_NARROWEST = 24


class PanesScreen(BaseScreen):
    """Which pane is seen and has the focus, how wide each is, and which tab is in sight."""

    def __init__(self, ui: Ui, thread_id: str) -> None:
        super().__init__(ui)
        self.thread_id = thread_id
        self.history = HistoryTree(ui, id="history")
        self.inspector = Inspector(ui, TABS, id="inspector")

    def panes(self) -> ComposeResult:
        with Horizontal(id="panes"):
            yield self.history
            yield Splitter()
            yield self.inspector
        yield Bar(self.ui, id="crumbs")

    def on_mount(self) -> None:
        self.history.border_title = "history"
        self.history.focus()

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
        self.inspector.say_which()
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
        say_below(tree, f"{tree.cursor + 1:,} of {rows:,}")

    @on(CursorMoved)
    def _cursor_moved(self) -> None:
        self.say_place()

    @on(TextOpened)
    def _text_opened(self, message: TextOpened) -> None:
        from retrograph.tui.screens.reader import ReaderScreen

        self.app.push_screen(ReaderScreen(self.ui, message.title, message.text, message.markdown))

    # Panes.

    @on(RowOpened)
    def _row_opened(self, message: RowOpened) -> None:
        if message.rows is self.history:
            self._inspecting(True)

    @on(events.DescendantFocus)
    def _focus_moved(self) -> None:
        # A prompt leaves the pane in sight that it was opened from.
        if not self.has_class("-prompting"):
            self.set_class(self.inspector.has_focus_within, "-inspecting")
        self.say_hints()

    def _inspecting(self, yes: bool) -> None:
        # First the pane must be there: what is not displayed cannot have the focus.
        self.set_class(yes, "-inspecting")
        pane = self.inspector.tab if yes else self.history
        if pane.focusable:
            # At once: the next key is for it, however fast it comes.
            self.set_focus(pane)
        else:
            pane.focus()

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
        self._split_at(self.history.outer_size.width + by)

    @on(SplitterMoved)
    def _splitter_moved(self, message: SplitterMoved) -> None:
        self._split_at(message.column)

    def _split_at(self, column: int) -> None:
        """Give the history so many columns, here and on the next screens."""
        most = self.size.width - _NARROWEST
        self.home.remember(split=min(max(column, _NARROWEST), most) / max(self.size.width, 1))
        self._share()

    def _share(self) -> None:
        """Give the history the share that the user chose, unless it stands alone."""
        split = self.home.memory.split
        alone = self.has_class("-zoomed") or self.app.size.width < ONE_PANE
        own = split is not None and not alone
        self.history.styles.width = round(self.app.size.width * split) if own and split else None

    def on_resize(self) -> None:
        self._share()

    def close_inner(self) -> bool:
        if self.has_class("-inspecting"):
            self._inspecting(False)
            return True
        return False

    @on(TabPicked)
    def _tab_picked(self, message: TabPicked) -> None:
        self.pick_tab(message.title)

    def tab_picked(self, title: str, other: int | None = None) -> None:
        """Another tab is in sight, or what it compares with is `other`."""

    def pick_tab(self, title: str) -> None:
        self.inspector.pick(title)
        self.tab_picked(title)
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
