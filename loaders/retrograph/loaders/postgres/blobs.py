"""What lies outside a checkpoint's body, and what of it decides steps.

A value of a primitive type lies in the body, any other in `checkpoint_blobs` under its channel
and version (`put` in langgraph-checkpoint-postgres). Which channels have a value is so known from
the keys of the body and the presence of blobs; the blobs themselves are read only of the channels
that steer. Of the Sends in `__pregel_tasks` only heads are read: their payloads may be the whole
state. Before format 4 Sends are not stored with the checkpoint but are its parent's writes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from retrograph.engine.model import Envelope, Typed, Version
from retrograph.engine.serde import Serde, send_node, value_node
from retrograph.loaders.postgres import queries
from retrograph.loaders.postgres.bodies import Body
from retrograph.loaders.postgres.layout import Layout
from retrograph.loaders.postgres.queries import Key, Place
from retrograph.loaders.postgres.sends import send_nodes
from retrograph.loaders.postgres.session import Reading

_HEAD: Final = 16 * 1024
"""Bytes of a list of Sends that are read at first."""
_SENDS_INSIDE: Final = 4
"""The format from which Sends are stored with the checkpoint that they are due at."""


class Blob(NamedTuple):
    """A value outside the body: that it is there, and what of it is needed."""

    channel: str
    value: tuple[Any, ...] = ()
    """Decoded, as the only element; of channels that steer."""
    sends: tuple[str, ...] = ()
    """Nodes, of the channel of Sends."""


class Blobs:
    """Completes bodies to envelopes. Remembers the blobs of the page before, since most values
    live on from one checkpoint to the next."""

    def __init__(self, reading: Reading, layout: Layout, serde: Serde) -> None:
        self._reading = reading
        self._layout = layout
        self._serde = serde
        self._found: dict[Place, Blob | None] = {}

    def envelopes(
        self, bodies: Sequence[tuple[str, str, Body]], channels: Collection[str] | None = None
    ) -> list[Envelope]:
        """Of (thread, namespace, body). `channels`: those that have blobs at all; not given,
        those are looked for that have no value in the body."""
        places = [list(_places(*given, channels)) for given in bodies]
        self._fetch({place for some in places for place in some})
        old = self._old_sends(bodies)
        return [
            self._envelope(*given, some, old) for given, some in zip(bodies, places, strict=True)
        ]

    def _fetch(self, places: set[Place]) -> None:
        kept = {place: self._found[place] for place in places & self._found.keys()}
        if missing := sorted(places - kept.keys()):
            kept.update(dict.fromkeys(missing))
            statement = queries.blob_heads(self._layout, missing, _HEAD)
            for *where, kind, value, size in self._reading.all(statement):
                if kind != "empty":
                    thread_id, ns, channel, version = where
                    place = (thread_id, ns, channel, version)
                    kept[place] = self._blob(place, kind, value, size or 0)
        self._found = kept

    def _blob(self, place: Place, kind: str, value: bytes | None, size: int) -> Blob:
        channel = place[2]
        if channel == queries.SENDS:
            return Blob(channel, sends=self._sends(place, kind, value or b"", size))
        if value is None:
            return Blob(channel)
        return Blob(channel, value=(self._serde.decode(Typed(kind, value)),))

    def _sends(self, place: Place, kind: str, head: bytes, size: int) -> tuple[str, ...]:
        def more(start: int, length: int) -> bytes:
            rows = self._reading.all(queries.blob_part(self._layout, place, start, length))
            return bytes(rows[0][-1]) if rows and rows[0][-1] else b""

        if len(head) < size:
            if kind == "msgpack":
                return send_nodes(head, more)
            head += more(len(head), size - len(head))
        value = self._serde.decode(Typed(kind, head))
        nodes = [value_node(send) for send in value] if isinstance(value, list) else []
        return tuple(node for node in nodes if node is not None)

    def _envelope(
        self,
        thread_id: str,
        ns: str,
        body: Body,
        places: Sequence[Place],
        old: Mapping[Key, tuple[str, ...]],
    ) -> Envelope:
        """The values in the body and those in blobs put together."""
        present: list[str] = []
        control: dict[str, Any] = {}
        sends: tuple[str, ...] = ()
        for place in places:
            blob = self._found[place]
            if blob is not None:
                present.append(blob.channel)
                sends = blob.sends or sends
                if blob.value:
                    control[blob.channel] = blob.value[0]
        if not sends and old and body.parent_id is not None and body.v < _SENDS_INSIDE:
            sends = old.get((thread_id, ns, body.parent_id), ())
        return body.envelope(ns, present, control, sends)

    def _old_sends(self, bodies: Iterable[tuple[str, str, Body]]) -> dict[Key, tuple[str, ...]]:
        """Nodes of the Sends that are due at children of a checkpoint, by its key."""
        parents = {
            (thread_id, ns, body.parent_id)
            for thread_id, ns, body in bodies
            if 0 < body.v < _SENDS_INSIDE and body.parent_id is not None
        }
        if not parents:
            return {}
        rows = self._reading.all(queries.pending_sends(self._layout, sorted(parents)))
        nodes: dict[Key, list[str]] = defaultdict(list)
        for thread_id, ns, id_, kind, head in rows:
            nodes[thread_id, ns, id_].append(send_node(kind, head) or "?")
        return {key: tuple(found) for key, found in nodes.items()}


def as_stored(version: Version) -> str:
    """A version as the text that stands beside the blob: LangGraph.js's are numbers."""
    return version if type(version) is str else str(version)


def _places(
    thread_id: str, ns: str, body: Body, channels: Collection[str] | None
) -> Iterator[Place]:
    """Where values of a checkpoint may lie. A DeltaChannel's snapshot is `true` in the body and
    lies here, too."""
    versions = body.versions
    for channel in versions.keys() - body.present if channels is None else channels:
        if channel in versions:
            yield thread_id, ns, channel, as_stored(versions[channel])
