"""MessagePack read by hand, where the fast decoder refuses.

Follows the specification (https://github.com/msgpack/msgpack/blob/master/spec.md) and goes on
where a strict decoder gives up: strings that are not UTF-8 (kept with `surrogateescape`), keys of
any type, parts nested too deep (skipped, and said in their place), bytes that end too soon or make
no sense (what was read before is kept). Iterative: depth is no matter. Time is bounded by
`MAX_ITEMS`, memory by a small multiple of the input.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from struct import unpack_from
from typing import Any, Final, NamedTuple

from retrograph.engine.values import ABSENT, MAX_DEPTH, TOO_DEEP, MapValue, Unreadable, Value

MAX_ITEMS: Final = 3_000_000
"""Items read by hand before it stops: some seconds of work."""

MAX_TUPLE_KEYS: Final = 1_000
"""Maps with more keys that are lists stay pairs: hashes of tuples can be made to collide."""

Hook = Callable[[int, bytes], Value]


class Read(NamedTuple):
    value: Value
    """`ABSENT` where nothing could be read."""
    fault: str | None
    end: int


# First byte → (bytes of the number that follows, format). 0xc1 has no meaning.
_INTS = {
    0xCC: (1, ">B"), 0xCD: (2, ">H"), 0xCE: (4, ">I"), 0xCF: (8, ">Q"),
    0xD0: (1, ">b"), 0xD1: (2, ">h"), 0xD2: (4, ">i"), 0xD3: (8, ">q"),
    0xCA: (4, ">f"), 0xCB: (8, ">d"),
}  # fmt: skip
_STRS = {0xD9: (1, ">B"), 0xDA: (2, ">H"), 0xDB: (4, ">I")}
_BINS = {0xC4: (1, ">B"), 0xC5: (2, ">H"), 0xC6: (4, ">I")}
_EXTS = {0xC7: (1, ">B"), 0xC8: (2, ">H"), 0xC9: (4, ">I")}
_FIXEXTS = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}
_ARRAYS = {0xDC: (2, ">H"), 0xDD: (4, ">I")}
_MAPS = {0xDE: (2, ">H"), 0xDF: (4, ">I")}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_SMALL_RUN = re.compile(rb"[\x00-\x7f]{16,}")


class _FaultError(Exception):
    pass


class _Frame:
    """An open container: its items so far (keys and values in turn for a map)."""

    __slots__ = ("is_map", "left", "out")

    def __init__(self, is_map: bool, count: int) -> None:
        self.is_map = is_map
        self.left = count * 2 if is_map else count
        self.out: list[Value] = []

    def close(self) -> Value:
        return _map(self.out) if self.is_map else self.out


def text(raw: bytes) -> str:
    """A string as stored; bytes that are not UTF-8 become lone surrogates U+DC80 … U+DCFF."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "surrogateescape")


def read(buf: bytes, hook: Hook, pos: int = 0) -> Read:
    """The first value of `buf`. `fault` says what went wrong; the value is then partial."""
    stack: list[_Frame] = []
    items = 0
    end = len(buf)
    value: Value
    try:
        while True:
            items += 1
            if items > MAX_ITEMS:
                raise _FaultError("too many items")
            if pos >= end:
                raise _FaultError("truncated")
            b = buf[pos]
            pos += 1
            if b < 0x80:
                value = b
                if stack and not stack[-1].is_map and stack[-1].left > 16:
                    run = _SMALL_RUN.match(buf, pos, min(end, pos + stack[-1].left - 1))
                    if run:
                        frame = stack[-1]
                        frame.out.append(b)
                        frame.out.extend(run[0][:-1])
                        frame.left -= len(run[0])
                        pos = run.end()
                        value = run[0][-1]
            elif b >= 0xE0:
                value = b - 256
            elif 0xA0 <= b <= 0xBF:
                stop = pos + (b & 31)
                if stop > end:
                    raise _FaultError("truncated")
                value = text(buf[pos:stop])
                pos = stop
            elif b in _CONSTANTS:
                value = _CONSTANTS[b]
            elif b <= 0x9F or b in _ARRAYS or b in _MAPS:
                is_map, count, pos = _open(buf, b, pos)
                if len(stack) >= MAX_DEPTH:
                    start = pos
                    pos, items = skip(buf, pos, count * (2 if is_map else 1), items)
                    value = Unreadable(TOO_DEEP, pos - start)
                elif count:
                    stack.append(_Frame(is_map, count))
                    continue
                else:
                    value = {} if is_map else []
            else:
                value, pos = _scalar(buf, b, pos, hook)
            while True:
                if not stack:
                    return Read(value, None, pos)
                frame = stack[-1]
                frame.out.append(value)
                frame.left -= 1
                if frame.left:
                    break
                value = frame.close()
                stack.pop()
    except _FaultError as e:
        return Read(_partial(stack), str(e), pos)


def _partial(stack: list[_Frame]) -> Value:
    value: Value = ABSENT
    while stack:
        frame = stack.pop()
        if value is not ABSENT:
            frame.out.append(value)
        if frame.is_map and len(frame.out) % 2:
            frame.out.pop()
        value = frame.close()
    return value


def _number(buf: bytes, pos: int, width: int, fmt: str) -> tuple[Any, int]:
    if pos + width > len(buf):
        raise _FaultError("truncated")
    return unpack_from(fmt, buf, pos)[0], pos + width


def _open(buf: bytes, b: int, pos: int) -> tuple[bool, int, int]:
    """Whether it is a map, how many entries, where they begin."""
    if b <= 0x8F:
        return True, b & 15, pos
    if b <= 0x9F:
        return False, b & 15, pos
    is_map = b in _MAPS
    count, pos = _number(buf, pos, *(_MAPS[b] if is_map else _ARRAYS[b]))
    return is_map, count, pos


def _span(buf: bytes, pos: int, size: int) -> int:
    if pos + size > len(buf):
        raise _FaultError("truncated")
    return pos + size


def _scalar(buf: bytes, b: int, pos: int, hook: Hook) -> tuple[Value, int]:
    if b in _INTS:
        return _number(buf, pos, *_INTS[b])
    if b in _STRS:
        size, pos = _number(buf, pos, *_STRS[b])
        stop = _span(buf, pos, size)
        return text(buf[pos:stop]), stop
    if b in _BINS:
        size, pos = _number(buf, pos, *_BINS[b])
        stop = _span(buf, pos, size)
        return buf[pos:stop], stop
    code, pos, stop = _ext(buf, b, pos)
    return hook(code, buf[pos:stop]), stop


def _ext(buf: bytes, b: int, pos: int) -> tuple[int, int, int]:
    """The code, begin and end of an extension's payload."""
    if b in _FIXEXTS:
        size = _FIXEXTS[b]
    elif b in _EXTS:
        size, pos = _number(buf, pos, *_EXTS[b])
    else:
        raise _FaultError(f"corrupt (byte 0x{b:02x} at {pos - 1})")
    code, pos = _number(buf, pos, 1, ">b")
    return code, pos, _span(buf, pos, size)


def skip(buf: bytes, pos: int, count: int, items: int = 0) -> tuple[int, int]:
    """Where the next `count` values end, and `items` plus how many were passed."""
    end = len(buf)
    while count:
        items += 1
        if items > MAX_ITEMS:
            raise _FaultError("too many items")
        if pos >= end:
            raise _FaultError("truncated")
        b = buf[pos]
        pos += 1
        count -= 1
        if b < 0x80 or b >= 0xE0 or b in _CONSTANTS:
            continue
        if 0xA0 <= b <= 0xBF:
            pos = _span(buf, pos, b & 31)
        elif b <= 0x9F or b in _ARRAYS or b in _MAPS:
            is_map, inner, pos = _open(buf, b, pos)
            count += inner * (2 if is_map else 1)
        elif b in _INTS:
            pos = _span(buf, pos, _INTS[b][0])
        elif b in _STRS or b in _BINS:
            size, pos = _number(buf, pos, *(_STRS.get(b) or _BINS[b]))
            pos = _span(buf, pos, size)
        else:
            pos = _ext(buf, b, pos)[2]
    return pos, items


def end_of(buf: bytes, pos: int, count: int = 1, budget: int = MAX_ITEMS) -> int | None:
    """Where the next `count` values end; `None` where they are broken, or telling it would take
    more than `budget` items."""
    try:
        return skip(buf, pos, count, MAX_ITEMS - budget)[0]
    except _FaultError:
        return None


def container(buf: bytes, pos: int) -> tuple[bool, int, int] | None:
    """Of a map or an array at `pos`: whether it is a map, how many entries, where they begin;
    `None` for anything else."""
    if pos >= len(buf):
        return None
    b = buf[pos]
    if not (0x80 <= b <= 0x9F or b in _ARRAYS or b in _MAPS):
        return None
    try:
        return _open(buf, b, pos + 1)
    except _FaultError:
        return None


_PLAIN_KEYS = frozenset({str, int, float, bool, type(None), bytes})


def _map(flat: list[Value]) -> Value:
    keys = flat[::2]
    if any(type(k) not in _PLAIN_KEYS for k in keys):
        if len(keys) > MAX_TUPLE_KEYS:
            return MapValue(zip(keys, flat[1::2], strict=True))
        frozen = [_freeze(k) for k in keys]
        if None in [
            f if type(k) not in _PLAIN_KEYS else 0 for f, k in zip(frozen, keys, strict=True)
        ]:
            return MapValue(zip(keys, flat[1::2], strict=True))
        keys = frozen
    return dict(zip(keys, flat[1::2], strict=True))


def _freeze(key: Value, depth: int = 0) -> Any:
    """A list as a tuple, as the fast decoder makes keys; `None` where it cannot be hashed."""
    if type(key) in _PLAIN_KEYS:
        return key
    if type(key) is list and depth < 20:
        parts = tuple(_freeze(k, depth + 1) for k in key)
        unhashable = any(p is None and k is not None for p, k in zip(parts, key, strict=True))
        return None if unhashable else parts
    return None
