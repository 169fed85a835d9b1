"""To which node a Send goes, told from its first bytes: its payload may be the whole state."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from retrograph.engine.serde.peek import short_text
from retrograph.engine.values import Obj, Value, field

_JS_NODE: Final = re.compile(rb'\s*\{\s*"node"\s*:\s*("(?:[^"\\]|\\.)*")')
_PY_NODE: Final = re.compile(rb'"kwargs"\s*:\s*\{\s*"node"\s*:\s*("(?:[^"\\]|\\.)*")')


def send_node(kind: str | None, head: bytes | None) -> str | None:
    """The node of one stored `__pregel_tasks` write, of which `head` is the beginning (256 bytes
    are plenty); `None` where it is not told (encrypted, or no Send)."""
    if not head:
        return None
    if kind == "msgpack":
        return _after_ext_header(head)
    if kind == "json" or kind is None:
        match = _JS_NODE.match(head) or _PY_NODE.search(head)
        if match:
            try:
                return str(json.loads(match[1]))
            except ValueError:
                return None
    return None


def payload_node(payload: bytes) -> str | None:
    """The node in a Send extension's payload `(module, "Send", (node, arg, …))`, cut or whole."""
    try:
        if not 0x93 <= payload[0] <= 0x9F:
            return None
        _, at = short_text(payload, 1)
        name, at = short_text(payload, at)
        if name != "Send" or not 0x91 <= payload[at] <= 0x9F:
            return None
        return short_text(payload, at + 1)[0]
    except (IndexError, ValueError):
        return None


def value_node(value: Value) -> str | None:
    """The node of a decoded Send: an object, JS's `{node, args}`, or a constructor dict."""
    node: Any = None
    if isinstance(value, Obj):
        data = value.data
        if isinstance(data, list) and data:
            node = data[0]
        else:
            node = field(value, "node")
    elif isinstance(value, dict):
        node = value.get("node")
        if node is None and isinstance(value.get("kwargs"), dict):
            node = value["kwargs"].get("node")
        if node is None and isinstance(value.get("args"), list) and value["args"]:
            node = value["args"][0]
    return node if isinstance(node, str) else None


_HEADS: Final = {0xC7: 3, 0xC8: 4, 0xC9: 6, 0xD4: 2, 0xD5: 2, 0xD6: 2, 0xD7: 2, 0xD8: 2}
"""Bytes of an extension's header, by its first."""


def _after_ext_header(head: bytes) -> str | None:
    size = _HEADS.get(head[0])
    return payload_node(head[size:]) if size else None
