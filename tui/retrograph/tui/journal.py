"""The action log: what was done, each with the command that does the same."""

from __future__ import annotations

import shlex
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from retrograph.tui import clock

if TYPE_CHECKING:
    from retrograph.engine.model import CheckpointKey


class Entry(NamedTuple):
    """One thing that was done."""

    what: str
    command: str
    """"" of what was not done by the user."""
    at: datetime


class Journal:
    """Entries, the newest last."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def did(self, what: str, command: str) -> None:
        if not self.entries or self.entries[-1].command != command:
            self.entries.append(Entry(what, command, clock.now()))

    def noted(self, sentence: str) -> None:
        """Something that nobody did: the source was lost, or a part of it is damaged."""
        self.entries.append(Entry(sentence, "", clock.now()))


def command(*words: str) -> str:
    """A command of ours as a shell takes it."""
    return shlex.join(["retrograph", *words])


def tab_command(title: str, source: str, ref: str, other: str | None) -> tuple[str, str] | None:
    """What looking at a tab of the inspector is called, and the command that shows the same;
    `None` where no command does. `other`: what the Diff tab compares with, unless the parent."""
    compared = [other] if other is not None else []
    known: dict[str, tuple[str, list[str]]] = {
        "State": ("looked at the values", ["show", source, ref]),
        "Diff": ("compared", ["diff", source, *compared, ref]),
        "Messages": ("read the messages", ["show", source, ref, "--channel", "messages"]),
        "Writes": ("looked at the writes", ["show", source, ref, "--raw"]),
        "Info": ("looked at the sizes", ["show", source, ref, "--sizes"]),
    }
    found = known.get(title)
    return (found[0], command(*found[1])) if found else None


def show_command(source: str, key: CheckpointKey) -> str:
    """The command that shows a checkpoint."""
    from retrograph.engine.threads.refs import written

    return command("show", source, written(key))


def python_of(source: str, key: CheckpointKey) -> str:
    """Python that reads the same snapshot."""
    return (
        "from retrograph.engine.thread import Thread\n"
        "from retrograph.loaders.registry import open_source\n\n"
        f"thread = Thread(open_source({source!r}), {key.thread_id!r})\n"
        f"snapshot = thread.snapshot({key.ns!r}, {key.id!r})\n"
    )
