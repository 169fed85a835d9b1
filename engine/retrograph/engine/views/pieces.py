"""Text that comes in pieces and is shown as it comes, though what must not be seen may be torn
between two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from retrograph.engine.views.redact import Redactor

Key = tuple[str, ...]
About = TypeVar("About")


def shown_speech(text: str, redactor: Redactor) -> str:
    """What a model said as far as it may be seen: as the content of its message is."""
    shown = redactor.value({"content": text})
    return str(shown["content"]) if isinstance(shown, dict) else str(shown)


class Pieces(Generic[About]):
    """Texts that come at the same time, each with a key: let through at once where nothing is
    hidden, else line by line, each as far as it may be seen."""

    def __init__(self, redactor: Redactor, shown: Callable[[str], str]) -> None:
        """`shown` is given whole lines."""
        self._redactor = redactor
        self._shown = shown
        self._held: dict[Key, tuple[About, str]] = {}
        """The beginnings of lines, and what was said about their newest pieces."""

    def add(self, key: Key, piece: str, about: About) -> str:
        """What may be seen by now, of this piece and of what was held back before it."""
        if not self._redactor.hides_values:
            return piece
        _, before = self._held.pop(key, (about, ""))
        lines, newline, rest = (before + piece).rpartition("\n")
        if rest:
            self._held[key] = (about, rest)
        return self._shown(lines + newline) if newline else ""

    def end(self, *beginning: str) -> Iterator[tuple[About, str]]:
        """What was held back of the texts whose keys begin so: they have ended."""
        for key in [key for key in self._held if key[: len(beginning)] == beginning]:
            about, rest = self._held.pop(key)
            yield about, self._shown(rest)
