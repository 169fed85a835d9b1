"""Places inside a value: `messages[-1].content`, or a JSON Pointer `/messages/0/content`.

A path that begins with "/" is a JSON Pointer (RFC 6901: `~1` is "/", `~0` is "~"). Any other is
keys joined by dots, with `[n]` for list positions (negative ones count from the end) and
`["any key"]` for keys with dots or brackets. Paths are printed as JSON Pointers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from retrograph.engine.errors import RefError
from retrograph.engine.values import ABSENT, Value, children, type_name

Key: TypeAlias = "str | int"
Path: TypeAlias = tuple[Key, ...]

_PART: Final = re.compile(
    r"""\.?(?P<name>[^.\[\]]+)
    | \[(?P<index>-?\d+)\]
    | \[(?P<quoted>"(?:[^"\\]|\\.)*"|'[^']*')\]""",
    re.VERBOSE,
)
_MAX_DIGITS: Final = 18


def parse(text: str) -> Path:
    """The keys of a path, "" being the whole value. Raises `RefError` where it is malformed."""
    if not text:
        return ()
    if text.startswith("/"):
        return tuple(_pointer_key(part) for part in text[1:].split("/"))
    keys: list[Key] = []
    at = 0
    while at < len(text):
        match = _PART.match(text, at)
        if match is None or (at == 0 and text[0] == "."):
            raise RefError(
                f"{text!r} is no path at {text[at:]!r}: write messages[-1].content, or a JSON "
                "Pointer such as /messages/0/content."
            )
        keys.append(_dotted_key(match))
        at = match.end()
    return tuple(keys)


def _pointer_key(part: str) -> Key:
    # Whether digits are a position or a key shows at the value.
    return part.replace("~1", "/").replace("~0", "~")


def _dotted_key(match: re.Match[str]) -> Key:
    if match["index"] is not None:
        digits = match["index"]
        return int(digits) if len(digits) <= _MAX_DIGITS else digits
    if match["quoted"] is not None:
        quoted = match["quoted"]
        if quoted[0] == "'":
            return quoted[1:-1]
        try:
            return str(json.loads(quoted))
        except ValueError:
            return quoted[1:-1]
    return match["name"]


def pointer(path: Sequence[object]) -> str:
    """The JSON Pointer of keys; the whole value is "". Keys that are no strings are written as
    Python writes them."""
    return "".join(f"/{_escape(key)}" for key in path)


def _escape(key: object) -> str:
    text = key if isinstance(key, str) else str(key)
    return text.replace("~", "~0").replace("/", "~1")


def get(value: Value, path: str | Sequence[Key]) -> Value:
    """What stands at a path. Raises `RefError` naming the nearest key that is there."""
    return resolve(value, path)[1]


def resolve(value: Value, path: str | Sequence[Key]) -> tuple[tuple[object, ...], Value]:
    """The keys as they are in the value (positions counted from the front), and what stands
    there. Raises `RefError` naming the nearest key that is there."""
    keys = parse(path) if isinstance(path, str) else tuple(path)
    done: list[object] = []
    for key in keys:
        real, found = _step(value, key)
        if found is ABSENT:
            raise RefError(_missing(value, key, done))
        done.append(real)
        value = found
    return tuple(done), value


def _step(value: Value, key: Key) -> tuple[object, Value]:
    """One level down; `ABSENT` where there is nothing."""
    if isinstance(value, (list, tuple)):
        index = _index(key)
        if index is not None and -len(value) <= index < len(value):
            index %= len(value)
            return index, value[index]
        return key, ABSENT
    if isinstance(value, dict) and key in value:
        return key, value[key]
    entries = list(children(value))
    for have, child in entries:
        if have == key and type(have) is type(key):
            return have, child
    index = _index(key)
    for have, child in entries:
        # A key of the data that is no string, as paths print it.
        if not isinstance(have, str) and (str(have) == str(key) or have == index):
            return have, child
    if index is not None and index < 0 and entries and entries[-1][0] == len(entries) - 1:
        return _step([child for _, child in entries], index)
    if index is not None and isinstance(value, dict) and str(key) in value:
        return str(key), value[str(key)]
    return key, ABSENT


def _index(key: Key) -> int | None:
    if isinstance(key, int):
        return key
    text = key.removeprefix("-")
    return int(key) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else None


def _missing(value: Value, key: Key, done: Sequence[object]) -> str:
    where = pointer(done) or "The value"
    names = [have for have, _ in children(value)]
    if not names:
        empty = isinstance(value, (list, tuple, dict))
        what = "is empty" if empty else f"is a {type_name(value)}, which has no parts"
        return f"{where} {what}: there is no {key!r}."
    if all(isinstance(n, int) for n in names) and isinstance(value, (list, tuple)):
        last = len(names) - 1
        return f"{where} has no item {key}: its items are 0 to {last}."
    texts = [str(n) for n in names]
    from difflib import get_close_matches  # only a failure needs it

    near = get_close_matches(str(key), texts, 1, 0.6)
    if near:
        return f"{where} has no {key!r}; did you mean {near[0]!r}?"
    listed = ", ".join(repr(t) for t in texts[:8]) + (", …" if len(texts) > 8 else "")
    return f"{where} has no {key!r}: it has {listed}."
