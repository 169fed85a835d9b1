"""What of a value cannot be stored, and where in it that is.

LangGraph's serializer says only of what type it was, from deep inside of LangGraph.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Callable

from langgraph.types import Send

from .faults import PlainError, message

Dumps = Callable[[Any], Any]
_DEEP = 50
"""Steps into a value at most."""
_PULLED = re.compile(r"~__pregel_pull, (.+)", re.DOTALL)
"""The path of a task that its channels triggered (`langgraph.pregel._algo`)."""


def unstored(channel: str, value: Any, error: Exception, dumps: Dumps, path: str = "") -> Exception:
    """The exception that says it. `path`: of the task that wrote the value, if it is known."""
    if isinstance(value, Send):
        channel, value = f"its Send to {value.node}", value.arg
    place, leaf = _culprit(value, dumps)
    found = _PULLED.fullmatch(path)
    kind = type(leaf).__qualname__
    if type(leaf).__module__ != "builtins":
        kind = f"{type(leaf).__module__}.{kind}"
    why = " ".join(message(error).split())
    why = "" if why.startswith("Type is not") else f" ({why})"
    if found is None:
        said = f"{channel}{place} holds a value of type {kind}"
    else:
        said = f"Node '{found[1]}' wrote a value of type {kind} to {channel}{place}"
    return PlainError(f"{said}, which LangGraph cannot store{why}.")


def _culprit(value: Any, dumps: Dumps) -> tuple[str, Any]:
    """(way into the value, innermost part) that cannot be stored."""
    place = ""
    for _ in range(_DEEP):
        for step, part in _parts(value):
            if not _stores(part, dumps):
                place, value = place + step, part
                break
        else:
            break
    return place, value


def _stores(value: Any, dumps: Dumps) -> bool:
    try:
        dumps(value)
    except Exception:
        return False
    return True


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield f"[{key!r}]" if isinstance(key, (str, int)) else "[…]", part
    elif isinstance(value, (list, tuple, deque)):
        names = getattr(value, "_fields", None)
        for at, part in enumerate(value):
            yield f".{names[at]}" if names else f"[{at}]", part
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield f".{field.name}", getattr(value, field.name, None)
    elif hasattr(type(value), "model_fields") or hasattr(type(value), "__fields__"):
        for name, part in vars(value).items():
            yield f".{name}", part
