"""Reads a thread's index into pictures: the first rows early, then all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.message import Message

from retrograph.engine.errors import Cancelled, RefError
from retrograph.engine.history import History
from retrograph.engine.model import ROOT, IndexRow, Loader, ReadsNewest, ThreadRow
from retrograph.engine.text import cut, escape
from retrograph.engine.thread import Thread
from retrograph.tui.messages import IndexRead, IndexUnchanged, WorkEnded
from retrograph.tui.reading.known import Known
from retrograph.tui.reading.notes import note_page
from retrograph.tui.reading.picture import Picture, grown_picture, make_picture
from retrograph.tui.work import Job

EARLY = 5_000
"""After so many rows a first picture is shown."""

_FEW = 1_000
"""So many new checkpoints are added to what is there; of more, all is read again."""

_FIRST_PAGE = 60
"""Rows at the head whose steps are read before the first picture is shown."""


def look_again(job: Job, thread: Thread, known: Known, picture: Picture) -> Message:
    """After somebody has written, or may have: read what is new, or where more has changed than
    that, all of the index. What is posted and returned: see `read_index`; `IndexUnchanged` where
    the same checkpoints are there."""
    now = thread.loader.thread(thread.thread_id)
    if now is not None and picture.complete:
        if _same(picture.history, now):
            return IndexUnchanged(job.ticket)
        grown = _grown(thread.loader, picture.history, now)
        if grown is not None:
            thread.history = grown
            return _tell(job, thread, grown_picture(picture, grown), known.moved_to(grown))
    return read_index(job, thread, known)


def _same(history: History, now: ThreadRow) -> bool:
    stands = (len(history), len(history.namespaces()), history.first_id, history.last_id)
    return stands == (now.checkpoints, now.namespaces, now.first_id, now.last_id)


def _grown(loader: Loader, history: History, now: ThreadRow) -> History | None:
    """The history as it is now, where it has only grown, and by little."""
    more = now.checkpoints - len(history)
    if not 0 < more <= _FEW or not isinstance(loader, ReadsNewest):
        return None
    rows = loader.newer(history.thread_id, history.last_id, more + 1)
    # More or less than that: some came in between, or went, or one more just now.
    return history.grown(rows) if len(rows) == more else None


def read_index(job: Job, thread: Thread, before: Known | None) -> WorkEnded:
    """Post `IndexRead` up to three times: of the beginning, where the thread is long; of the root
    graph; and, where there are sub-graphs, with them.

    `before`: what was known of the same thread when it was read the last time; without it the
    beginning is shown early.
    """
    batches = _batches(job, thread, early=before is None)
    thread.history = history = History.build(thread.thread_id, batches)
    if not len(history):
        raise RefError(f"There is no thread '{escape(cut(thread.thread_id, 80))}' in the source.")
    known = Known(history) if before is None else before.moved_to(history)
    ended = _tell(job, thread, make_picture(history), known)
    if history.namespaces() != [ROOT]:
        nested = make_picture(history, thread.owners())
        job.post(IndexRead(thread, nested, known, job.ticket))
    return ended


def _tell(job: Job, thread: Thread, picture: Picture, known: Known) -> WorkEnded:
    known.take(note_page(thread, [i for i in _at_head(picture) if not known.has(i)]))
    job.post(IndexRead(thread, picture, known, job.ticket))
    return WorkEnded(job.group, stopped=False)


def _batches(job: Job, thread: Thread, early: bool) -> Iterator[Sequence[IndexRow]]:
    """The index as it comes; after `EARLY` rows a picture of what is there is posted, if wanted."""
    first: list[Sequence[IndexRow]] = []
    count = 0
    for batch in thread.loader.rows(thread.thread_id):
        if job.stopped:
            raise Cancelled("Stopped.")
        yield batch
        count += len(batch)
        if not early:
            if count > EARLY:
                job.grew(count, None)
            continue
        first.append(batch)
        if count >= EARLY:
            begun = Thread(thread.loader, thread.thread_id, thread.serde)
            begun.fold = thread.fold
            begun.history = History.build(thread.thread_id, first)
            picture = make_picture(begun.history, complete=False)
            job.post(IndexRead(begun, picture, Known(begun.history), job.ticket))
            early, first = False, []


def _at_head(picture: Picture) -> list[int]:
    """The checkpoints of the rows that end at the head."""
    layout, head = picture.layout, picture.history.head(picture.top)
    last = layout.entry(head)
    rows = range(max(last - _FIRST_PAGE, 0), min(last + _FIRST_PAGE, len(layout)))
    return [i for row in rows if (i := layout.checkpoint(row)) >= 0]
