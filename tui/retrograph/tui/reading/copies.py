"""The forms in which a checkpoint and a value inside it can be copied."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from retrograph.engine.model import CheckpointKey
from retrograph.engine.paths import pointer
from retrograph.engine.values import Value, to_json
from retrograph.engine.views.summary import one_line
from retrograph.tui.journal import python_of, show_command

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Copy:
    """One form of the selected thing."""

    key: str
    """The letter that picks it."""
    title: str
    text: Callable[[], str]
    preview: str | None = None
    """A short line instead of the text, where making the text takes long."""


def checkpoint_copies(source: str, key: CheckpointKey) -> list[Copy]:
    """`source`: as the user named it, without secrets."""
    return [
        Copy("i", "checkpoint id", lambda: key.id),
        Copy("t", "thread id", lambda: key.thread_id),
        Copy("c", "command that shows it", lambda: show_command(source, key)),
        Copy("P", "Python that reads it", lambda: python_of(source, key)),
    ]


def value_copies(path: Sequence[object], value: Value) -> list[Copy]:
    """`path`: the keys from the state to the value."""
    return [
        Copy("v", "value", lambda: value_text(value), one_line(value, 80)),
        Copy("k", "key", lambda: str(path[-1]) if path else ""),
        Copy("p", "path (JSON Pointer)", lambda: pointer(path)),
        Copy("q", "path (jq)", lambda: jq(path)),
    ]


def value_text(value: Value) -> str:
    """A text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(to_json(value), indent=2, ensure_ascii=False)


def jq(path: Sequence[object]) -> str:
    """A path as jq writes it: `.messages[2]["odd key"]`."""
    parts = []
    for key in path:
        if isinstance(key, int):
            parts.append(f"[{key}]")
        elif isinstance(key, str) and _NAME.fullmatch(key):
            parts.append(f".{key}")
        else:
            parts.append(f"[{json.dumps(str(key), ensure_ascii=False)}]")
    joined = "".join(parts)
    return joined if joined.startswith(".") else f".{joined}"
