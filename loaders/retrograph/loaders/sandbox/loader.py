"""The sandbox loader: a sandbox's own rows, with the source's line before them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar

from retrograph.engine.errors import Cancelled, RetrographError
from retrograph.engine.model import (
    CheckpointKey,
    Detail,
    Envelope,
    IndexRow,
    Loader,
    RawCheckpoint,
    RawWrite,
    ThreadQuery,
    ThreadRow,
    WriteRow,
)
from retrograph.engine.sandbox.file import TABLE, sandbox_of
from retrograph.loaders.sandbox.line import SourceLine
from retrograph.loaders.sqlite import SQLiteLoader

_BATCH: Final = 500

R = TypeVar("R")


class SandboxLoader:
    """A sandbox. Its source is opened when something of it is wanted, not before; where that
    cannot be done `warnings` says so, and the sandbox's own checkpoints are shown."""

    name: str
    location: str
    warnings: list[str]
    read_only = True

    def __init__(
        self,
        path: Path,
        own: SQLiteLoader,
        open_source: Callable[[str], Loader],
        source: str | None = None,
    ) -> None:
        """`own`: the file, opened; `source`: where it is from, when that has moved or needs
        credentials. Raises `SourceError` where the file is no sandbox."""
        self._own = own
        try:
            self.sandbox = sandbox_of(path, own.pairs(TABLE))
        except BaseException:
            own.close()
            raise
        self.source = source or self.sandbox.origin.source
        self._open_source = open_source
        self._opened: Loader | None = None
        self._line: SourceLine | None = None
        self._tried = False
        self._epoch = 0
        self._lock = threading.Lock()
        self.warnings = own.warnings
        self.name = f"Sandbox {self.sandbox.id}"
        self.location = self._own.location

    def threads(self, query: ThreadQuery) -> Iterator[ThreadRow]:
        return map(self._whole, self._own.threads(query))

    def thread(self, thread_id: str) -> ThreadRow | None:
        row = self._own.thread(thread_id)
        return None if row is None else self._whole(row)

    def _whole(self, row: ThreadRow) -> ThreadRow:
        """A thread of the sandbox, counted with what it goes on from."""
        line = self._joined(row.thread_id)
        if line is None:
            return row
        every = {(r[0], r[1]) for batch in self._own.rows(row.thread_id) for r in batch}
        every.update((ns, id_) for ns, ids in line.ids.items() for id_ in ids)
        return replace(
            row,
            checkpoints=len(every),
            namespaces=len({ns for ns, _ in every}),
            first_id=min(id_ for _, id_ in every),
        )

    def heads(
        self, keys: Sequence[CheckpointKey]
    ) -> Mapping[CheckpointKey, tuple[Envelope, Sequence[WriteRow]]]:
        return self._own.heads(keys)

    def rows(self, thread_id: str, ns: str | None = None) -> Iterator[Sequence[IndexRow]]:
        line = self._joined(thread_id)
        if line is None:
            return self._own.rows(thread_id, ns)
        return self._merged(
            thread_id,
            ns,
            None,
            lambda name, _: self._own.rows(thread_id, name),
            line.rows,
            lambda row: row[1],
        )

    def writes(
        self, thread_id: str, ns: str | None = None, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[WriteRow]]:
        line = self._joined(thread_id)
        if line is None:
            return self._own.writes(thread_id, ns, ids)
        return self._merged(
            thread_id,
            ns,
            ids,
            lambda name, some: self._own.writes(thread_id, name, some),
            line.writes,
            lambda row: row[1],
        )

    def envelopes(
        self, thread_id: str, ns: str | None = None, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[Envelope]]:
        line = self._joined(thread_id)
        if line is None:
            return self._own.envelopes(thread_id, ns, ids)
        return self._merged(
            thread_id,
            ns,
            ids,
            lambda name, some: self._own.envelopes(thread_id, name, some),
            line.envelopes,
            lambda envelope: envelope.id,
        )

    def bodies(
        self, thread_id: str, ns: str, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[RawCheckpoint]]:
        line = self._joined(thread_id)
        if line is None:
            return self._own.bodies(thread_id, ns, ids)
        return self._merged(
            thread_id,
            ns,
            ids,
            lambda name, some: self._own.bodies(thread_id, name, some),
            line.bodies,
            lambda raw: raw.key.id,
        )

    def details(self, keys: Sequence[CheckpointKey]) -> list[Detail]:
        mine, theirs = self._shared(keys)
        found = {detail.key: detail for detail in self._own.details(mine)}
        if theirs and self._line is not None:
            found |= {detail.key: detail for detail in self._line.source.details(theirs)}
            self._note()
        return [found[key] for key in keys if key in found]

    def read(self, key: CheckpointKey) -> RawCheckpoint:
        line = self._joined(key.thread_id)
        if line is not None and line.has(key.ns, key.id):
            found = line.source.read(key)
            self._note()
            return found
        return self._own.read(key)

    def read_writes(
        self, thread_id: str, ns: str, ids: Sequence[str], channels: Sequence[str] | None = None
    ) -> Mapping[str, tuple[RawWrite, ...]]:
        mine, theirs = self._shared([CheckpointKey(thread_id, ns, id_) for id_ in ids])
        found = dict(self._own.read_writes(thread_id, ns, [key.id for key in mine], channels))
        if theirs and self._line is not None:
            other = [key.id for key in theirs]
            found |= self._line.source.read_writes(thread_id, ns, other, channels)
            self._note()
        return found

    def changed(self) -> bool:
        return self._own.changed()

    def interrupt(self) -> None:
        self._epoch += 1
        self._own.interrupt()
        if self._opened is not None:
            self._opened.interrupt()

    def close(self) -> None:
        self._own.close()
        if self._opened is not None:
            self._opened.close()

    def _joined(self, thread_id: str) -> SourceLine | None:
        """The source's line, where the thread has one and the source opens."""
        if thread_id != self.sandbox.origin.thread_id:
            return None
        with self._lock:
            if not self._tried:
                try:
                    self._opened = self._open_source(self.source)
                    self._line = SourceLine(self._opened, self.sandbox.origin)
                except Cancelled:
                    raise
                except RetrographError as error:
                    self.warnings.append(
                        f"Only the sandbox's own checkpoints are shown, since its source "
                        f"{self.source} cannot be joined: {error}"
                    )
                self._tried = True
            return self._line

    def _note(self) -> None:
        """Take over what the source could not read."""
        theirs = self._opened.warnings if self._opened is not None else []
        self.warnings += [text for text in theirs if text not in self.warnings]

    def _shared(
        self, keys: Sequence[CheckpointKey]
    ) -> tuple[list[CheckpointKey], list[CheckpointKey]]:
        """Which are the sandbox's own, and which the source's."""
        mine: list[CheckpointKey] = []
        theirs: list[CheckpointKey] = []
        for key in keys:
            line = self._joined(key.thread_id)
            (theirs if line is not None and line.has(key.ns, key.id) else mine).append(key)
        return mine, theirs

    def _merged(
        self,
        thread_id: str,
        ns: str | None,
        ids: Sequence[str] | None,
        own: Callable[[str, Sequence[str] | None], Iterator[Sequence[R]]],
        other: Callable[[str, Sequence[str]], Iterator[R]],
        key: Callable[[R], Any],
    ) -> Iterator[Sequence[R]]:
        """Both, in order. What stands in for ancestors gives way to the ancestors."""
        line, epoch = self._line, self._epoch
        assert line is not None
        for name in [ns] if ns is not None else self._namespaces(thread_id, line):
            theirs = line.chosen(name, None if ids is None else set(ids))
            some = None if ids is None else [i for i in ids if not line.has(name, i)]
            batches = iter(()) if some == [] else own(name, some)
            mine = (
                item
                for batch in batches
                for item in batch
                if some is not None or not line.has(name, key(item))
            )
            both = merge(mine, other(name, theirs) if theirs else (), key=key)
            while batch := list(islice(both, _BATCH)):
                yield batch
                if epoch != self._epoch:
                    raise Cancelled(f"Reading {self.location} was stopped.")
        self._note()

    def _namespaces(self, thread_id: str, line: SourceLine) -> list[str]:
        found = {row[0] for batch in self._own.rows(thread_id) for row in batch}
        return sorted(found.union(line.ids))
