"""The matches that each channel of a checkpoint holds, found with as little decoding as can be."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from xxhash import xxh3_128_digest

from retrograph.engine.model import RawCheckpoint, Typed
from retrograph.engine.search.needle import Needle, parts, written
from retrograph.engine.serde import msgpack
from retrograph.engine.serde.codec import sniff
from retrograph.engine.serde.envelopes import decode_metadata
from retrograph.engine.serde.slices import Entry, Slice, appended, channel_slices
from retrograph.engine.serde.wire import container
from retrograph.engine.steps.channels import is_internal, named
from retrograph.engine.steps.due import OLD_FORMAT
from retrograph.engine.thread import Thread
from retrograph.engine.values import MAX_DEPTH, Delta, Obj, Unreadable, Value, field
from retrograph.engine.views.redact import REDACTED, Redactor
from retrograph.engine.views.shown import shown_write

_WALKED: Final = 2_000
"""Items of a value that are walked in search of its end; larger ones that are new are decoded."""

_SMALL: Final = 1 << 16
"""Bytes of a checkpoint that are compared in any case."""

_KNOWN_BYTES: Final = 32 << 20
"""Bytes of values kept for comparing, in sum."""

_TINY: Final = 512
"""Values of fewer bytes are kept anyway."""

_KNOWN_PAYLOADS: Final = 200_000
"""Messages of which it is remembered what they hold, twice this at most."""

_LONGEST: Final = 100_000
"""Characters of a text that are kept, around its match."""

_COUNTERS: Final = b"counters_since_delta_snapshot"


class Match(NamedTuple):
    """A text that holds the pattern, somewhere in a value."""

    path: tuple[Any, ...]
    text: str
    """All of it, but at most `_LONGEST` characters around the match."""
    begin: int
    end: int
    mark: int = 0
    """The same for the same text under the same name: list positions do not count."""
    cut: bool = False
    """Whether `text` is only a part."""


class Held:
    """What one version of a channel holds. Shared by all checkpoints that have it."""

    __slots__ = ("matches", "raw", "version", "writes")

    def __init__(
        self,
        matches: tuple[Match, ...],
        raw: Entry | None = None,
        version: Any = None,
        writes: int = -1,
    ) -> None:
        self.matches = matches
        self.raw = raw
        """Its entry in the checkpoint's MessagePack, as long as it is kept for comparing."""
        self.version = version
        self.writes = writes
        """Of a DeltaChannel between snapshots: the writes since; else −1."""


class Values:
    """Reads checkpoints of one namespace, each after its parent."""

    def __init__(self, thread: Thread, ns: str, needle: Needle, redactor: Redactor) -> None:
        self._thread = thread
        self._ns = ns
        self._serde = thread.serde
        self._needle = needle
        self._redactor = redactor
        self._kept: deque[Held] = deque()
        self._kept_bytes = 0
        self._payloads: dict[bytes, tuple[Match, ...]] = {}
        self._older: dict[bytes, tuple[Match, ...]] = {}
        self._outside: dict[tuple[str, Any], Held] = {}

    def read(
        self, raw: RawCheckpoint, parent_id: str | None, before: Mapping[str, Held] | None
    ) -> dict[str, Held] | None:
        """What each channel holds; `None` where the checkpoint cannot be read."""
        known = before or {}
        opened = self._serde.open(raw.checkpoint)
        if isinstance(opened, Unreadable):
            return None
        body, data = opened, opened.data
        if isinstance(data, str) or body.type is None:
            data = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
            body = Typed(sniff(data) if body.type is None else body.type, data)
        gaps = _COUNTERS in raw.metadata.data
        inside = not raw.blobs and not self._outside
        state = None
        if body.type == "msgpack" and inside and self._comparable(data, known):
            state = self._sliced(data, known)
        if state is None:
            if inside and not gaps and not self._may_hold(body):
                return {} if _is_map(body) else None
            state = self._decoded(raw, body, known)
        if state is not None and gaps:
            self._add_gaps(state, raw, parent_id, known)
        return state

    def _comparable(self, data: bytes, known: Mapping[str, Held]) -> bool:
        """Whether comparing with the parent is likely to be quicker than looking at every byte,
        for which the parent must have been compared too."""
        return len(data) < _SMALL or any(held.raw is not None for held in known.values())

    def _may_hold(self, typed: Typed) -> bool:
        """Whether stored bytes may hold the text."""
        if typed.type == "msgpack":
            return self._needle.may_hold(typed.data)
        return typed.type != "json" or self._needle.may_hold_json(typed.data)

    def _sliced(self, data: bytes, known: Mapping[str, Held]) -> dict[str, Held] | None:
        """By comparing bytes; `None` where that cannot be done, or would cost more."""
        entries = {c: h.raw for c, h in known.items() if h.raw is not None}
        there = channel_slices(data, entries, _WALKED)
        if there is None or 0 < there[0] < OLD_FORMAT:
            return None
        state: dict[str, Held] = {}
        for channel, found in there[1].items():
            if found.kept < 0:
                state[channel] = known[channel]
            elif not is_internal(channel):
                state[channel] = self._slice(channel, data, found, known.get(channel))
        return state

    def _slice(self, channel: str, data: bytes, found: Slice, before: Held | None) -> Held:
        matches: tuple[Match, ...] = ()
        if found.kept and before is not None and before.raw is not None:
            more = appended(data, found, before.raw)
            matches = before.matches
            if self._needle.may_hold(more):
                new = self._matches(channel, msgpack.unpack(more))
                matches += tuple(_further(new, found.kept))
        else:
            value = data[found.begin : found.end]
            if self._needle.may_hold(value):
                matches = self._matches(channel, msgpack.unpack(value))
        held = Held(matches, Entry(data[found.key : found.end], found.begin - found.key))
        self._keep(held)
        return held

    def _keep(self, held: Held) -> None:
        """Have the oldest large values forgotten where there are too many bytes of them."""
        size = _cost(held)
        if size < _TINY:
            return
        self._kept.append(held)
        self._kept_bytes += size
        while self._kept_bytes > _KNOWN_BYTES and len(self._kept) > 1:
            old = self._kept.popleft()
            self._kept_bytes -= _cost(old)
            old.raw = None

    def _decoded(
        self, raw: RawCheckpoint, typed: Typed, known: Mapping[str, Held]
    ) -> dict[str, Held] | None:
        """By version: what has that of the parent is not looked at."""
        body = self._serde.decode(typed)
        if isinstance(body, Unreadable):
            body = body.partial
        stored = field(body, "channel_values")
        if not isinstance(stored, Mapping):
            return None
        versions = named(field(body, "channel_versions"))
        v, seen = field(body, "v"), named(field(body, "versions_seen"))
        nodes = seen if isinstance(v, int) and v < OLD_FORMAT else {}
        state = self._outside_of(raw, versions)
        for channel, value in named(stored).items():
            own = is_internal(channel) or (channel in nodes and value == channel)
            if own or channel in state:
                continue
            version, before = versions.get(channel), known.get(channel)
            if before is not None and version is not None and before.version == version:
                state[channel] = before
            else:
                state[channel] = Held(self._matches(channel, value), None, version)
        return state

    def _outside_of(self, raw: RawCheckpoint, versions: Mapping[str, Any]) -> dict[str, Held]:
        """Values that the backend stores by themselves, each version looked at once."""
        state: dict[str, Held] = {}
        for channel in {**versions, **raw.blobs}:
            version = versions.get(channel)
            if is_internal(channel) or not isinstance(version, str | int | float | None):
                continue
            key, blob = (channel, version), raw.blobs.get(channel)
            if blob is not None and (version is None or key not in self._outside):
                self._outside[key] = Held(self._of_blob(channel, blob), None, version)
            if key in self._outside:
                state[channel] = self._outside[key]
        return state

    def _of_blob(self, channel: str, blob: Typed) -> tuple[Match, ...]:
        opened = self._serde.open(blob)
        if isinstance(opened, Unreadable) or not self._may_hold(opened):
            return ()
        return self._matches(channel, self._serde.decode(opened))

    def _add_gaps(
        self,
        state: dict[str, Held],
        raw: RawCheckpoint,
        parent_id: str | None,
        known: Mapping[str, Held],
    ) -> None:
        """DeltaChannels that are not stored here: what the parent held, and the writes since."""
        metadata = decode_metadata(raw.metadata, self._serde)
        counters = metadata.get("counters_since_delta_snapshot")
        gaps = [c for c in counters if c not in state] if isinstance(counters, Mapping) else []
        if not gaps:
            return
        made = self._thread.loader.read_writes(
            raw.key.thread_id, self._ns, [parent_id] if parent_id else [], gaps
        )
        for channel in gaps:
            before = known.get(channel)
            matches: tuple[Match, ...] = ()
            count = 0
            if before is not None:
                snapshot = before.writes < 0
                matches = tuple(_under("snapshot", before.matches)) if snapshot else before.matches
                count = 0 if snapshot else before.writes
            for write in made.get(parent_id or "", ()):
                if write.channel == channel:
                    new = self._matches(channel, self._serde.decode(write.value))
                    matches += tuple(_under("writes", _under(count, new)))
                    count += 1
            state[channel] = Held(matches, writes=count)

    def _matches(self, channel: str, value: Value) -> tuple[Match, ...]:
        if isinstance(value, Delta) and not value.writes:
            value = value.snapshot
        if self._redactor.hides_values:
            # What hides a value may stand anywhere above it: nothing is remembered.
            shown = shown_write(channel, value, self._redactor)
            return tuple(m for m in _walk(shown, self._needle) if m.text != REDACTED)
        return tuple(_walk(value, self._needle, self))

    def of_payload(self, value: Obj, sealed: bytes) -> tuple[Match, ...]:
        """Matches in an object that is still packed; remembered by its bytes."""
        if not self._needle.may_hold(sealed):
            return ()
        known = xxh3_128_digest(sealed)
        found = self._payloads.get(known)
        if found is None:
            found = self._older.get(known)
            if found is None:
                found = tuple(_walk(value, self._needle))
            if len(self._payloads) >= _KNOWN_PAYLOADS:
                self._older, self._payloads = self._payloads, {}
            self._payloads[known] = found
        return found


def _walk(value: Value, needle: Needle, values: Values | None = None) -> Iterator[Match]:
    """All matches in a value, in order. `values` remembers what packed objects hold."""
    todo: list[tuple[tuple[Any, ...], Value]] = [((), value)]
    while todo:
        path, value = todo.pop()
        if type(value) is str:
            text: str | None = value
        else:
            sealed = value.sealed if values is not None and isinstance(value, Obj) else None
            if sealed is not None and values is not None:
                for match in values.of_payload(value, sealed):
                    yield match._replace(path=(*path, *match.path))
                continue
            text = written(value)
        if text is not None:
            spot = needle.spot(text)
            if spot is not None:
                yield _match(path, text, *spot)
        elif len(path) < MAX_DEPTH:
            todo += [((*path, key), child) for key, child in parts(value)][::-1]


def _is_map(typed: Typed) -> bool:
    """Whether bytes begin as a checkpoint does."""
    if typed.type == "msgpack":
        opened = container(typed.data, 0)
        return opened is not None and opened[0]
    return typed.type == "json" and typed.data.lstrip()[:1] == b"{"


def _cost(held: Held) -> int:
    return 0 if held.raw is None else len(held.raw.raw)


def _match(path: tuple[Any, ...], text: str, begin: int, end: int) -> Match:
    name = next((key for key in reversed(path) if isinstance(key, str)), "")
    mark = hash((name, text))
    if len(text) <= _LONGEST:
        return Match(path, text, begin, end, mark)
    end = min(end, begin + _LONGEST)
    low = max(0, min((begin + end - _LONGEST) // 2, len(text) - _LONGEST))
    return Match(path, text[low : low + _LONGEST], begin - low, end - low, mark, True)


def _further(matches: Iterable[Match], by: int) -> Iterator[Match]:
    """Matches in a list's last items, with their positions in the whole list."""
    for match in matches:
        yield match._replace(path=(match.path[0] + by, *match.path[1:]))


def _under(key: object, matches: Sequence[Match] | Iterator[Match]) -> Iterator[Match]:
    for match in matches:
        yield match._replace(path=(key, *match.path))
