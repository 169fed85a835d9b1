"""The part of a source that a sandbox goes on from: what led to the checkpoint it began at."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from retrograph.engine.errors import RefError
from retrograph.engine.model import (
    CheckpointKey,
    Envelope,
    IndexRow,
    Loader,
    RawCheckpoint,
    ReadsBodies,
    WriteRow,
)
from retrograph.engine.sandbox.body import version_text
from retrograph.engine.sandbox.closure import levels_of
from retrograph.engine.sandbox.file import Origin
from retrograph.engine.sandbox.full import ancestors_of
from retrograph.engine.thread import Thread


class SourceLine:
    """Reads the checkpoints before the one that a sandbox was made from, and no others."""

    def __init__(self, source: Loader, origin: Origin) -> None:
        """Raises `RefError` or `SourceError` where the source has that checkpoint no more."""
        self.source = source
        self._thread_id = origin.thread_id
        if source.thread(origin.thread_id) is None:
            raise RefError(f"It has no thread {origin.thread_id!r} any more.")
        thread = Thread(source, origin.thread_id)
        levels = levels_of(thread, origin.ns, origin.checkpoint_id)
        self.ids: Mapping[str, list[str]] = dict(ancestors_of(thread, levels))
        """By namespace, in order."""

    @cached_property
    def _known(self) -> Mapping[str, frozenset[str]]:
        return {ns: frozenset(ids) for ns, ids in self.ids.items()}

    def has(self, ns: str, checkpoint_id: str) -> bool:
        return checkpoint_id in self._known.get(ns, ())

    def chosen(self, ns: str, ids: Collection[str] | None) -> list[str]:
        """Those of `ids` that are of the line; `None`: all."""
        return [id_ for id_ in self.ids.get(ns, ()) if ids is None or id_ in ids]

    def rows(self, ns: str, ids: Sequence[str]) -> Iterator[IndexRow]:
        wanted = set(ids)
        for batch in self.source.rows(self._thread_id, ns):
            yield from (row for row in batch if row[1] in wanted)

    def writes(self, ns: str, ids: Sequence[str]) -> Iterator[WriteRow]:
        for batch in self.source.writes(self._thread_id, ns, ids):
            yield from batch

    def envelopes(self, ns: str, ids: Sequence[str]) -> Iterator[Envelope]:
        for batch in self.source.envelopes(self._thread_id, ns, ids):
            for envelope in batch:
                yield _as_text(envelope)

    def bodies(self, ns: str, ids: Sequence[str]) -> Iterator[RawCheckpoint]:
        if isinstance(self.source, ReadsBodies):
            for batch in self.source.bodies(self._thread_id, ns, ids):
                yield from batch
        else:
            yield from (self.source.read(CheckpointKey(self._thread_id, ns, i)) for i in ids)


def _as_text(envelope: Envelope) -> Envelope:
    """With versions as the sandbox has them, so that both can be compared."""
    if all(type(version) is str for version in envelope.versions.values()):
        return envelope
    return replace(
        envelope,
        versions={c: version_text(v) for c, v in envelope.versions.items()},
        seen={
            node: {c: version_text(v) for c, v in seen.items()}
            for node, seen in envelope.seen.items()
        },
    )
