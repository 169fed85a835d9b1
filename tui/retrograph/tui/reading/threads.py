"""Reads the list of threads piece by piece, as far as it is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from retrograph.engine.model import Loader, ThreadQuery
from retrograph.engine.threads.listing import ThreadFilter, find_threads
from retrograph.engine.threads.status import ThreadInfo
from retrograph.engine.views.redact import Redactor
from retrograph.engine.views.shown import shown_info
from retrograph.tui.messages import ThreadSized, ThreadsRead
from retrograph.tui.work import Job


class ThreadPages:
    """One listing, read on from where it was; only one job at a time may read it."""

    def __init__(self, loader: Loader, wanted: ThreadFilter, redactor: Redactor) -> None:
        self._job: Job | None = None
        self._redactor = redactor
        self._found: Iterator[ThreadInfo] = find_threads(loader, wanted, None, self._looked_at)

    def _looked_at(self, count: int) -> None:
        if self._job is not None and count % 100 == 0:
            self._job.grew(count, None)

    def more(self, job: Job, count: int) -> ThreadsRead:
        """The next threads, so many at most."""
        self._job = job
        found = [shown_info(info, self._redactor) for info in islice(self._found, count)]
        return ThreadsRead(found, len(found) < count, job.ticket)


def size_of(loader: Loader, thread_id: str) -> ThreadSized:
    """What one thread takes, which a listing leaves out for its cost."""
    alike = loader.threads(ThreadQuery(limit=None, prefix=thread_id, sizes=True))
    row = next((row for row in alike if row.thread_id == thread_id), None)
    return ThreadSized(thread_id, None if row is None else row.size)
