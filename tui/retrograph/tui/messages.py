"""What widgets and workers tell their screen: facts, in the past tense, with frozen contents."""

from __future__ import annotations

from inspect import get_annotations
from typing import TYPE_CHECKING, Any, ClassVar, Literal, dataclass_transform

from textual.message import Message

if TYPE_CHECKING:
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


@dataclass_transform(eq_default=False, frozen_default=True)
class Fact(Message):
    """A message whose contents are the names that its class annotates, in their order.

    Made as a dataclass is, and checked as one; but a dataclass compiles a constructor for each
    class, and the first frame would wait for forty of them.
    """

    NAMES: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.NAMES = tuple(get_annotations(cls))

    def __init__(self, *values: Any, **named: Any) -> None:
        contents = {**dict(zip(self.NAMES, values, strict=False)), **named}
        missing = [name for name in self.NAMES if name not in contents and not hasattr(self, name)]
        if missing or len(contents) != len(values) + len(named) or contents.keys() - {*self.NAMES}:
            raise TypeError(f"{type(self).__name__} holds {self.NAMES}")
        self.__dict__.update(contents)
        super().__init__()


class CursorMoved(Fact):
    """Another row of a list is selected."""

    rows: Rows
    row: int

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, CursorMoved) and message.rows is self.rows


class RowOpened(Fact):
    """A row was opened with the mouse."""

    rows: Rows
    row: int


class CheckpointSelected(Fact):
    """The cursor of the tree stands on another checkpoint (its number in the history)."""

    checkpoint: int

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, CheckpointSelected)


class MarksChanged(Fact):
    """The user marked a checkpoint, or took a mark off."""


class RowsWanted(Fact):
    """Rows came in sight whose steps have not been read."""

    checkpoints: tuple[int, ...]

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, RowsWanted)


class TabPicked(Fact):
    """A tab's title was clicked."""

    title: str


class SplitterMoved(Fact):
    """The column between two panes was dragged to a column of the screen."""

    column: int


# What workers have read. `ticket` is the number of the request: an answer to an older one than
# the last is dropped.


class SourceOpened(Fact):
    """The source answers."""

    source: Source


class ReadingFailed(Fact):
    """Something could not be read; `sentence` says what, and is safe to draw."""

    what: str
    """The group of the worker."""
    sentence: str
    error: Exception
    ticket: int = 0


class SourceChanged(Fact):
    """Somebody has written to the source."""


class SourceLost(Fact):
    """The source does not answer any more; why, safe to draw."""

    sentence: str


class SourceAnswers(Fact):
    """A source that was lost answers again; what is to be said of it, safe to draw."""

    sentence: str


class SourceWarned(Fact):
    """The loader met something that its user should know; safe to draw."""

    sentence: str


class IndexUnchanged(Fact):
    """A thread was looked at again and has no other checkpoints than before."""

    ticket: int


class IndexRead(Fact):
    """A thread's index, or the first part of it, is laid out."""

    thread: Thread
    picture: Picture
    known: Known
    ticket: int


class NotesRead(Fact):
    """The steps of some rows."""

    known: Known
    notes: list[Noted]
    ticket: int


class CheckpointRead(Fact):
    """A checkpoint with its values."""

    inspected: Inspected
    ticket: int


class WorkGrew(Fact):
    """How far a long reading is: so many of so many (`None` where that is not known)."""

    what: str
    done: int
    total: int | None

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, WorkGrew) and message.what == self.what


class WorkEnded(Fact):
    """A long reading is through, or was stopped."""

    what: str
    stopped: bool


class TextOpened(Fact):
    """A text was opened for reading on the whole screen."""

    title: str
    text: str
    markdown: bool = False
    """Whether it is shown as Markdown at first."""


class TextRendered(Fact):
    """A text as Markdown, in lines."""

    lines: list[Line]
    ticket: int


class PlaceFound(Fact):
    """What was looked for along the rows stands at this entry, or (`NONE`) nowhere."""

    entry: int
    ticket: int


# What was typed. `purpose` is what the prompt was opened for.


class PromptChanged(Fact):
    """The text of a prompt is another."""

    purpose: str
    text: str


class PromptAccepted(Fact):
    """The text of a prompt is what the user wants."""

    purpose: str
    text: str


class PromptLeft(Fact):
    """The prompt was left without an answer."""

    purpose: str


class ScanWanted(Fact):
    """The tree looks for something along its rows, of which some have not been read."""

    kind: str
    """"question" or "error"."""
    start: int
    way: Literal[1, -1]


class ThreadsRead(Fact):
    """More threads of the list; `complete` where there are no others."""

    threads: list[ThreadInfo]
    complete: bool
    ticket: int


class ThreadSized(Fact):
    """What a thread takes in the store, in bytes; `None` where that is not told."""

    thread_id: str
    size: int | None


class MoreWanted(Fact):
    """The end of a list that is not complete has come near."""


class ReloadWanted(Fact):
    """A list should be read again."""


class FileWritten(Fact):
    """A file of the user's own asking was written."""

    path: str


class ComparisonMade(Fact):
    """Two states were compared; `None` where there is nothing to compare with."""

    comparison: Comparison | None
    ticket: int


class ChartMade(Fact):
    """The graph of a checkpoint is drawn."""

    chart: Chart
    ticket: int


class ConversationMade(Fact):
    """The lines of a conversation are ready."""

    pages: Pages
    to_end: bool
    ticket: int


class ValueHistoryWanted(Fact):
    """The history of the value at a JSON Pointer is asked for."""

    pointer: str


class ValueSettingFound(Fact):
    """A checkpoint at which the value was set, the newest first."""

    setting: Setting
    ticket: int
