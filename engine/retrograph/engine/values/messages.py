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
_TYPES |= {f"{name}Chunk": kind for name, kind in _TYPES.items()}
FIRST = ("type", "content", "id", "name", "tool_calls")
"""Fields that come first where a message is written out."""


def message_class(name: str) -> str | None:
    """The type of a message class by its bare name: "AIMessageChunk" is "ai"."""
    return _TYPES.get(name)


def is_message(value: Value) -> bool:
    """Whether this is a chat message: a LangChain message object, or a dict of the same shape
    (`type` or `role`, and `content`), as servers and chat-completion APIs write them."""
    if isinstance(value, Obj):
        return message_class(value.name) is not None and _says(value, value.fields)
    if type(value) is dict and "content" in value:
        kind = value.get("role", value.get("type"))
        return isinstance(kind, str) and kind in _ROLES
    return False


def _says(value: Obj, fields: dict[str, Any] | None) -> bool:
    """Whether an object with the name of a message class is one."""
    return fields is not None and (value.module.startswith("langchain") or "content" in fields)


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
    kind = message_class(value.name)
    if fields is None or kind is None or not _says(value, fields):
        return fields
    return _telling_first(fields, fields.get("type") or kind)


def _telling_first(fields: dict[str, Any], kind: Value) -> dict[str, Any]:
    out = {"type": kind}
    for key in FIRST:
        if key in fields:
            out[key] = fields[key]
    # Keys that are there keep their place.
    out.update(fields)
    out["type"] = kind
    return out
