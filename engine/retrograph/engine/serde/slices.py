"""Where the channel values stand in a checkpoint's msgpack, found without decoding any.

The map is walked at its top level alone. Checkpoints of one line are mostly the same bytes: an
entry that is known from the parent is recognised by comparing bytes (a whole encoding is never the
beginning of another one), and of a list that has grown only what was appended is walked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from retrograph.engine.serde import wire
from retrograph.engine.serde.peek import short_text

VALUES: Final = "channel_values"

_SAME: Final = -1


_NUMBERS: Final = {
    0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD3: 8,
}  # fmt: skip
"""Bytes of a number, by the byte before it."""


class Slice(NamedTuple):
    """One entry of the map: `data[key:end]`, of which `data[begin:end]` is the value."""

    key: int
    begin: int
    end: int
    kept: int = 0
    """Items at its beginning that stand in the known value; −1: it is the known value."""

    @property
    def same(self) -> bool:
        return self.kept == _SAME


class Entry(NamedTuple):
    """An entry of another checkpoint's map: `raw[begin:]` is its value."""

    raw: bytes
    begin: int


_NOTHING: Final[Mapping[str, Entry]] = {}

# v, ts (32 characters), id (36), channel_values: how LangGraph for Python writes the beginning.
USUAL: Final = re.compile(
    rb"[\x84-\x8f]\xa1v([\x00-\x7f])\xa2ts\xd9\x20.{32}\xa2id\xd9\x24.{36}\xaechannel_values",
    re.DOTALL,
)


def channel_slices(
    data: bytes, known: Mapping[str, Entry] = _NOTHING, budget: int = wire.MAX_ITEMS
) -> tuple[int, dict[str, Slice]] | None:
    """The format `v` of the checkpoint (0 where it comes later), and its stored values by channel.

    `known`: entries that may stand here again, best in the order in which they stood. `None`
    where the map is not as LangGraph writes it or is broken, and where something else stands in
    place of a known value that takes more than `budget` items to walk.
    """
    usual = USUAL.match(data)
    if usual is not None:
        found = _entries(data, usual.end(), known, budget)
        return None if found is None else (usual[1][0], found)
    opened = wire.container(data, 0)
    if opened is None or not opened[0]:
        return None
    _, count, pos = opened
    v = 0
    try:
        for _ in range(count):
            key, pos = short_text(data, pos)
            if key == VALUES:
                found = _entries(data, pos, known, budget)
                return None if found is None else (v, found)
            if key == "v":
                v = data[pos] if data[pos] < 0x80 else 0
            end = wire.end_of(data, pos)
            if end is None:
                return None
            pos = end
    except (IndexError, ValueError):
        return None
    return None


def _entries(
    data: bytes, pos: int, known: Mapping[str, Entry], budget: int
) -> dict[str, Slice] | None:
    opened = wire.container(data, pos)
    if opened is None or not opened[0]:
        return None
    _, count, pos = opened
    found: dict[str, Slice] = {}
    names = list(known)
    expected = 0
    try:
        for _ in range(count):
            if expected < len(names):
                # Most often the entry that stood next at the parent stands next here.
                name = names[expected]
                raw, key = known[name]
                if data.startswith(raw, pos):
                    end = pos + len(raw)
                    found[name] = Slice(pos, pos + key, end, _SAME)
                    pos = end
                    expected += 1
                    continue
            name, begin = short_text(data, pos)
            entry = known.get(name)
            end = _scalar_end(data, begin) if entry is None else 0
            there = Slice(pos, begin, end) if end else _value(data, pos, begin, entry, budget)
            if there is None:
                return None
            found[name] = there
            pos = there.end
            if entry is not None:
                expected = names.index(name) + 1
    except (IndexError, ValueError):
        return None
    return found


def _value(data: bytes, key: int, begin: int, known: Entry | None, budget: int) -> Slice | None:
    end: int | None = _scalar_end(data, begin)
    if known is not None:
        if data.startswith(known.raw, key):
            return Slice(key, begin, key + len(known.raw), _SAME)
        if not end and (grown := _grown(data, key, begin, known, budget)) is not None:
            return grown
    if not end:
        end = wire.end_of(data, begin, 1, wire.MAX_ITEMS if known is None else budget)
    return None if end is None else Slice(key, begin, end)


def _scalar_end(data: bytes, begin: int) -> int:
    """Where a small value without parts ends; 0 for others. Most values are such."""
    b = data[begin]
    if b < 0x80 or b >= 0xE0 or b in (0xC0, 0xC2, 0xC3):
        return begin + 1
    size = b & 31 if 0xA0 <= b <= 0xBF else _NUMBERS.get(b, 0)
    end = begin + 1 + size
    return end if (size or b == 0xA0) and end <= len(data) else 0


def _grown(data: bytes, key: int, begin: int, known: Entry, budget: int) -> Slice | None:
    """A list whose beginning is all of a known one."""
    before, now = wire.container(known.raw, known.begin), wire.container(data, begin)
    if before is None or now is None or before[0] or now[0] or not 0 < before[1] <= now[1]:
        return None
    items = known.raw[before[2] :]
    if not data.startswith(items, now[2]):
        return None
    end = wire.end_of(data, now[2] + len(items), now[1] - before[1], budget)
    return None if end is None else Slice(key, begin, end, before[1])


def appended(data: bytes, found: Slice, known: Entry) -> bytes:
    """The items that a grown list has more, as the msgpack of a list."""
    before, now = wire.container(known.raw, known.begin), wire.container(data, found.begin)
    assert before is not None
    assert now is not None
    begin = now[2] + len(known.raw) - before[2]
    count = now[1] - before[1]
    return b"\xdd" + count.to_bytes(4, "big") + data[begin : found.end]
