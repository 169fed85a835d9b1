"""Ids of recorded messages.

A reducer gives a message its id; where saving is asynchronous, the write is now and then stored
before that. A recorded output without it would get another id than on the original line, so it is
found again in the state that came of it, by type and content.
"""

from __future__ import annotations

from collections.abc import Sequence

from retrograph.engine.model import Typed
from retrograph.engine.thread import Thread
from retrograph.engine.values import Obj, Value, equal, is_message, message_fields

_TELLS = b"langchain"


def with_ids(
    thread: Thread, ns: str, after: str | None, writes: Sequence[tuple[str, Typed]]
) -> list[tuple[str, Typed]]:
    """The writes with the ids that their messages got at the checkpoint `after`."""
    if after is None:
        return list(writes)
    out = []
    for channel, typed in writes:
        value = None
        if _TELLS in typed.data:
            value = thread.serde.decode(typed)
        if value is not None and any(_id(m) is None for m in _messages(value)):
            held = _messages(thread.snapshot(ns, after).values.get(channel))
            made = _filled(value, held)
            typed = thread.serde.encode(made)
        out.append((channel, typed))
    return out


def _messages(value: Value) -> list[Obj]:
    items = value if isinstance(value, (list, tuple)) else [value]
    return [item for item in items if isinstance(item, Obj) and is_message(item)]


def _id(message: Obj) -> Value:
    return (message.fields or {}).get("id")


def _filled(value: Value, held: Sequence[Obj]) -> Value:
    left = list(held)

    def filled(item: Value) -> Value:
        if not (isinstance(item, Obj) and is_message(item) and _id(item) is None):
            return item
        for other in reversed(left):
            if _id(other) is not None and _alike(item, other):
                left.remove(other)
                fields = {**(item.fields or {}), "id": _id(other)}
                return Obj(item.module, item.name, item.how, fields, item.extra)
        return item

    if isinstance(value, list):
        # From the end: the newest is likeliest the one.
        return [filled(item) for item in reversed(value)][::-1]
    return filled(value)


def _alike(a: Obj, b: Obj) -> bool:
    one, other = message_fields(a), message_fields(b)
    return one.get("type") == other.get("type") and equal(one.get("content"), other.get("content"))
