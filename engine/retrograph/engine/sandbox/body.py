"""A stored checkpoint as the one msgpack map that SqliteSaver keeps, its values byte for byte.

Most checkpoints are copied as they are. Where something must differ (values that lie outside the
map, versions that are numbers, a join that was saved too early) only that part is written anew:
all others are slices of the stored bytes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from retrograph.engine.errors import DecodeError, SourceError
from retrograph.engine.model import CheckpointKey, Envelope, RawCheckpoint, Typed, Version
from retrograph.engine.serde import Serde, wire
from retrograph.engine.serde.codec import sniff
from retrograph.engine.serde.packing import pack, pack_list, pack_map
from retrograph.engine.serde.peek import short_text
from retrograph.engine.steps.due import names_in
from retrograph.engine.values import ABSENT, Pickle, SetValue, Unreadable, to_json

VALUES: Final = "channel_values"
SENDS: Final = "pending_sends"
_VERSIONS: Final = "channel_versions"
_SEEN: Final = "versions_seen"
_NIL: Final = b"\xc0"


class Body:
    """The map's entries and, apart from them, the channel values, all packed."""

    def __init__(self, entries: dict[str, bytes], values: dict[str, bytes]) -> None:
        self.entries = entries
        self.values = values

    @classmethod
    def read(cls, raw: RawCheckpoint, serde: Serde) -> Body:
        """Raises `SourceError` where something in it cannot be copied, with its name."""
        opened = _opened(raw.checkpoint, serde, raw.key, "it")
        found = _sliced(opened.data) if opened.type == "msgpack" else None
        body = found or cls._decoded(raw.key, opened, serde)
        for channel, blob in raw.blobs.items():
            packed = packed_value(blob, serde, raw.key, f"its channel '{channel}'")
            if packed is None:
                body.values.pop(channel, None)
            else:
                body.values[channel] = packed
        return body

    @classmethod
    def _decoded(cls, key: CheckpointKey, typed: Typed, serde: Serde) -> Body:
        value = serde.decode(typed)
        if not isinstance(value, dict) or not isinstance(value.get(VALUES), dict):
            why = value.why if isinstance(value, Unreadable) else "it is not a checkpoint"
            raise SourceError(f"Checkpoint {key.id} cannot be copied: {why}.")
        try:
            return cls(
                {k: pack(v) for k, v in value.items() if k != VALUES},
                {k: pack(v) for k, v in value[VALUES].items() if v is not ABSENT},
            )
        except DecodeError as error:
            raise SourceError(f"Checkpoint {key.id} cannot be copied. {error}") from error

    def packed(self) -> Typed:
        return Typed("msgpack", pack_map({**self.entries, VALUES: pack_map(self.values)}))

    def renumber(self, envelope: Envelope) -> None:
        """Versions that are numbers, as MongoDB, DynamoDB and JS have them, become text: today's
        savers compare the next version, which is text, with them."""
        self.entries[_VERSIONS] = pack(_as_text(envelope.versions))
        self.entries[_SEEN] = pack({node: _as_text(seen) for node, seen in envelope.seen.items()})


def _sliced(data: bytes) -> Body | None:
    parts = map_slices(data)
    if parts is None or VALUES not in parts:
        return None
    values = map_slices(parts.pop(VALUES))
    return None if values is None else Body(parts, values)


def map_slices(data: bytes) -> dict[str, bytes] | None:
    """The values of a msgpack map, each as its bytes; `None` where it is no map with short texts
    as keys, or is broken."""
    opened = wire.container(data, 0)
    if opened is None or not opened[0]:
        return None
    _, count, at = opened
    found: dict[str, bytes] = {}
    try:
        for _ in range(count):
            name, begin = short_text(data, at)
            end = wire.end_of(data, begin)
            if end is None:
                return None
            found[name] = data[begin:end]
            at = end
    except (IndexError, ValueError):
        return None
    return found


def _opened(typed: Typed, serde: Serde, key: CheckpointKey, what: str) -> Typed:
    """The value decrypted, and its type told. Raises `SourceError`."""
    opened = serde.open(typed)
    if isinstance(opened, Unreadable):
        raise SourceError(f"Checkpoint {key.id} cannot be copied: {what} is {opened.why}.")
    kind = sniff(opened.data) if opened.type is None else opened.type
    if kind == "pickle":
        raise SourceError(
            f"Checkpoint {key.id} cannot be copied: {what} is a pickle, which is never loaded."
        )
    return Typed(kind, opened.data)


def packed_value(typed: Typed, serde: Serde, key: CheckpointKey, what: str) -> bytes | None:
    """A value as a part of a map; `None` for an empty channel. Raises `SourceError`."""
    opened = _opened(typed, serde, key, what)
    if opened.type == "msgpack":
        return opened.data
    if opened.type == "null":
        return _NIL
    value = serde.decode(opened)
    if value is ABSENT:
        return None
    if isinstance(value, (Unreadable, Pickle)):
        why = value.why if isinstance(value, Unreadable) else "a pickle"
        raise SourceError(f"Checkpoint {key.id} cannot be copied: {what} is {why}.")
    try:
        return pack(value)
    except DecodeError as error:
        raise SourceError(f"Checkpoint {key.id} cannot be copied: {what}: {error}") from error


def plain_write(typed: Typed, serde: Serde, key: CheckpointKey, channel: str) -> Typed:
    """A write's value as the host can load it: decrypted, its type told. Raises `SourceError`."""
    return _opened(typed, serde, key, f"a write to '{channel}'")


def copied(
    raw: RawCheckpoint,
    envelope: Envelope,
    serde: Serde,
    joins: Mapping[str, Collection[str]],
    sends: Sequence[Typed] | None = None,
) -> Typed:
    """The checkpoint as SqliteSaver keeps one.

    `joins`: by join channel the names that have truly arrived; `sends`: Sends that lie outside
    it (Postgres before format 4). Raises `SourceError`.
    """
    wrong = {
        channel: names
        for channel, names in joins.items()
        if set(names) != set(names_in(envelope.control.get(channel))[0])
    }
    numbered = _numbered(envelope)
    plain = raw.checkpoint.type == "msgpack" and not raw.blobs
    if plain and not wrong and not numbered and not sends:
        return raw.checkpoint
    body = Body.read(raw, serde)
    for channel, names in wrong.items():
        body.values[channel] = pack(_barrier(names, envelope.control.get(channel)))
    if sends:
        body.entries[SENDS] = pack_list(
            [packed_value(send, serde, raw.key, "a Send") or _NIL for send in sends]
        )
    if numbered:
        body.renumber(envelope)
    return body.packed()


def copied_metadata(raw: RawCheckpoint, envelope: Envelope, step: int | None) -> bytes:
    """Its metadata as JSON, with what every LangGraph reads of it."""
    needed = {"source": "loop", "step": 0 if step is None else step, "parents": {}}
    kind = raw.metadata.type
    if kind == "json" and envelope.metadata.keys() >= {"source", "step"}:
        return raw.metadata.data
    found = to_json(dict(envelope.metadata)) if envelope.metadata else {}
    return json.dumps({**needed, **found}).encode()


def _numbered(envelope: Envelope) -> bool:
    known: list[Any] = list(envelope.versions.values())
    for seen in envelope.seen.values():
        known += seen.values()
    return any(not isinstance(version, str) for version in known)


def _as_text(versions: Mapping[str, Version]) -> dict[str, str]:
    return {name: version_text(version) for name, version in versions.items()}


def version_text(version: Version) -> str:
    """As savers write versions that are text: the count, and digits that order equal counts."""
    if isinstance(version, str):
        return version
    whole = int(version)
    return f"{whole:032}.{round((version - whole) * 10**16):016}"


def _barrier(names: Collection[str], stored: Any) -> Any:
    """A join's value with other names: a set, or of a deferred one `[set, finished]`."""
    items = SetValue(sorted(names))
    pair = list(stored) if isinstance(stored, (list, tuple)) else []
    if len(pair) == 2 and isinstance(pair[1], bool):
        return [items, pair[1]]
    return items
