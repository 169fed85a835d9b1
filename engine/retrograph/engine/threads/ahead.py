"""Small namespaces read many at a time.

Every call of a sub-graph has a namespace of its own, so that a long thread may have thousands of
a few checkpoints each. Reading them one by one would cost several readings apiece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from retrograph.engine.model import CheckpointKey, Detail, Envelope, Loader, ReadsHeads, WriteRow
from retrograph.engine.thread import Thread

_TOGETHER = 200
_BYTES = 4 << 20
"""Checkpoints, and their stored bytes, that are read together."""


def read_ahead(thread: Thread, namespaces: Iterable[str]) -> Iterator[tuple[Thread, str]]:
    """Each of the namespaces, in order, with the thread to read it from: the same one, or one
    that has read it already, for as long as no other is asked for."""
    group: list[str] = []
    checkpoints = size = 0
    for ns in namespaces:
        span = thread.history.span(ns)
        more = sum(thread.history.size(i) or 0 for i in span)
        checkpoints, size = checkpoints + len(span), size + more
        if checkpoints > _TOGETHER or size > _BYTES:
            yield from _together(thread, group)
            group, checkpoints, size = [], len(span), more
        group.append(ns)
    yield from _together(thread, group)


def _together(thread: Thread, group: Sequence[str]) -> Iterator[tuple[Thread, str]]:
    loader = thread.loader
    if len(group) > 1 and isinstance(loader, ReadsHeads):
        history = thread.history
        keys = [
            CheckpointKey(thread.thread_id, ns, history.ids[i])
            for ns in group
            for i in history.span(ns)
        ]
        known = Thread(cast(Loader, _Known(loader, loader.heads(keys))), thread.thread_id)
        known.serde = thread.serde
        known.history, known.namespace_owners = history, thread.namespace_owners
        thread = known
    for ns in group:
        yield thread, ns


class _Known:
    """A loader that has some checkpoints at hand, with their writes; it asks for all else."""

    def __init__(
        self,
        loader: Loader,
        heads: Mapping[CheckpointKey, tuple[Envelope, Sequence[WriteRow]]],
    ) -> None:
        self._loader = loader
        self._by_ns: dict[str, dict[str, tuple[Envelope, Sequence[WriteRow]]]] = {}
        for key in sorted(heads):
            self._by_ns.setdefault(key.ns, {})[key.id] = heads[key]

    def envelopes(
        self, thread_id: str, ns: str, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[Envelope]]:
        yield [envelope for envelope, _ in self._some(ns, ids)]

    def writes(
        self, thread_id: str, ns: str, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[WriteRow]]:
        yield [row for _, rows in self._some(ns, ids) for row in rows]

    def details(self, keys: Sequence[CheckpointKey]) -> list[Detail]:
        known = ((key, self._by_ns.get(key.ns, {}).get(key.id)) for key in keys)
        return [Detail(key, head[0].metadata) for key, head in known if head is not None]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def _some(
        self, ns: str, ids: Sequence[str] | None
    ) -> Iterator[tuple[Envelope, Sequence[WriteRow]]]:
        known = self._by_ns.get(ns, {})
        for id_ in known if ids is None else sorted(set(ids)):
            if id_ in known:
                yield known[id_]
