"""stdout: one JSON document, or text for people, through a pager where it is long."""

from __future__ import annotations

import codecs
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import IO, Any

from retrograph.cli.paint import Line, coloured, plain

_INSTEAD = {
    "·": "-",
    "…": "~",
    "–": "-",
    "→": ">",
    "×": "x",
    "✓": "v",
    "●": "*",
    "▶": ">",
    "▼": "v",
}
"""Our own signs where the terminal's encoding has none of them, one column each."""


def _plainer(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    sign = error.object[error.start]
    if sign in _INSTEAD:
        return _INSTEAD[sign], error.start + 1
    return codecs.backslashreplace_errors(error)


codecs.register_error("retrograph", _plainer)

_SURROGATE = re.compile("[\ud800-\udfff]")


_PAGE = 120


class ReaderGoneError(Exception):
    """Whoever read our output has closed it: nothing is left to do, and nothing is wrong."""


class Output:
    """Where a command's result goes."""

    def __init__(self, as_json: bool = False) -> None:
        self.json = as_json
        self.terminal = _is_terminal() and not as_json
        self.colour = self.terminal and _wants_colour()
        self.moves = self.terminal and os.environ.get("TERM") != "dumb"
        """Whether what stands on it can be painted over."""
        self.ascii = not (sys.stdout.encoding or "").lower().startswith("utf")
        size = shutil.get_terminal_size((80, 24))
        self.width = size.columns if self.terminal else None
        """Columns; `None` where lines may be as long as they like."""
        self.page = min(size.columns, _PAGE) if self.terminal else None
        """Columns of what is better read on a page than across a wide screen."""
        self.rows = size.lines
        """Lines of the terminal."""

    def document(self, document: Any) -> None:
        """Print one JSON document: indented on a terminal, else on one line. Valid UTF-8."""
        _write([_json(document, 2 if _is_terminal() else None).encode()])

    def lines(self, lines: Iterable[Line]) -> None:
        """Print lines; on a terminal that they do not fit on, through the pager."""
        texts: Iterator[str] = map(coloured if self.colour else plain, lines)
        if self.terminal:
            first = list(islice(texts, self.rows - 1))
            rest = list(islice(texts, 1))
            if rest and self._page(chain(first, rest, texts)):
                return
            texts = chain(first, rest, texts)
        encoding = sys.stdout.encoding or "utf-8"
        _write((text + "\n").encode(encoding, "retrograph") for text in texts)

    def now(self, lines: Iterable[Line]) -> None:
        """Print lines at once and never through a pager: more will follow."""
        encoding = sys.stdout.encoding or "utf-8"
        texts = map(coloured if self.colour else plain, lines)
        _write([(text + "\n").encode(encoding, "retrograph") for text in texts])

    def event(self, event: Any) -> None:
        """Print one JSON object on a line of its own, at once."""
        _write([_json(event, None).encode()])

    def _page(self, texts: Iterator[str]) -> bool:
        """Whether a pager could be had, and showed it."""
        command = _pager()
        if command is None:
            return False
        try:
            pager = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                env={"LESS": "FRX", "LESSCHARSET": "utf-8"} | os.environ,
            )
        except OSError:
            return False
        # Ctrl-C is the pager's while it runs.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            assert pager.stdin is not None
            _feed(pager.stdin, texts)
            pager.wait()
        finally:
            signal.signal(signal.SIGINT, before)
        return True


def _json(document: Any, indent: int | None) -> str:
    separators = None if indent else (",", ":")
    text = json.dumps(
        document, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators
    )
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def _feed(stdin: IO[bytes], texts: Iterator[str]) -> None:
    try:
        for text in texts:
            stdin.write((text + "\n").encode("utf-8", "backslashreplace"))
        stdin.close()
    except BrokenPipeError:
        pass


def _pager() -> list[str] | None:
    """$PAGER, else less or more; `None` where there is none, or it is `cat` or empty."""
    stated = os.environ.get("PAGER")
    if stated is None:
        return next(([name] for name in ("less", "more") if shutil.which(name)), None)
    try:
        command = shlex.split(stated)
    except ValueError:
        return None
    return None if not command or command == ["cat"] else command


def _is_terminal() -> bool:
    try:
        return sys.stdout.isatty()
    except (AttributeError, ValueError):
        return False


def _wants_colour() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _write(chunks: Iterable[bytes]) -> None:
    try:
        out = sys.stdout.buffer
        for chunk in chunks:
            out.write(chunk)
        out.flush()
    except BrokenPipeError as error:
        # Python flushes stdout again at its end, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise ReaderGoneError from error
