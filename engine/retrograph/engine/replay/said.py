"""What the models of a run have said so far, by task and message."""

from __future__ import annotations

from typing import Final

from retrograph.engine.host.replies import Event

MOST: Final = 100_000
"""Characters of a message that are kept."""


class Said:
    """Texts of `message` events, put together."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[str, str], dict[str, _Text]] = {}

    def take(self, event: Event) -> None:
        """Note what a `message` event brings."""
        texts = self._tasks.setdefault((event["ns"], event["task"]), {})
        texts.setdefault(str(event["id"]), _Text()).add(event["text"])

    def of(self, ns: str, task: str) -> tuple[str, ...]:
        """The messages of a task, in the order in which they began."""
        return tuple(text.whole for text in self._tasks.get((ns, task), {}).values())

    def end(self, ns: str, task: str) -> tuple[str, ...]:
        """The same, and they are forgotten: the task, or this attempt of it, is over."""
        texts = self.of(ns, task)
        self._tasks.pop((ns, task), None)
        return texts


class _Text:
    """A text that grows."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._room = MOST
        self._lost = 0

    def add(self, part: str) -> None:
        kept = part[: self._room]
        self._room -= len(kept)
        self._lost += len(part) - len(kept)
        if kept:
            self._parts.append(kept)

    @property
    def whole(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        text = self._parts[0] if self._parts else ""
        return f"{text}\n… {self._lost:,} more characters" if self._lost else text
