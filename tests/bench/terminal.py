"""A program in a pseudo-terminal: when it first draws something, how soon it answers a key."""

from __future__ import annotations

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

_PATIENCE = 120
_QUIET = 0.12
"""Seconds without output after which what a key set going has been drawn."""


class Terminal:
    """One run of a program at 120 columns and 40 rows; killed at the end."""

    def __init__(self, argv: Sequence[str]) -> None:
        self.began = time.perf_counter()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            os.execv(argv[0], list(argv))
        self._seen = b""

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
        """Seconds from the start until these bytes have been drawn."""
        while needle not in self._seen:
            if not self._wait(_PATIENCE):
                raise TimeoutError(f"{needle!r} was not drawn")
            self._seen += os.read(self._fd, 1 << 16)
        return time.perf_counter() - self.began

    def key(self, key: bytes) -> float:
        """Seconds from a key to the first that is drawn for it; then waits until all is."""
        self.settle()
        pressed = time.perf_counter()
        os.write(self._fd, key)
        answered = self._wait(_PATIENCE)
        took = time.perf_counter() - pressed
        if not answered:
            raise TimeoutError(f"{key!r} did nothing")
        return took

    def settle(self, quiet: float = _QUIET) -> None:
        """Wait until nothing more is drawn."""
        while self._wait(quiet):
            os.read(self._fd, 1 << 16)

    def memory(self) -> int:
        """Resident bytes."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def cpu(self) -> float:
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _wait(self, seconds: float) -> bool:
        return bool(select.select([self._fd], [], [], seconds)[0])
