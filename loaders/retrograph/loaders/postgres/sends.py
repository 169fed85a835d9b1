"""The nodes of a stored list of Sends, without the payloads between them.

The list is a msgpack array of extensions, each of which begins with its length: so the next one's
place is known without reading this one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from retrograph.engine.serde import send_node

_WINDOW: Final = 4096
_NODE: Final = 256
"""Bytes of a Send in which its node stands."""
_FIXED: Final = {0xD4: 3, 0xD5: 4, 0xD6: 6, 0xD7: 10, 0xD8: 18}
"""Extensions of fixed size: the first byte, and the length of the whole."""
_SIZED: Final = {0xC7: 1, 0xC8: 2, 0xC9: 4}
"""The others: the first byte, and the bytes of the length that follows."""


def send_nodes(head: bytes, more: Callable[[int, int], bytes]) -> tuple[str, ...]:
    """The nodes, in order. `head` is the beginning; `more(start, length)` reads on.

    Where the bytes are no such list, it ends there.
    """
    count, at = _array(head)
    begin, window = 0, head
    nodes: list[str] = []
    for _ in range(count):
        if not begin <= at <= begin + len(window) - _NODE:
            begin, window = at, more(at, _WINDOW)
        local = window[at - begin : at - begin + _NODE]
        length = _extension(local)
        if length is None:
            break
        nodes.append(send_node("msgpack", local) or "?")
        at += length
    return tuple(nodes)


def _array(head: bytes) -> tuple[int, int]:
    """(elements, where the first begins)."""
    first = head[0] if head else 0
    if 0x90 <= first <= 0x9F:
        return first & 0x0F, 1
    if first == 0xDC:
        return int.from_bytes(head[1:3], "big"), 3
    if first == 0xDD:
        return int.from_bytes(head[1:5], "big"), 5
    return 0, 0


def _extension(element: bytes) -> int | None:
    """The length of an extension with its header; `None` for anything else."""
    first = element[0] if element else 0
    if first in _FIXED:
        return _FIXED[first]
    size = _SIZED.get(first)
    if size is None or len(element) < size + 2:
        return None
    return 2 + size + int.from_bytes(element[1 : 1 + size], "big")
