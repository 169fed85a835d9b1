"""What is searched for, in texts and in stored bytes, and which texts a value holds.

Looking into bytes first spares decoding: `may_hold` and `may_hold_json` are exact in one direction,
so what they refuse holds no match. MessagePack stores texts as UTF-8; numbers, days and UUIDs it
stores in forms of their own, so a pattern that could be part of one refuses nothing. JSON may
escape characters: where it does, nothing is refused either.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from retrograph.engine.errors import UsageError
from retrograph.engine.values import MAX_DEPTH, Obj, Secret, Value, children, is_message

_NUMBER: Final = re.compile(r"[0-9eE+.:-]+")
_UUID: Final = re.compile(r"(?=.*-)[0-9a-fA-F-]+")
_ESCAPED: Final = re.compile(r'["\\/\x00-\x1f\x7f-\U0010ffff]')
"""Characters that JSON writers escape, some always and some by choice."""
_LONGEST_NUMBER: Final = 8192  # bits

_FOLDED: Final = {"i": "[iI]|\xc4\xb0|\xc4\xb1", "k": "[kK]|\xe2\x84\xaa", "s": "[sS]|\xc5\xbf"}
"""Letters with relatives outside ASCII (dotless i, Kelvin, long s) as their bytes in Latin-1."""


class Needle:
    """A text or regular expression to look for."""

    def __init__(self, pattern: str, regex: bool = False, ignore_case: bool = False) -> None:
        """Raises `UsageError` for an empty pattern, and for a broken regular expression."""
        if not pattern:
            raise UsageError("The pattern is empty: say which text to look for.")
        self._text = None if regex or ignore_case else pattern
        self._regex = _compiled(pattern if regex else re.escape(pattern), pattern, ignore_case)
        raw = None if regex or _in_other_form(pattern) else _bytes(pattern, ignore_case)
        self._raw = raw
        self._plain = pattern.encode() if raw is not None and not ignore_case else None
        self._escaped = _ESCAPED.search(pattern) is not None

    def spot(self, text: str) -> tuple[int, int] | None:
        """Where the first match begins and ends."""
        if self._text is not None:
            at = text.find(self._text)
            return None if at < 0 else (at, at + len(self._text))
        match = self._regex.search(text)
        return None if match is None else match.span()

    def may_hold(self, raw: bytes) -> bool:
        """Whether a value of these MessagePack bytes may hold a match."""
        if self._plain is not None:
            return self._plain in raw
        return self._raw is None or self._raw.search(raw) is not None

    def may_hold_json(self, raw: bytes) -> bool:
        """Whether a value of this JSON may hold a match."""
        if self._raw is None or b"\\u" in raw or (self._escaped and b"\\" in raw):
            return True
        return self.may_hold(raw)


def _compiled(expression: str, pattern: str, ignore_case: bool) -> re.Pattern[str]:
    try:
        return re.compile(expression, re.IGNORECASE if ignore_case else 0)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"{pattern!r} is no regular expression: {error}.") from error


def _in_other_form(pattern: str) -> bool:
    """Whether it may be part of a value that is not stored as its text."""
    return _NUMBER.fullmatch(pattern) is not None or _UUID.fullmatch(pattern) is not None


def _bytes(pattern: str, ignore_case: bool) -> re.Pattern[bytes] | None:
    """The pattern over UTF-8 bytes; `None` where that would not find all that it finds in text."""
    try:
        raw = pattern.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return None
    if not ignore_case:
        return re.compile(re.escape(raw))
    if not pattern.isascii():
        return None
    parts = (f"(?:{_FOLDED[c]})" if c in _FOLDED else re.escape(c) for c in pattern.lower())
    return re.compile("".join(parts).encode("latin-1"), re.IGNORECASE)


def texts(value: Value) -> Iterator[tuple[tuple[Any, ...], str]]:
    """(path, text) of everything in a value that is shown as a text: strings, numbers, times,
    UUIDs. Not keys, class names, truth values, bytes, secrets, and what could not be read.

    Keys of the path are those of `children`. Iterative; deeper than `MAX_DEPTH` nothing is given.
    """
    todo: list[tuple[tuple[Any, ...], Value]] = [((), value)]
    while todo:
        path, value = todo.pop()
        text = value if type(value) is str else written(value)
        if text is not None:
            yield path, text
        elif len(path) < MAX_DEPTH:
            todo += [((*path, key), child) for key, child in parts(value)][::-1]


def parts(value: Value) -> Iterator[tuple[Any, Value]]:
    """Children of a value, but for what only says what kind of message it is."""
    if isinstance(value, Obj) and is_message(value):
        return ((key, child) for key, child in children(value) if key != "type")
    return children(value)


def written(value: Value) -> str | None:
    """The text as which a value without parts is shown; `None` where it is none."""
    for _ in range(MAX_DEPTH):
        if not isinstance(value, Obj):
            break
        if isinstance(value, Secret) or value.how == "ext" or value.fields is not None:
            return None
        # Made of one argument: an enum's value, a path's text.
        value = value.data
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value) if value.bit_length() <= _LONGEST_NUMBER else None
    if isinstance(value, float):
        return json.dumps(value) if math.isfinite(value) else None
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (UUID, Decimal)):
        return str(value)
    return None
