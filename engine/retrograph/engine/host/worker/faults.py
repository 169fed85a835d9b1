"""Exceptions of the user's code, told with the line that is theirs."""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence
from types import TracebackType
from typing import Any

_OURS = os.path.dirname(os.path.abspath(__file__))
_STANDARD = os.path.dirname(os.path.realpath(os.__file__))
_ROOTS: list[str] = []
_KNOWN: dict[str, bool] = {}
_FOLDERS: dict[str, str] = {}
_SHOWN = 40
"""Frames of a traceback that are shown at most."""
_LONG = 2000
"""Characters of an exception's message that are shown at most."""


class GraphError(Exception):
    """The graph cannot be loaded; the message is the sentence to say."""


class RequestError(Exception):
    """What was asked cannot be done; the message is the sentence to say."""


class PlainError(TypeError):
    """What the user's code did wrong and no line of it shows; the message is the sentence."""


def set_roots(roots: Sequence[str]) -> None:
    """The project's folders: frames in them are the user's."""
    _ROOTS[:] = [os.path.realpath(root) for root in roots]
    _KNOWN.clear()
    _FOLDERS.clear()


def is_users(file: str) -> bool:
    """Whether a file is the project's own code, not a package installed inside its folder."""
    known = _KNOWN.get(file)
    if known is None:
        # "<frozen importlib>", "<string>": no files.
        known = _KNOWN[file] = file[:1] not in ("", "<") and _is_users(_real(file))
    return known


def _real(file: str) -> str:
    """`os.path.realpath`, each folder once: it is asked of all modules that are loaded."""
    folder, name = os.path.split(file)
    real = _FOLDERS.get(folder)
    if real is None:
        real = _FOLDERS[folder] = os.path.realpath(folder)
    path = os.path.join(real, name)
    return os.path.realpath(path) if os.path.islink(path) else path


def _is_users(path: str) -> bool:
    if path.startswith((_OURS + os.sep, _STANDARD + os.sep)):
        return False
    for root in _ROOTS:
        if path.startswith(root.rstrip(os.sep) + os.sep):
            inside = path[len(root) :].split(os.sep)
            return "site-packages" not in inside and "dist-packages" not in inside
    return False


def place(file: str, line: int | None) -> str:
    """`app.py:12`, relative to the project where it is inside."""
    path = os.path.realpath(file)
    for root in _ROOTS:
        if path.startswith(root.rstrip(os.sep) + os.sep):
            path = os.path.relpath(path, root)
            break
    return path if line is None else f"{path}:{line}"


def message(error: BaseException) -> str:
    """An exception's own words; its `__str__` may be broken."""
    try:
        text = str(error)
    except Exception as broken:
        text = f"its message cannot be shown: {type(broken).__name__}"
    return text if len(text) <= _LONG else text[:_LONG] + "…"


def one_line(error: BaseException) -> str:
    """`KeyError: 'x'`, on one line, of an exception group its first member."""
    inner = getattr(error, "exceptions", None)
    if isinstance(inner, (tuple, list)) and inner and isinstance(inner[0], BaseException):
        return one_line(inner[0])
    text = " ".join(message(error).split())
    text = text if len(text) <= 300 else text[:300] + "…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def users_frame(error: BaseException) -> traceback.FrameSummary | None:
    """The innermost frame of the project's code, also of what caused the exception."""
    seen = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        if isinstance(current, SyntaxError) and current.filename and is_users(current.filename):
            return traceback.FrameSummary(current.filename, current.lineno or 0, "<module>")
        found = [f for f in traceback.extract_tb(current.__traceback__) if is_users(f.filename)]
        if found:
            return found[-1]
        current = current.__cause__ or current.__context__
    return None


def described(error: BaseException, node: str | None = None) -> dict[str, Any]:
    """An exception for the viewer: type, message, traceback, the user's file and line."""
    frame = users_frame(error)
    where = f" at {place(frame.filename, frame.lineno)}" if frame is not None else ""
    who = f"Node '{node}' failed" if node else "It failed"
    plain = isinstance(error, PlainError)
    if plain:
        sentence = message(error)
    elif isinstance(error, SystemExit):
        code = "" if error.code is None else repr(error.code)
        who = f"Node '{node}'" if node else "The graph's code"
        sentence = f"{who} called sys.exit({code}){where}, which ends the run."
    else:
        sentence = f"{who}{where}: {one_line(error)}."
    return {
        "type": "TypeError" if plain else _qualified(type(error)),
        "message": message(error),
        "traceback": "" if plain else traceback_text(error),
        "node": node,
        "file": os.path.realpath(frame.filename) if frame is not None else None,
        "line": frame.lineno if frame is not None else None,
        "sentence": sentence,
    }


def traceback_text(error: BaseException) -> str:
    """The traceback from the first frame of the user's code on; whole where there is none."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and not is_users(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    if trace is None:
        trace = error.__traceback__
        while trace is not None and _is_ours(trace):
            trace = trace.tb_next
    try:
        told = traceback.TracebackException(
            type(error), error, trace, limit=-_SHOWN, lookup_lines=True, capture_locals=False
        )
        return "".join(told.format(chain=_chained(error)))
    except Exception:
        return one_line(error) + "\n"


def _chained(error: BaseException) -> bool:
    """Whether what an exception was raised from is worth showing: where it has user's frames."""
    cause = error.__cause__ or error.__context__
    return cause is not None and users_frame(cause) is not None


def _is_ours(trace: TracebackType) -> bool:
    return os.path.realpath(trace.tb_frame.f_code.co_filename).startswith(_OURS + os.sep)


def _qualified(cls: type) -> str:
    return (
        cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    )
