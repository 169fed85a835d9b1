"""What widgets and workers tell their screen: facts, in the past tense, with frozen contents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual.message import Message

if TYPE_CHECKING:
    from retrograph.engine.model import ThreadRow
    from retrograph.engine.thread import Thread
    from retrograph.engine.threads.status import ThreadInfo
    from retrograph.tui.reading.chart import Chart
    from retrograph.tui.reading.conversation import Pages
    from retrograph.tui.reading.diffing import Comparison
    from retrograph.tui.reading.inspected import Inspected
    from retrograph.tui.reading.known import Known, Noted
    from retrograph.tui.reading.picture import Picture
    from retrograph.tui.reading.settings import Setting
    from retrograph.tui.reading.source import Source
    from retrograph.tui.spans import Line
    from retrograph.tui.widgets.rows import Rows


@dataclass(eq=False, repr=False)
class CursorMoved(Message):
    """Another row of a list is selected."""

    rows: Rows
    row: int

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, CursorMoved) and message.rows is self.rows


@dataclass(eq=False, repr=False)
class RowOpened(Message):
    """A row was opened with the mouse."""

    rows: Rows
    row: int


@dataclass(eq=False, repr=False)
class CheckpointSelected(Message):
    """The cursor of the tree stands on another checkpoint (its number in the history)."""

    checkpoint: int

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, CheckpointSelected)


@dataclass(eq=False, repr=False)
class MarksChanged(Message):
    """The user marked a checkpoint, or took a mark off."""


@dataclass(eq=False, repr=False)
class RowsWanted(Message):
    """Rows came in sight whose steps have not been read."""

    checkpoints: tuple[int, ...]

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, RowsWanted)


@dataclass(eq=False, repr=False)
class TabPicked(Message):
    """A tab's title was clicked."""

    title: str


@dataclass(eq=False, repr=False)
class SplitterMoved(Message):
    """The column between two panes was dragged to a column of the screen."""

    column: int


# What workers have read. `ticket` is the number of the request: an answer to an older one than
# the last is dropped.


@dataclass(eq=False, repr=False)
class SourceOpened(Message):
    """The source answers."""

    source: Source


@dataclass(eq=False, repr=False)
class ReadingFailed(Message):
    """Something could not be read; `sentence` says what, and is safe to draw."""

    what: str
    """The group of the worker."""
    sentence: str
    error: Exception
    ticket: int = 0


@dataclass(eq=False, repr=False)
class SourceChanged(Message):
    """Somebody has written to the source."""


@dataclass(eq=False, repr=False)
class SourceLost(Message):
    """The source does not answer any more; why, safe to draw."""

    sentence: str


@dataclass(eq=False, repr=False)
class SourceAnswers(Message):
    """A source that was lost answers again; what is to be said of it, safe to draw."""

    sentence: str


@dataclass(eq=False, repr=False)
class SourceWarned(Message):
    """The loader met something that its user should know; safe to draw."""

    sentence: str


@dataclass(eq=False, repr=False)
class IndexUnchanged(Message):
    """A thread was looked at again and has no other checkpoints than before."""

    ticket: int


@dataclass(eq=False, repr=False)
class IndexRead(Message):
    """A thread's index, or the first part of it, is laid out."""

    thread: Thread
    picture: Picture
    known: Known
    row: ThreadRow | None
    """How the thread stood before it was read, where it was asked."""
    ticket: int


@dataclass(eq=False, repr=False)
class NotesRead(Message):
    """The steps of some rows."""

    known: Known
    notes: list[Noted]
    ticket: int


@dataclass(eq=False, repr=False)
class CheckpointRead(Message):
    """A checkpoint with its values."""

    inspected: Inspected
    ticket: int


@dataclass(eq=False, repr=False)
class WorkGrew(Message):
    """How far a long reading is: so many of so many (`None` where that is not known)."""

    what: str
    done: int
    total: int | None

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, WorkGrew) and message.what == self.what


@dataclass(eq=False, repr=False)
class WorkEnded(Message):
    """A long reading is through, or was stopped."""

    what: str
    stopped: bool


@dataclass(eq=False, repr=False)
class TextOpened(Message):
    """A text was opened for reading on the whole screen."""

    title: str
    text: str
    markdown: bool = False
    """Whether it is shown as Markdown at first."""


@dataclass(eq=False, repr=False)
class TextRendered(Message):
    """A text as Markdown, in lines."""

    lines: list[Line]
    ticket: int


@dataclass(eq=False, repr=False)
class PlaceFound(Message):
    """What was looked for along the rows stands at this entry, or (`NONE`) nowhere."""

    entry: int
    ticket: int


# What was typed. `purpose` is what the prompt was opened for.


@dataclass(eq=False, repr=False)
class PromptChanged(Message):
    """The text of a prompt is another."""

    purpose: str
    text: str


@dataclass(eq=False, repr=False)
class PromptAccepted(Message):
    """The text of a prompt is what the user wants."""

    purpose: str
    text: str


@dataclass(eq=False, repr=False)
class PromptLeft(Message):
    """The prompt was left without an answer."""

    purpose: str


@dataclass(eq=False, repr=False)
class ScanWanted(Message):
    """The tree looks for something along its rows, of which some have not been read."""

    kind: str
    """"question" or "error"."""
    start: int
    way: Literal[1, -1]


@dataclass(eq=False, repr=False)
class ThreadsRead(Message):
    """More threads of the list; `complete` where there are no others."""

    threads: list[ThreadInfo]
    complete: bool
    ticket: int


@dataclass(eq=False, repr=False)
class ThreadSized(Message):
    """What a thread takes in the store, in bytes; `None` where that is not told."""

    thread_id: str
    size: int | None


@dataclass(eq=False, repr=False)
class MoreWanted(Message):
    """The end of a list that is not complete has come near."""


@dataclass(eq=False, repr=False)
class ReloadWanted(Message):
    """A list should be read again."""


@dataclass(eq=False, repr=False)
class FileWritten(Message):
    """A file of the user's own asking was written."""

    path: str


@dataclass(eq=False, repr=False)
class ComparisonMade(Message):
    """Two states were compared; `None` where there is nothing to compare with."""

    comparison: Comparison | None
    ticket: int


@dataclass(eq=False, repr=False)
class ChartMade(Message):
    """The graph of a checkpoint is drawn."""

    chart: Chart
    ticket: int


@dataclass(eq=False, repr=False)
class ConversationMade(Message):
    """The lines of a conversation are ready."""

    pages: Pages
    to_end: bool
    ticket: int


@dataclass(eq=False, repr=False)
class ValueHistoryWanted(Message):
    """The history of the value at a JSON Pointer is asked for."""

    pointer: str


@dataclass(eq=False, repr=False)
class ValueSettingFound(Message):
    """A checkpoint at which the value was set, the newest first."""

    setting: Setting
    ticket: int
