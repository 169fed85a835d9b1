"""The bytes of the channel, also in memory that both sides share.

What a host says is one stream of bytes. It is written into a ring at once, and sent over the socket
now and then: so telling something costs no system call, and whatever the process comes to (killed,
crashed, stuck in native code that never lets Python send), all that it told can be read.

Position `p` of the stream stands at `HEAD + p % SIZE`. Before it stand two positions of eight bytes
each: behind the last byte that counts, and behind the last that is being written, which is ahead
of it only meanwhile. Not yet sent bytes are never written over. Both sides use this module.
"""

from __future__ import annotations

import mmap
import os
import tempfile

SIZE = 512 * 1024
"""Bytes that a ring holds."""
_HEAD = 64
_COUNTS, _UNDER_WAY = 0, 1


def memory() -> int:
    """A descriptor of the memory for a new ring; it has no name in any folder."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("retrograph")
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    os.ftruncate(fd, _HEAD + SIZE)
    return fd


class Ring:
    """A ring, by the descriptor of its memory, which may be closed afterwards.

    One side writes (under a lock of its own), the other reads.
    """

    def __init__(self, fd: int) -> None:
        self._memory = mmap.mmap(fd, _HEAD + SIZE)
        # Stored and loaded whole: `struct` would write zeros first, and a process that ends there
        # would have told nothing.
        self._positions = memoryview(self._memory)[:16].cast("Q")
        self.end = self.counts()
        """The position behind the last byte, as this side wrote it."""

    def write(self, data: bytes) -> None:
        """Add bytes, at most `SIZE` together with what has not been sent."""
        self._positions[_UNDER_WAY] = self.end + len(data)
        at = self.end % SIZE
        room = SIZE - at
        if len(data) <= room:
            self._memory[_HEAD + at : _HEAD + at + len(data)] = data
        else:
            self._memory[_HEAD + at : _HEAD + SIZE] = data[:room]
            self._memory[_HEAD : _HEAD + len(data) - room] = data[room:]
        self.end += len(data)
        # Only now do the bytes count: the process may end between any two instructions.
        self._positions[_COUNTS] = self.end

    def counts(self) -> int:
        """The position behind the last byte that counts."""
        return self._positions[_COUNTS]

    def between(self, start: int, end: int) -> bytes:
        """The bytes of these positions."""
        at, count = start % SIZE, end - start
        room = SIZE - at
        found = self._memory[_HEAD + at : _HEAD + min(at + count, SIZE)]
        return found if count <= room else found + self._memory[_HEAD : _HEAD + count - room]

    def after(self, start: int) -> bytes:
        """What has been written behind a position, read from the other side; empty where that has
        been written over since."""
        end = self.counts()
        if not 0 < end - start <= SIZE:
            return b""
        found = self.between(start, end)
        return found if self._positions[_UNDER_WAY] - start <= SIZE else b""

    def close(self) -> None:
        self._positions.release()
        self._memory.close()
