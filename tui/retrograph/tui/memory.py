"""What the app remembers from one time to the next: looks, the split, last threads, marks.

It is a small JSON file in the user's state folder (`~/.local/state/retrograph/app.json` on Linux),
never in the source or beside it. A file that cannot be read counts as none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

_SOURCES = 100
"""So many sources are remembered, the last ones."""
_THREADS = 100
"""So many threads with marks a source."""

Marks = Mapping[str, tuple[tuple[str, str], ...]]
"""By thread: (namespace, checkpoint id) of each mark, the newest last."""


_NO_MARKS: Marks = {}


class OfSource(NamedTuple):
    """What is remembered of one source."""

    thread: str | None = None
    """The last thread that was open."""
    marks: Marks = _NO_MARKS


class Memory(NamedTuple):
    """All of it; replaced whole."""

    theme: str | None = None
    split: float | None = None
    """The share of the screen that the history has."""
    sources: Mapping[str, OfSource] = {}
    """By location, the last used one last."""

    def of(self, location: str) -> OfSource:
        return self.sources.get(location, OfSource())

    def with_source(self, location: str, **changes: Any) -> Memory:
        """The same with something else about a source."""
        others = {name: of for name, of in self.sources.items() if name != location}
        kept = dict(list(others.items())[-_SOURCES + 1 :])
        return self._replace(sources={**kept, location: self.of(location)._replace(**changes)})

    def with_marks(
        self, location: str, thread_id: str, marks: tuple[tuple[str, str], ...]
    ) -> Memory:
        """The same with other marks in a thread."""
        others = {t: m for t, m in self.of(location).marks.items() if t != thread_id}
        kept = dict(list(others.items())[-_THREADS + 1 :])
        return self.with_source(location, marks={**kept, thread_id: marks} if marks else kept)


def default_path() -> Path:
    from platformdirs import user_state_path

    return user_state_path("retrograph", appauthor=False) / "app.json"


def load(path: Path | None) -> Memory:
    """What was remembered; nothing where there is no file, or a broken one."""
    if path is None:
        return Memory()
    try:
        text = path.read_text("utf-8")
        # Imported where there is something to read: nothing else before the first frame needs it.
        import json

        return _memory(json.loads(text))
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return Memory()


def save(path: Path | None, memory: Memory) -> None:
    """Write it, readable by its owner alone. Raises `OSError`."""
    if path is None:
        return
    import json

    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f"{path.name}.{os.getpid()}")
    opened = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(opened, "w", encoding="utf-8") as file:
        sources = {name: of._asdict() for name, of in memory.sources.items()}
        json.dump({**memory._asdict(), "sources": sources}, file, ensure_ascii=True, indent=1)
    scratch.replace(path)


def _memory(data: Any) -> Memory:
    split, theme = data.get("split"), data.get("theme")
    return Memory(
        theme=theme if isinstance(theme, str) else None,
        split=split if isinstance(split, float) and 0 < split < 1 else None,
        sources={str(name): _of_source(of) for name, of in data.get("sources", {}).items()},
    )


def _of_source(data: Any) -> OfSource:
    thread = data.get("thread")
    marks = {
        str(thread_id): tuple((str(ns), str(id_)) for ns, id_ in found)
        for thread_id, found in data.get("marks", {}).items()
    }
    return OfSource(thread if isinstance(thread, str) else None, marks)
