"""Where a process was, by what Python's faulthandler wrote of it.

Format: CPython's `Python/traceback.c`, `_Py_DumpTracebackThreads`: threads, each with its frames,
the innermost first. Paths are cut after 500 characters there, and not ASCII ones are escaped.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<name>.*)$', re.MULTILINE)
_THREAD = re.compile(
    r"^(?P<other>Thread 0x)?(?:Current thread 0x)?[^\n]*\(most recent call first\):", re.MULTILINE
)
_FATAL = re.compile(r"^Fatal Python error: (?P<why>.*)$", re.MULTILINE)


class Where(NamedTuple):
    """A line of somebody's code."""

    file: str
    line: int
    name: str
    """The function."""

    def shown(self, project: Path) -> str:
        """`app.py:12`, relative to the project where it is inside."""
        try:
            file = str(Path(self.file).relative_to(project))
        except ValueError:
            file = self.file
        return f"{file}:{self.line}"


def where(text: str, project: Path, worker: Path) -> Where | None:
    """The innermost frame of the project's own code: of the current thread, where it has one,
    else of any; else the innermost frame that is not ours."""
    threads = _threads(text)
    for frames in threads:
        for frame in frames:
            if _belongs(frame.file, project):
                return frame
    for frames in threads[:1]:
        for frame in frames:
            if not Path(frame.file).is_relative_to(worker) and not frame.file.startswith("<"):
                return frame
    return None


def fatal(text: str) -> str | None:
    """What Python said of a fatal error: "Segmentation fault"."""
    found = _FATAL.search(text)
    return found["why"].strip() if found else None


def _threads(text: str) -> list[list[Where]]:
    """The frames of each thread, the current one first."""
    marks = list(_THREAD.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    threads = [
        (mark["other"] is not None, _frames(text[mark.end() : end]))
        for mark, end in zip(marks, ends, strict=False)
    ]
    return [frames for _, frames in sorted(threads, key=lambda thread: thread[0])]


def _frames(text: str) -> list[Where]:
    return [Where(f["file"], int(f["line"]), f["name"]) for f in _FRAME.finditer(text)]


def _belongs(file: str, project: Path) -> bool:
    """Whether it is the project's own code, not a package installed inside its folder."""
    path = Path(file)
    if not path.is_relative_to(project):
        return False
    inside = path.relative_to(project).parts
    return "site-packages" not in inside and not any(part.endswith(".zip") for part in inside)
