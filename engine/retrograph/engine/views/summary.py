"""A value in one short line, for the rows of an outline and for tables.

    "Dear customer, … " 4.1 KB          a long text, cut, with its size
    [4] human, ai→lookup, tool, ai      a list of messages
    {3} name, tier, vip                 a map, by its keys
    app.models.Customer                 a typed object
    snapshot + 12 writes                a DeltaChannel

Every line is escaped: it can be drawn as it is. Only what is shown is looked at, so the line of a
list of 40,000 messages costs four messages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any, Final
from uuid import UUID

from retrograph.engine.serde.msgpack import Packed, PackedDelta
from retrograph.engine.text import cut, escape
from retrograph.engine.text import size as size_text
from retrograph.engine.values import (
    ABSENT,
    HIDDEN,
    ByteArray,
    Delta,
    MapValue,
    NdArray,
    Obj,
    Pickle,
    Secret,
    SetValue,
    Unreadable,
    Value,
    is_message,
    message_fields,
    type_name,
)

WIDTH: Final = 60
"""Characters of a line, by default."""

_SHOWN_HEAD: Final = 3
_MANY: Final = 4
"""Lists of messages longer than this show the first three and the last."""


def one_line(value: Value, width: int = WIDTH) -> str:
    """The value in about `width` characters, escaped."""
    if value is None or isinstance(value, (bool, int, float)):
        return _scalar(value, width)
    if isinstance(value, str):
        return quoted(value, width)
    if is_message(value):
        return _message_line(value, width)
    if isinstance(value, (list, tuple, SetValue)):
        items = value.items if isinstance(value, SetValue) else value
        return _list(items, width)
    if isinstance(value, dict):
        return _listed("{", len(value), "}", (_key(k) for k in value), width)
    if isinstance(value, MapValue):
        return _listed("{", len(value), "}", (_key(k) for k, _ in value.pairs), width)
    return cut(_typed(value, width), width)


def _scalar(value: Value, width: int) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        # A number of thousands of digits takes quadratic time to write.
        return cut(str(value), width) if value.bit_length() < 8192 else "a huge number"
    return repr(value) if math.isfinite(value) else str(value)


def _key(key: Value) -> str:
    return escape(cut(key, 40)) if isinstance(key, str) else one_line(key, 40)


def quoted(text: str, width: int = WIDTH) -> str:
    """A string in quotes, cut to `width`; where it was cut, with its size behind it."""
    shown = escape(text[: width + 1])
    if len(text) <= width and len(shown) <= width:
        return f'"{shown}"'
    return f'"{cut(shown, width - 10)} " {size_text(text_size(text))}'


def text_size(text: str) -> int:
    """Bytes of a string in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _list(items: Sequence[Value], width: int) -> str:
    if not items:
        return "[0]"
    if is_message(items[0]):
        return f"[{len(items)}] {_messages(items, width)}"
    return _listed("[", len(items), "]", (_brief(i) for i in items), width)


def _listed(left: str, count: int, right: str, words: Any, width: int) -> str:
    head = f"{left}{count}{right}"
    out: list[str] = []
    room = width - len(head) - 1
    for word in words:
        if len(word) + 2 > room:
            out.append("…")
            break
        out.append(word)
        room -= len(word) + 2
    return f"{head} {', '.join(out)}".rstrip()


def _brief(value: Value) -> str:
    """An item of a list: scalars as they are, others by their type."""
    if isinstance(value, str):
        return quoted(value, 24) if len(value) <= 24 else f'"{escape(value[:20])}…"'
    if value is None or isinstance(value, (bool, int, float)):
        return _scalar(value, 24)
    if isinstance(value, (dict, MapValue)):
        return "{…}" if len(value) else "{}"
    if isinstance(value, (list, tuple)):
        return "[…]" if value else "[]"
    if isinstance(value, Obj):
        return escape(cut(type_name(value), 24))
    return cut(_typed(value, 24), 24)


def _messages(items: Sequence[Value], width: int) -> str:
    if len(items) <= _MANY:
        words = [message_label(m) for m in items]
    else:
        words = [message_label(m) for m in items[:_SHOWN_HEAD]]
        words += ["…", message_label(items[-1])]
    return cut(", ".join(words), width)


def message_label(value: Value) -> str:
    """Who speaks and what is called: "human", "ai→lookup", "tool"."""
    if not is_message(value):
        return _brief(value)
    fields = message_fields(value)
    label = escape(str(fields.get("type")))
    calls = fields.get("tool_calls")
    if isinstance(calls, list) and calls:
        names = [c.get("name") or _function(c) for c in islice(calls, 4) if isinstance(c, dict)]
        label += "→" + "+".join(escape(cut(str(n), 30)) for n in names)
        if len(calls) > len(names):
            label += f"+{len(calls) - len(names)}"
    return label


def _function(call: dict[Any, Value]) -> Value:
    function = call.get("function")
    return function.get("name") if isinstance(function, dict) else None


def _message_line(value: Value, width: int) -> str:
    label = message_label(value)
    text = message_text(value)
    return f"{label} {quoted(text, max(width - len(label) - 3, 12))}" if text else label


def message_text(value: Value) -> str:
    """The text of a message: its content, or the text blocks of it."""
    content = message_fields(value).get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [
            block if isinstance(block, str) else block.get("text")
            for block in content
            if isinstance(block, (str, dict))
        ]
        return "\n".join(p for p in parts if isinstance(p, str))
    return ""


def _typed(value: Value, width: int) -> str:
    if isinstance(value, Secret):
        return HIDDEN
    if isinstance(value, Obj):
        return _object(value, width)
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (timedelta, UUID, Decimal)):
        return str(value)
    if isinstance(value, bytes):
        kind = "bytearray " if type(value) is ByteArray else ""
        return f"{kind}{size_text(len(value))} 0x{value[:8].hex()}{'…' if len(value) > 8 else ''}"
    if isinstance(value, Delta):
        return _delta(value)
    if isinstance(value, NdArray):
        return f"array {escape(value.dtype)} {list(value.shape)}"
    if isinstance(value, Pickle):
        return f"pickle of {escape(', '.join(value.names[:3])) or 'plain data'}, never loaded"
    if isinstance(value, Unreadable):
        return f"unreadable: {escape(value.why)}, {size_text(value.nbytes)}"
    return "no value" if value is ABSENT else type_name(value)


def _object(value: Obj, width: int) -> str:
    if value.how == "ext":
        return f"{escape(value.name)}, {size_text(len(value.data))}"
    data = value.data
    if isinstance(data, Unreadable):
        return f"{escape(value.type)} {_typed(data, width)}".strip()
    name = escape(value.type)
    if value.fields is not None:
        return name
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    room = max(width - len(name) - 1, 12)
    # What it was made of, if that is one line of plain data; objects in objects can go on forever.
    inner = one_line(data, room) if isinstance(data, (str, int, float, bytes)) else _brief(data)
    return f"{name} {inner}"


def _delta(value: Delta) -> str:
    writes = f"{len(value.writes)} write{'' if len(value.writes) == 1 else 's'}"
    if value.snapshot is ABSENT:
        return writes
    return f"snapshot + {writes}" if value.writes else "snapshot"


_BUDGET: Final = 50_000


def size_of(value: Value, budget: int = _BUDGET) -> int | None:
    """About the stored bytes of a value, `None` where counting would take more than `budget`
    steps. What was packed counts by its bytes, in one step."""
    total = 0
    stack: list[Value] = [value]
    while stack:
        budget -= 1
        if budget < 0:
            return None
        item = stack.pop()
        kind = type(item)
        if kind is str:
            total += text_size(item) + 2
        elif kind is int or kind is float:
            total += 9 if kind is float else max(1, item.bit_length() // 8)
        elif kind is dict:
            total += 3
            stack.extend(item.keys())
            stack.extend(item.values())
        elif kind is list or kind is tuple:
            total += 3
            if len(item) > budget:
                return None
            stack.extend(item)
        elif isinstance(item, Packed):
            total += item.size + 6
        else:
            total += _leaf_size(item, stack)
    return total


def _leaf_size(item: Value, stack: list[Value]) -> int:
    if isinstance(item, bytes):
        return len(item) + 2
    if isinstance(item, PackedDelta):
        return len(item.raw)
    if isinstance(item, (NdArray, Pickle)):
        return len(item.raw) + 20
    if isinstance(item, Unreadable):
        return item.nbytes
    if isinstance(item, Obj):
        stack.append(item.data)
        return len(item.type)
    if isinstance(item, MapValue):
        for key, child in item.pairs:
            stack += (key, child)
    elif isinstance(item, Delta):
        stack.extend(item.writes)
        stack.append(None if item.snapshot is ABSENT else item.snapshot)
    return 1 if item is None or isinstance(item, bool) else 10
