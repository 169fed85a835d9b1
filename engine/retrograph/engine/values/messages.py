"""Which inert values are chat messages, and what they say."""

from __future__ import annotations

from typing import Any

from retrograph.engine.values.kinds import Obj, Value

_TYPES = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "ChatMessage": "chat",
    "RemoveMessage": "remove",
    "BaseMessage": "base",
}
_ROLES = {
    "user": "human",
    "human": "human",
    "assistant": "ai",
    "ai": "ai",
    "AIMessageChunk": "ai",
    "HumanMessageChunk": "human",
    "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "function",
    "remove": "remove",
}
FIRST = ("type", "content", "id", "name", "tool_calls")
"""Fields that come first where a message is written out."""


def message_class(name: str) -> str | None:
    """The type of a message class by its bare name: "AIMessageChunk" is "ai"."""
    return _TYPES.get(name.removesuffix("Chunk"))


def is_message(value: Value) -> bool:
    """Whether this is a chat message: a LangChain message object, or a dict of the same shape
    (`type` or `role`, and `content`), as servers and chat-completion APIs write them."""
    if isinstance(value, Obj):
        if message_class(value.name) is None:
            return False
        fields = value.fields
        return fields is not None and (value.module.startswith("langchain") or "content" in fields)
    if type(value) is dict and "content" in value:
        kind = value.get("role", value.get("type"))
        return isinstance(kind, str) and kind in _ROLES
    return False


def message_fields(value: Value) -> dict[str, Any]:
    """Fields of a message by name, the telling ones first, and `type` always among them as one of
    "human", "ai", "system", "tool", "function", "chat", "remove". `{}` where it is no message."""
    if not is_message(value):
        return {}
    if isinstance(value, Obj):
        out = ordered(value) or {}
    else:
        out = _telling_first(value, value.get("role", value.get("type")))
    if type(out["type"]) is str:
        out["type"] = _ROLES.get(out["type"], out["type"])
    return out


def ordered(value: Obj) -> dict[str, Any] | None:
    """Fields of an object as they are stored; a message's with `type`, `content`, `id`, `name`,
    `tool_calls` first, and with the type that its class implies where none is stored."""
    fields = value.fields
    if fields is None or not is_message(value):
        return fields
    return _telling_first(fields, fields.get("type") or message_class(value.name))


def _telling_first(fields: dict[str, Any], kind: Value) -> dict[str, Any]:
    out = {"type": kind}
    for key in FIRST[1:]:
        if key in fields:
            out[key] = fields[key]
    return out | {k: v for k, v in fields.items() if k != "type"}
