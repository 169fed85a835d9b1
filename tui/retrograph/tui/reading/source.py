"""An opened source, and what of it may be shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from retrograph.engine.model import Loader
from retrograph.engine.serde import Serde
from retrograph.engine.text import escape
from retrograph.engine.thread import Thread
from retrograph.engine.views.redact import Redactor

LetFold: TypeAlias = "Callable[[Thread], None]"


@dataclass(frozen=True, slots=True)
class Source:
    """What the screens read from."""

    loader: Loader
    given: str
    """As the user named it, for commands that are shown; without secrets."""
    redactor: Redactor
    serde: Serde
    let_fold: LetFold | None = None
    """Given where a graph is: lets a thread show DeltaChannels whole."""

    def thread(self, thread_id: str) -> Thread:
        """A thread that nothing has been read of."""
        thread = Thread(self.loader, thread_id, self.serde)
        if self.let_fold is not None:
            self.let_fold(thread)
        return thread

    @property
    def name(self) -> str:
        """Short, for the header: a file's name, or the location; safe to draw."""
        location = self.redactor.location(self.loader.location)
        return escape(location if "://" in location else Path(location).name)

    @property
    def backend(self) -> str:
        return escape(self.loader.name)

    @property
    def mode(self) -> str:
        return "read-only" if self.loader.read_only else "writable"
