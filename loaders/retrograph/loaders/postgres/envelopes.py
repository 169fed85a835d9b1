"""Checkpoints without their values: bodies from JSONB, and what of the blobs decides steps.

A value of a primitive type lies in the body, any other in `checkpoint_blobs` under its channel
and version (`put` in langgraph-checkpoint-postgres). Which channels have a value is so known from
the keys of the body and the presence of blobs; the blobs themselves are read only of the channels
that steer. Of the Sends in `__pregel_tasks` only heads are read: their payloads may be the whole
state. Before format 4 Sends are not stored with the checkpoint but are its parent's writes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from retrograph.engine.model import Envelope, Typed
from retrograph.engine.serde import Serde, send_node, value_node
from retrograph.loaders.postgres import queries
from retrograph.loaders.postgres.bodies import Body, parse
from retrograph.loaders.postgres.layout import Layout
from retrograph.loaders.postgres.sends import send_nodes
from retrograph.loaders.postgres.session import Reading

_ROWS: Final = 500
_BYTES: Final = 8 << 20
_HEAD: Final = 16 * 1024
"""Bytes of a list of Sends that are read at first."""
_SENDS_INSIDE: Final = 4
"""The format from which Sends are stored with the checkpoint that they are due at."""

Pair = tuple[str, str]
"""A channel and the version of its value."""


class Blob(NamedTuple):
    """A value outside the body: that it is there, and what of it is needed."""

    channel: str
    value: tuple[Any, ...] = ()
    """Decoded, as the only element; of channels that steer."""
    sends: tuple[str, ...] = ()


def read_envelopes(
    reading: Reading,
    layout: Layout,
    serde: Serde,
    thread_id: str,
    ns: str | None,
    ids: Sequence[str] | None,
) -> Iterator[list[Envelope]]:
    """In batches, ordered by namespace and id."""
    index = reading.all(queries.bodies_index(layout, thread_id, ns, ids))
    source: _Namespace | None = None
    for part_ns, part in _pages(index):
        if source is None or source.ns != part_ns:
            source = _Namespace(reading, layout, serde, thread_id, part_ns)
        yield source.read(part)
        reading.go_on()


def _pages(index: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, list[str]]]:
    """Ids of one namespace, some megabytes each."""
    page: list[str] = []
    page_ns, bytes_ = "", 0
    for ns, id_, size in index:
        if page and (ns != page_ns or len(page) == _ROWS or bytes_ + size > _BYTES):
            yield page_ns, page
            page, bytes_ = [], 0
        page_ns = ns
        page.append(id_)
        bytes_ += size
    if page:
        yield page_ns, page


class _Namespace:
    """Reads envelopes of one namespace; remembers the blobs of the page before, since most
    values live on from one checkpoint to the next."""

    def __init__(
        self, reading: Reading, layout: Layout, serde: Serde, thread_id: str, ns: str
    ) -> None:
        self._reading = reading
        self._layout = layout
        self._serde = serde
        self._thread_id = thread_id
        self.ns = ns
        self._channels: tuple[str, ...] | None = None
        self._blobs: dict[Pair, Blob | None] = {}

    def read(self, ids: Sequence[str]) -> list[Envelope]:
        where = (self._layout, self._thread_id, self.ns)
        statements = [queries.bodies(*where, ids)]
        if self._channels is None:
            statements.append(queries.blob_channels(*where))
        rows, *channels = self._reading.several(*statements)
        if self._channels is None:
            self._channels = tuple(row[0] for row in channels[0])
        by_id = {row[0]: row for row in rows}
        bodies = list(parse(self.ns, [by_id[i] for i in ids if i in by_id], self._serde))
        blobs = [list(self._pairs(body)) for body in bodies]
        self._fetch({pair for pairs in blobs for pair in pairs})
        old = self._old_sends(bodies)
        return [self._envelope(body, pairs, old) for body, pairs in zip(bodies, blobs, strict=True)]

    def _pairs(self, body: Body) -> Iterator[Pair]:
        """What may lie in the blobs. A DeltaChannel's snapshot is `true` in the body, too."""
        assert self._channels is not None
        versions = body.versions
        for channel in self._channels:
            if channel in versions:
                version = versions[channel]
                # As text, as it stands beside the blob: LangGraph.js's are numbers.
                yield channel, version if type(version) is str else str(version)

    def _fetch(self, pairs: set[Pair]) -> None:
        kept = {pair: self._blobs[pair] for pair in pairs & self._blobs.keys()}
        if missing := sorted(pairs - kept.keys()):
            found = self._reading.all(
                queries.blob_heads(self._layout, self._thread_id, self.ns, missing, _HEAD)
            )
            kept.update(dict.fromkeys(missing))
            for channel, version, kind, value, size in found:
                if kind != "empty":
                    kept[channel, version] = self._blob((channel, version), kind, value, size)
        self._blobs = kept

    def _blob(self, pair: Pair, kind: str, value: bytes | None, size: int | None) -> Blob:
        if pair[0] == queries.SENDS:
            return Blob(pair[0], sends=self._sends(pair, kind, value or b"", size or 0))
        if value is None:
            return Blob(pair[0])
        return Blob(pair[0], value=(self._serde.decode(Typed(kind, value)),))

    def _envelope(
        self, body: Body, pairs: Sequence[Pair], old: Mapping[str, tuple[str, ...]]
    ) -> Envelope:
        """The values in the body and those in blobs put together."""
        present: list[str] = []
        control: dict[str, Any] = {}
        sends: tuple[str, ...] = ()
        for pair in pairs:
            blob = self._blobs[pair]
            if blob is not None:
                present.append(blob.channel)
                sends = blob.sends or sends
                if blob.value:
                    control[blob.channel] = blob.value[0]
        if not sends and old and body.parent_id is not None and body.v < _SENDS_INSIDE:
            sends = old.get(body.parent_id, ())
        return body.envelope(self.ns, present, control, sends)

    def _sends(self, pair: Pair, kind: str, head: bytes, size: int) -> tuple[str, ...]:
        def more(start: int, length: int) -> bytes:
            statement = queries.blob_part(
                self._layout, self._thread_id, self.ns, pair, start, length
            )
            rows = self._reading.all(statement)
            return bytes(rows[0][0]) if rows and rows[0][0] else b""

        if len(head) < size:
            if kind == "msgpack":
                return send_nodes(head, more)
            head += more(len(head), size - len(head))
        value = self._serde.decode(Typed(kind, head))
        nodes = [value_node(send) for send in value] if isinstance(value, list) else []
        return tuple(node for node in nodes if node is not None)

    def _old_sends(self, bodies: Sequence[Body]) -> dict[str, tuple[str, ...]]:
        """Nodes of the Sends that are due at children of a checkpoint, by its id."""
        parents = {
            body.parent_id
            for body in bodies
            if 0 < body.v < _SENDS_INSIDE and body.parent_id is not None
        }
        if not parents:
            return {}
        rows = self._reading.all(
            queries.pending_sends(self._layout, self._thread_id, self.ns, sorted(parents))
        )
        nodes: dict[str, list[str]] = defaultdict(list)
        for checkpoint_id, kind, head in rows:
            nodes[checkpoint_id].append(send_node(kind, head) or "?")
        return {checkpoint_id: tuple(found) for checkpoint_id, found in nodes.items()}
