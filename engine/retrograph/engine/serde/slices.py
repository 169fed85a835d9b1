"""Where the channel values stand in a checkpoint's msgpack, found without decoding any.

The map is walked at its top level alone. Checkpoints of one line are mostly the same bytes: a
value that is known from the parent is recognised by comparing bytes (a whole encoding is never the
beginning of another one), and of a list that has grown only what was appended is walked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from retrograph.engine.serde import wire
from retrograph.engine.serde.peek import short_text

VALUES: Final = "channel_values"

_SAME: Final = -1


class Slice(NamedTuple):
    """One value: `data[begin:end]`."""

    begin: int
    end: int
    kept: int = 0
    """Items at its beginning that stand in the known value; −1: it is the known value."""

    @property
    def same(self) -> bool:
        return self.kept == _SAME


_NOTHING: Final[Mapping[str, bytes]] = {}


def channel_slices(
    data: bytes, known: Mapping[str, bytes] = _NOTHING, budget: int = wire.MAX_ITEMS
) -> tuple[int, dict[str, Slice]] | None:
    """The format `v` of the checkpoint (0 where it comes later), and its stored values by channel.

    `known`: values that may stand here again. `None` where the map is not as LangGraph writes it
    or is broken, and where something else stands in place of a known value that takes more than
    `budget` items to walk.
    """
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


def top_slices(data: bytes) -> dict[str, Slice] | None:
    """The entries of the map itself, by key; `None` where it is broken. Raises nothing."""
    return _entries(data, 0, _NOTHING, wire.MAX_ITEMS)


def _entries(
    data: bytes, pos: int, known: Mapping[str, bytes], budget: int
) -> dict[str, Slice] | None:
    opened = wire.container(data, pos)
    if opened is None or not opened[0]:
        return None
    _, count, pos = opened
    found: dict[str, Slice] = {}
    try:
        for _ in range(count):
            name, pos = short_text(data, pos)
            there = _value(data, pos, known.get(name), budget)
            if there is None:
                return None
            found[name] = there
            pos = there.end
    except (IndexError, ValueError):
        return None
    return found


def _value(data: bytes, pos: int, known: bytes | None, budget: int) -> Slice | None:
    if known is not None:
        if data.startswith(known, pos):
            return Slice(pos, pos + len(known), _SAME)
        grown = _grown(data, pos, known, budget)
        if grown is not None:
            return grown
    end = wire.end_of(data, pos, 1, budget if known is not None else wire.MAX_ITEMS)
    return None if end is None else Slice(pos, end)


def _grown(data: bytes, pos: int, known: bytes, budget: int) -> Slice | None:
    """A list whose beginning is all of a known one."""
    before, now = wire.container(known, 0), wire.container(data, pos)
    if before is None or now is None or before[0] or now[0] or not 0 < before[1] <= now[1]:
        return None
    items = known[before[2] :]
    if not data.startswith(items, now[2]):
        return None
    end = wire.end_of(data, now[2] + len(items), now[1] - before[1], budget)
    return None if end is None else Slice(pos, end, before[1])


def appended(data: bytes, found: Slice, known: bytes) -> bytes:
    """The items that a grown list has more, as the msgpack of a list."""
    before, now = wire.container(known, 0), wire.container(data, found.begin)
    assert before is not None
    assert now is not None
    begin = now[2] + len(known) - before[2]
    count = now[1] - before[1]
    return b"\xdd" + count.to_bytes(4, "big") + data[begin : found.end]
