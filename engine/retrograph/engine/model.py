"""What loaders yield and the engine works on: plain, frozen data, and nothing that does I/O.

Loaders give an index first (`IndexRow`, `WriteRow`: bare tuples, since an object a row costs two
to four times the query), then what decides steps (`Envelope`: a checkpoint without its values),
and the whole of one checkpoint on demand (`RawCheckpoint`: everything, still encoded).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

Version: TypeAlias = "str | int | float"
"""A channel version: a string in Python stores, an int in JS, MongoDB and early ones."""

ROOT = ""
"""The namespace of the root graph."""

NULL_TASK = "00000000-0000-0000-0000-000000000000"
"""The task id of writes that no task made: input, `Command` and answers."""


class CheckpointKey(NamedTuple):
    """The full address of a checkpoint in a source."""

    thread_id: str
    ns: str
    id: str


class Typed(NamedTuple):
    """A stored value, still encoded: LangGraph's type tag and the bytes."""

    type: str | None
    data: bytes


class IndexRow(NamedTuple):
    """A checkpoint in the index, as far as a listing needs it. Loaders may yield bare tuples."""

    ns: str
    id: str
    parent_id: str | None
    size: int | None
    """Stored bytes, `None` where the backend cannot say cheaply."""


class WriteRow(NamedTuple):
    """One stored write without its value. Loaders may yield bare tuples of this shape."""

    ns: str
    checkpoint_id: str
    task_id: str
    task_path: str
    """"" where the store is too old to have it."""
    idx: int
    channel: str
    type: str | None
    head: bytes | None
    """`__pregel_tasks`: the first 256 bytes (a Send's node stands there). `__interrupt__`,
    `__error__`, `__resume__` and `__error_source_node__`: the whole value. Others: `None`."""
    size: int | None


class Send(NamedTuple):
    """A pending Send, by its node; its payload is left out."""

    node: str


@dataclass(frozen=True, slots=True)
class Envelope:
    """A checkpoint without its values: what decides which nodes are due, and what came before."""

    ns: str
    id: str
    parent_id: str | None
    v: int
    """The format of the checkpoint, 1 … 4; 0 where it could not be read (`unreadable` says why)."""
    versions: Mapping[str, Version]
    seen: Mapping[str, Mapping[str, Version]]
    updated: Sequence[str] | None
    """`updated_channels`; `None` where the version of LangGraph did not store it."""
    present: frozenset[str]
    """Names of the channels that have a stored value here."""
    control: Mapping[str, Any]
    """Decoded values of the channels that only LangGraph reads: `branch:*`, `join:*`, `start:*`.
    Inert values (sets as `values.SetValue` or lists; tests for membership only)."""
    sends: tuple[str, ...]
    """Nodes of the Sends due here, in order: `__pregel_tasks`, or `pending_sends` for v < 4."""
    metadata: Mapping[str, Any]
    """Decoded metadata (inert); `{}` where there is none."""
    unreadable: str | None = None
    """Why this checkpoint's body cannot be read: "encrypted (aes)", "truncated", …"""

    @property
    def source(self) -> str | None:
        value = self.metadata.get("source")
        return value if isinstance(value, str) else None

    @property
    def step(self) -> int | None:
        value = self.metadata.get("step")
        return value if isinstance(value, int) and not isinstance(value, bool) else None


@dataclass(frozen=True, slots=True)
class RawWrite:
    """One stored write with its value, still encoded."""

    task_id: str
    task_path: str
    idx: int
    channel: str
    value: Typed


@dataclass(frozen=True, slots=True)
class RawCheckpoint:
    """Everything that is stored for one checkpoint, byte for byte."""

    key: CheckpointKey
    parent_id: str | None
    checkpoint: Typed
    """The map with v, ts, id, channel_values, channel_versions, versions_seen, …"""
    metadata: Typed
    blobs: Mapping[str, Typed] = field(default_factory=dict)
    """Channel values that the backend stores outside the map (Postgres, MySQL)."""
    writes: tuple[RawWrite, ...] = ()
    """Sorted as LangGraph applies them: task path, task id, idx."""


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread as the index knows it, without reading a checkpoint."""

    thread_id: str
    checkpoints: int
    """Of all namespaces."""
    namespaces: int
    first_id: str
    last_id: str
    """The smallest and the greatest checkpoint id of all namespaces."""
    head: str
    """Newest checkpoint of the root namespace (of any, where the root has none)."""
    head_ns: str
    size: int | None = None


@dataclass(frozen=True, slots=True)
class ThreadQuery:
    """Which threads a listing wants, newest activity first."""

    limit: int | None = 50
    offset: int = 0
    search: str | None = None
    """Text that the thread id must contain (case is ignored)."""
    since_id: str | None = None
    """A checkpoint id: only threads whose newest id is not smaller."""
    prefix: str | None = None
    """Text that the thread id must begin with (completion)."""
    sizes: bool = False


class Detail(NamedTuple):
    """The metadata of one checkpoint, fetched a screen page at a time."""

    key: CheckpointKey
    metadata: Mapping[str, Any]


class Loader(Protocol):
    """One opened source. Synchronous; each call opens and ends its own read. Any thread may call.

    Every method raises `SourceError` when the source cannot be read at all; a row that cannot
    be decoded never ends a listing (an `Envelope` says so in `unreadable`).
    """

    name: str
    """The backend and its generation: "SQLite", "SQLite (2024 layout)", "Postgres 15"."""
    location: str
    """Where it is, for display; holds no secrets."""
    read_only: bool
    warnings: list[str]
    """One sentence for each thing that could not be read, as far as it was met. Only grows."""

    def threads(self, query: ThreadQuery) -> Iterator[ThreadRow]: ...

    def thread(self, thread_id: str) -> ThreadRow | None:
        """One thread by its exact id, without listing any other."""
        ...

    def rows(self, thread_id: str, ns: str | None = None) -> Iterator[Sequence[IndexRow]]:
        """The index in batches, ordered by namespace and id. `ns` limits it to one namespace."""
        ...

    def writes(
        self, thread_id: str, ns: str | None = None, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[WriteRow]]:
        """Writes without their values, in batches, ordered by namespace, checkpoint id, then as
        LangGraph applies them (task path, task id, idx). `ids` limits it to checkpoints."""
        ...

    def envelopes(
        self, thread_id: str, ns: str | None = None, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[Envelope]]:
        """Checkpoints without their values, ordered by namespace and id."""
        ...

    def details(self, keys: Sequence[CheckpointKey]) -> list[Detail]: ...

    def read(self, key: CheckpointKey) -> RawCheckpoint:
        """Everything of one checkpoint. Raises `RefError` when it is not there."""
        ...

    def read_writes(
        self, thread_id: str, ns: str, ids: Sequence[str], channels: Sequence[str] | None = None
    ) -> Mapping[str, tuple[RawWrite, ...]]:
        """Whole writes of some checkpoints, by checkpoint id, sorted as LangGraph applies them."""
        ...

    def changed(self) -> bool:
        """Whether somebody has written since the last call: cheap, for following."""
        ...

    def interrupt(self) -> None:
        """Stop the readings that are under way, from any thread: they raise `Cancelled`, at once
        or at their next batch. Later calls are not affected."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class ReadsHeads(Protocol):
    """What a loader may have besides: a thread list reads fifty heads, of which each would cost
    several readings by itself."""

    def heads(
        self, keys: Sequence[CheckpointKey]
    ) -> Mapping[CheckpointKey, tuple[Envelope, Sequence[WriteRow]]]:
        """Checkpoints of many threads, each with its writes as LangGraph applies them; those
        that are not there are left out."""
        ...


@runtime_checkable
class ReadsBodies(Protocol):
    """What a loader may have besides: a search reads every checkpoint of a thread, of which each
    would cost several statements by itself."""

    def bodies(
        self, thread_id: str, ns: str, ids: Sequence[str] | None = None
    ) -> Iterator[Sequence[RawCheckpoint]]:
        """Checkpoints of one namespace without their writes, ordered by id, some megabytes a
        batch. Of values that are stored outside the map, `blobs` may leave out those whose
        version an earlier checkpoint of this reading had."""
        ...


@runtime_checkable
class ReadsSizes(Protocol):
    """What a loader may have besides, where the index tells no sizes: values stored outside the
    checkpoints' maps."""

    def sizes(self, thread_id: str, ns: str) -> Mapping[str, int]:
        """Bytes of each checkpoint of one namespace by id, the values outside the map included."""
        ...


@runtime_checkable
class ReadsNewest(Protocol):
    """What a loader may have besides: who follows a long thread would read all of its index again
    at every change."""

    def newer(self, thread_id: str, than: str, limit: int) -> list[IndexRow]:
        """Checkpoints of all namespaces with a greater id, ordered by namespace and id, `limit`
        of them at most."""
        ...
