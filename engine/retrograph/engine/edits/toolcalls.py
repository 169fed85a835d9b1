"""Tool calls and their results: what a chat model's interface refuses when they do not match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from retrograph.engine.values import Value, field, is_message, message_fields


def broken_calls(before: Mapping[str, Value], after: Mapping[str, Value]) -> Iterator[str]:
    """A sentence for each channel of messages in which an edit leaves a tool call without its
    result, or a result without its call, where there was none before."""
    for channel, messages in after.items():
        open_, stray = _unmatched(messages)
        was_open, was_stray = _unmatched(before.get(channel))
        for call in open_:
            if call not in was_open:
                yield (
                    f"In '{channel}' the tool call {_named(open_, call)} has no result: most chat "
                    "models refuse such a conversation, unless its tool runs next."
                )
        for call in stray:
            if call not in was_stray:
                yield (
                    f"In '{channel}' the tool result for {call} has no call before it: most chat "
                    "models refuse such a conversation."
                )


def _named(calls: Mapping[str, str], call: str) -> str:
    return f"{calls[call]} ({call})" if calls[call] else call


def _unmatched(messages: Value) -> tuple[dict[str, str], list[str]]:
    """(calls without a result: id to the tool's name; results without a call), of a list."""
    calls: dict[str, str] = {}
    stray: list[str] = []
    if not isinstance(messages, list):
        return calls, stray
    for message in messages:
        if not is_message(message):
            continue
        fields = message_fields(message)
        result = fields.get("tool_call_id") if fields["type"] == "tool" else None
        if isinstance(result, str) and calls.pop(result, None) is None:
            stray.append(result)
        made: Any = fields.get("tool_calls")
        for call in made if isinstance(made, list) else ():
            id_, name = field(call, "id"), field(call, "name")
            if isinstance(id_, str):
                calls[id_] = name if isinstance(name, str) else ""
    return calls, stray
