"""What there is to see in the demo: each scene is a screen reached by keys.

The snapshots of the tests and the pictures of the README are made from these.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

THREAD = "order-4412"
NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
"""The moment that the demo's threads end before, and that the screens count from."""


class Scene(NamedTuple):
    """A screen, and how it is reached."""

    name: str
    thread: str | None
    """`None`: beginning at the list of threads."""
    keys: str
    """Pressed one after the other, with blanks between."""


SCENES = (
    Scene("threads", None, "j j"),
    Scene("filter", None, "slash s t a t u s : d o n e enter"),
    Scene("thread", THREAD, "g o"),
    Scene("folded", THREAD, "c"),
    Scene("search", THREAD, "g slash s h i p"),
    Scene("state", THREAD, "g o enter j j right j right"),
    Scene("diff", THREAD, "g o enter 2"),
    Scene("sides", THREAD, "colon 8 enter m full_stop enter d s"),
    Scene("against", THREAD, "g o enter 2 v s t e p : 3"),
    Scene("messages", THREAD, "colon 8 enter enter 3"),
    Scene("markdown", THREAD, "enter 3 c m"),
    Scene("reader", THREAD, "colon 8 enter enter 3 r"),
    Scene("writes", THREAD, "g o enter 4"),
    Scene("graph", THREAD, "g o enter 5"),
    Scene("info", THREAD, "enter 6"),
    Scene("history", THREAD, "enter G k b"),
    Scene("help", THREAD, "question_mark"),
    Scene("palette", THREAD, "ctrl+p f o r k"),
    Scene("copy", THREAD, "enter G y"),
)
