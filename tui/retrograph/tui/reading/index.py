"""Reads a thread's index into pictures: the first rows early, then all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.message import Message

from retrograph.engine.errors import Cancelled, RefError
from retrograph.engine.history import History
from retrograph.engine.model import ROOT, IndexRow, ThreadRow
from retrograph.engine.text import cut, escape
from retrograph.engine.thread import Thread
from retrograph.tui.messages import IndexRead, IndexUnchanged, WorkEnded
from retrograph.tui.reading.known import Known
from retrograph.tui.reading.notes import note_page
from retrograph.tui.reading.picture import Picture, make_picture
from retrograph.tui.work import Job

EARLY = 5_000
"""After so many rows a first picture is shown."""

_FIRST_PAGE = 60
"""Rows at the head whose steps are read before the first picture is shown."""


def look_again(job: Job, thread: Thread, before: Known, row: ThreadRow | None) -> Message:
    """After somebody has written: read the index anew, unless the thread stands as `row` says."""
    now = thread.loader.thread(thread.thread_id)
    if row is not None and now == row:
        return IndexUnchanged(job.ticket)
    return read_index(job, thread, before, now)


def read_index(
    job: Job, thread: Thread, before: Known | None, row: ThreadRow | None = None
) -> WorkEnded:
    """Post `IndexRead` up to three times: of the beginning, where the thread is long; of the root
    graph; and, where there are sub-graphs, with them.

    `before`: what was known of the same thread when it was read the last time; without it the
    beginning is shown early. `row`: how the thread stands, where that has just been asked.
    """
    if row is None and before is not None:
        row = thread.loader.thread(thread.thread_id)
    batches = _batches(job, thread, early=before is None)
    thread.history = history = History.build(thread.thread_id, batches)
    if not len(history):
        raise RefError(f"There is no thread '{escape(cut(thread.thread_id, 80))}' in the source.")
    picture = make_picture(history)
    known = Known(history) if before is None else before.moved_to(history)
    known.take(note_page(thread, _at_head(picture)))
    job.post(IndexRead(thread, picture, known, row, job.ticket))
    if history.namespaces() != [ROOT]:
        nested = make_picture(history, thread.owners())
        job.post(IndexRead(thread, nested, known, row, job.ticket))
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
            job.post(IndexRead(begun, picture, Known(begun.history), None, job.ticket))
            early, first = False, []


def _at_head(picture: Picture) -> list[int]:
    """The checkpoints of the rows that end at the head."""
    layout, head = picture.layout, picture.history.head(picture.top)
    last = layout.entry(head)
    rows = range(max(last - _FIRST_PAGE, 0), min(last + _FIRST_PAGE, len(layout)))
    return [i for row in rows if (i := layout.checkpoint(row)) >= 0]
