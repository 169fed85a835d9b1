"""Long readings of a thread's steps: all of them, or onward until something is met."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from retrograph.engine.history import NONE
from retrograph.engine.thread import Thread
from retrograph.tui.messages import NotesRead, PlaceFound, WorkEnded
from retrograph.tui.reading.known import Known, Note
from retrograph.tui.reading.notes import note_all, note_page
from retrograph.tui.reading.picture import Picture
from retrograph.tui.work import Job

_CHUNK = 400
"""Rows read at once on the way to something."""


def scan_all(job: Job, thread: Thread, known: Known) -> WorkEnded:
    """Read every step of a thread, in chunks."""
    total = len(thread.history)
    done = 0
    for notes in note_all(thread, chunk=1_000):
        done += len(notes)
        job.post(NotesRead(known, notes, job.ticket))
        job.grew(done, total)
    return WorkEnded(job.group, stopped=False)


def scan_to(
    job: Job,
    thread: Thread,
    picture: Picture,
    known: Known,
    start: int,
    way: Literal[1, -1],
    wanted: Callable[[Note], bool],
) -> PlaceFound:
    """Read from an entry on, downward (1) or upward (−1), until a note is wanted."""
    layout = picture.layout
    end = len(layout) if way > 0 else -1
    total = abs(end - start)
    entry = start + way
    while entry != end:
        stop = min(entry + _CHUNK, end) if way > 0 else max(entry - _CHUNK, end)
        stretch = range(entry, stop, way)
        checkpoints = [i for e in stretch if (i := layout.checkpoint(e)) != NONE]
        unread = [i for i in checkpoints if not known.has(i)]
        read = {noted.checkpoint: noted for noted in note_page(thread, unread)} if unread else {}
        if read:
            job.post(NotesRead(known, list(read.values()), job.ticket))
        for i in checkpoints:
            note = read[i].note if i in read else known.note(i)
            if note is not None and wanted(note):
                return PlaceFound(layout.entry(i), job.ticket)
        entry = stop
        job.grew(abs(entry - start), total)
    return PlaceFound(NONE, job.ticket)
