"""A program in a pseudo-terminal: when it draws a frame, how soon after a key, of how many bytes.

The terminal says that it knows synchronized output (mode 2026), so that Textual marks where each
frame begins and ends. A frame is drawn when the last of its bytes has been read. Where the system
allows it, the program runs at a raised priority, ours and the baseline alike: other work on the
machine disturbs it less.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

_PATIENCE = 120
_ASKED, _YES = b"\x1b[?2026$p", b"\x1b[?2026;2$y"
_END = b"\x1b[?2026l"
_PRIORITY = -15


class Frame(NamedTuple):
    """What was drawn at once."""

    at: float
    """When its last byte was read, by `time.perf_counter`."""
    data: bytes


class Answer(NamedTuple):
    """How long the first frame after a key took."""

    seconds: float
    worked: float
    """Of them, those in which the program had a processor: all threads, whatever else ran."""


class Terminal:
    """One run of a program; killed at the end."""

    def __init__(
        self, argv: Sequence[str], folder: Path, columns: int = 120, rows: int = 40
    ) -> None:
        """`folder`: where it runs."""
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        environment["XDG_STATE_HOME"] = str(folder / "state")
        self.began = time.perf_counter()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, 0, _PRIORITY)
            os.chdir(folder)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(argv[0], list(argv), environment)
        self._left = b""
        self._at = self.began
        """When something was read last."""
        self._asked = False
        self.frames: list[Frame] = []

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._fd)

    def sees(self, needle: bytes) -> float:
        """Seconds from the start until a frame with these bytes has been drawn."""
        seen = 0
        while True:
            for frame in self.frames[seen:]:
                if needle in frame.data:
                    return frame.at - self.began
            if needle in self._left:  # the first frames are drawn before the terminal has answered
                return self._at - self.began
            seen = len(self.frames)
            if not self._read(_PATIENCE):
                raise TimeoutError(f"{needle!r} was not drawn")

    def key(self, key: bytes, quiet: float = 0.25) -> Answer:
        """From a key to the end of the first frame drawn after it. First waits until
        nothing has been drawn for `quiet` seconds."""
        self.settle(quiet)
        self.frames.clear()
        before, pressed = self.cpu(), time.perf_counter()
        os.write(self._fd, key)
        while not self.frames:
            if not self._read(_PATIENCE):
                raise TimeoutError(f"{key!r} did nothing")
        return Answer(self.frames[0].at - pressed, self.cpu() - before)

    def until(self, key: bytes, needle: bytes) -> float:
        """Seconds from a key to the end of the frame that shows these bytes."""
        self.settle(0.25)
        self.frames.clear()
        pressed = time.perf_counter()
        os.write(self._fd, key)
        return self.sees(needle) + self.began - pressed

    def settle(self, quiet: float) -> None:
        """Wait until nothing more is drawn."""
        while self._read(quiet):
            pass

    def memory(self) -> int:
        """Resident bytes."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def cpu(self) -> float:
        """Seconds of processor time so far, of the threads that are there."""
        found = 0
        for thread in Path(f"/proc/{self.pid}/task").iterdir():
            with contextlib.suppress(OSError):  # one that has ended meanwhile
                found += int((thread / "schedstat").read_text().split()[0])
        return found / 1e9

    def _read(self, seconds: float) -> bool:
        """Read what there is; whether there was anything within so many seconds."""
        if not select.select([self._fd], [], [], seconds)[0]:
            return False
        try:
            self._left += os.read(self._fd, 1 << 16)
        except OSError as error:
            raise TimeoutError(f"the program ended: {self._left[-2000:]!r}") from error
        self._at = time.perf_counter()
        if not self._asked and _ASKED in self._left:
            self._asked = True
            os.write(self._fd, _YES)
        *frames, self._left = self._left.split(_END)
        self.frames += [Frame(self._at, data) for data in frames]
        return True
