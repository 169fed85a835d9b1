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
    """Fields of a message by name, `type` always among them ("human", "ai", "tool", …), the
    telling ones first. `{}` where it is no message."""
    if not is_message(value):
        return {}
    if isinstance(value, Obj):
        fields = value.fields or {}
        kind = fields.get("type") or message_class(value.name)
    else:
        fields = value
        kind = fields.get("role", fields.get("type"))
    if isinstance(kind, str):
        kind = _ROLES.get(kind, kind)
    out: dict[str, Any] = {"type": kind}
    for key in FIRST[1:]:
        if key in fields:
            out[key] = fields[key]
    for key, item in fields.items():
        if key not in out and key != "role":
            out[key] = item
    return out
