"""The plainest calls of all, read by hand: `retrograph`, `retrograph open SOURCE --thread T`.

To import Typer takes a good part of what the app takes to its first frame. Any other word or
option than these is Typer's to read, and to complain of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Opened(NamedTuple):
    """What `open` was called with."""

    source: str | None
    thread: str | None


def plain_open(arguments: Sequence[str]) -> Opened | None:
    """The arguments of `open` (its name is the first), if there are no others than a source and a
    thread; `None` where Typer must read them."""
    if not arguments or arguments[0] != "open":
        return None
    sources: list[str] = []
    thread = None
    rest = list(arguments[1:])
    while rest:
        word = rest.pop(0)
        if word == "--thread" and rest and not rest[0].startswith("-"):
            thread = rest.pop(0)
        elif word.startswith("-") or sources:
            return None
        else:
            sources.append(word)
    return Opened(sources[0] if sources else None, thread)
