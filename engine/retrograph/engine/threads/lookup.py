"""What references are looked up in: the threads of an opened source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import islice

from retrograph.engine.history import History
from retrograph.engine.model import CheckpointKey, Loader, ThreadQuery
from retrograph.engine.thread import Thread

_ASKED = 500
"""So many of the newest threads are looked at for one that may have been meant."""


class LoaderIndex:
    """`refs.Index` over a loader. Threads are read once and kept."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self._threads: dict[str, Thread] = {}
        self._known: dict[str, bool] = {}

    def has(self, thread_id: str) -> bool:
        if thread_id not in self._known:
            self._known[thread_id] = self.loader.thread(thread_id) is not None
        return self._known[thread_id]

    def thread(self, thread_id: str) -> Thread:
        if thread_id not in self._threads:
            self._threads[thread_id] = Thread(self.loader, thread_id)
        return self._threads[thread_id]

    def history(self, thread_id: str) -> History:
        return self.thread(thread_id).history

    def steps(self, thread_id: str, some: Sequence[int]) -> Mapping[int, int | None]:
        history = self.history(thread_id)
        found = {i: history.step(i) for i in some}
        keys = [CheckpointKey(thread_id, history.ns(i), history.ids[i]) for i in some]
        for detail in self.loader.details(keys):
            step = detail.metadata.get("step")
            if isinstance(step, int) and not isinstance(step, bool):
                found[history.find(detail.key.ns, detail.key.id)] = step
        return found

    def alike(self, thread_id: str) -> Sequence[str]:
        if not thread_id:
            return ()
        newest = [
            row.thread_id for row in islice(self.loader.threads(ThreadQuery(limit=_ASKED)), _ASKED)
        ]
        spelt = thread_id.replace("-", "").lower()
        same = [known for known in newest if known.replace("-", "").lower() == spelt]
        begins = [known for known in newest if known.startswith(thread_id)]
        near = get_close_matches(thread_id[:200], newest, n=3)
        return list(dict.fromkeys([*same, *near, *begins]))[:3]
