"""Finding in a thread: search, a step or an id, the next question or error."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from textual.message import Message

from retrograph.engine.history import NONE
from retrograph.engine.text import cut, escape
from retrograph.tui.messages import (
    PlaceFound,
    PromptAccepted,
    PromptChanged,
    PromptLeft,
    ScanWanted,
)
from retrograph.tui.screens.panes import PanesScreen
from retrograph.tui.spans import Span
from retrograph.tui.work import Job

if TYPE_CHECKING:
    from retrograph.engine.thread import Thread

SCAN = "scan"
"""The group of the worker that reads every step, or onward to something."""


class FindingScreen(PanesScreen):
    """What the screen of a thread does to find something."""

    thread: Thread | None
    """With the index that is shown."""

    _before: int = NONE
    """The entry that was selected when a search began."""
    _looked_for = ""

    def on_prompt_changed(self, message: PromptChanged) -> None:
        if message.purpose == "search":
            if self._before == NONE:
                self._before = self.history.entry
            self._search(message.text)

    def on_prompt_accepted(self, message: PromptAccepted) -> None:
        self.close_prompt()
        self._before = NONE
        if message.purpose == "search":
            self._search(message.text)
            self.say_place()
        elif message.purpose == "jump":
            self._jump(message.text)

    def on_prompt_left(self, message: PromptLeft) -> None:
        self.close_prompt()
        if message.purpose == "search" and self._before != NONE:
            self.history.go(self._before)
            self.history.found("", array("i"))
        self._before = NONE

    def _search(self, text: str) -> None:
        """Set off what is found so far, go to the first match from where the search began, and
        read the rest of the thread."""
        model, tree = self.history.model, self.history
        if model is None:
            return
        from retrograph.tui.reading.search import with_text

        matches = with_text(model.picture, model.known, text)
        tree.found(text, matches)
        if len(matches):
            start = self._before if self._before != NONE else tree.entry
            tree.go(next((entry for entry in matches if entry >= start), matches[0]))
        if text and not model.known.complete:
            self.read_everything()
        self._say_found()

    def search_again(self) -> None:
        """More has been read: the matches of the search may be more."""
        model, tree = self.history.model, self.history
        if model is not None and tree.searched:
            from retrograph.tui.reading.search import with_text

            tree.found(tree.searched, with_text(model.picture, model.known, tree.searched))
            self._say_found()

    def _say_found(self) -> None:
        model, tree = self.history.model, self.history
        if model is None:
            return
        count = len(model.matches)
        more = "" if model.known.complete else "+"
        said = f"{count:,}{more} found" if tree.searched else ""
        self.say_in_prompt([Span(said, "dim" if count else "waits")])

    def read_everything(self) -> None:
        """Read every step that has not been read, in the background."""
        model, thread = self.history.model, self.thread
        if model is not None and thread is not None and not self.reading(SCAN):
            known = model.known

            def work(job: Job) -> Message:
                from retrograph.tui.reading.scan import scan_all

                return scan_all(job, thread, known)

            self.read(SCAN, work)

    def _jump(self, text: str) -> None:
        model, tree = self.history.model, self.history
        if model is None or not text.strip():
            return
        from retrograph.tui.reading.search import at_place

        matches = at_place(model.picture, model.known, text)
        if not len(matches):
            self.complain(f"There is no checkpoint '{escape(cut(text, 60))}' in this thread.")
            return
        tree.found("", matches)
        tree.go(next((entry for entry in matches if entry >= tree.entry), matches[0]))
        if len(matches) > 1:
            again = self.ui.keys.first("tree.next-match")
            self.tell(f"{len(matches):,} checkpoints match; {again} goes to the next.")

    def on_scan_wanted(self, message: ScanWanted) -> None:
        model, thread = self.history.model, self.thread
        if model is None or thread is None:
            return
        from retrograph.tui.reading.scan import scan_to
        from retrograph.tui.reading.search import is_error, is_question

        picture, known = model.picture, model.known
        start, way = message.start, message.way
        wanted = is_question if message.kind == "question" else is_error
        self._looked_for = f"No {message.kind} {'further down' if way > 0 else 'further up'}."
        self.read(SCAN, lambda job: scan_to(job, thread, picture, known, start, way, wanted))

    def on_place_found(self, message: PlaceFound) -> None:
        if not self.newest(SCAN, message.ticket):
            return
        self.say_place()
        if message.entry == NONE:
            self.tell(self._looked_for)
        else:
            self.history.go(message.entry)
