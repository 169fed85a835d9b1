"""What a host printed: all of it is read, the end of it is kept."""

from __future__ import annotations

import codecs
from collections import deque
from dataclasses import dataclass, field

KEPT = 256 * 1024
"""Bytes of each stream that are kept."""


@dataclass(slots=True)
class Tail:
    """The end of a stream."""

    total: int = 0
    """Bytes that came, of which the last `KEPT` or so are kept."""
    _chunks: deque[bytes] = field(default_factory=deque)
    _held: int = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        self._chunks.append(data)
        self._held += len(data)
        while self._held - len(self._chunks[0]) >= KEPT:
            self._held -= len(self._chunks.popleft())

    def text(self) -> str:
        """What is kept, as text; a note first where the beginning is gone."""
        kept = b"".join(self._chunks).decode("utf-8", "backslashreplace")
        gone = self.total - self._held
        return f"… {gone:,} bytes before this\n{kept}" if gone else kept

    def last_line(self) -> str:
        """The last line that is not empty; "" where there is none."""
        lines = [line for line in self.text().splitlines() if line.strip()]
        return lines[-1].strip() if lines else ""


class Decoder:
    """Bytes to text, with characters that are cut between two pieces put together."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("backslashreplace").decode

    def text(self, data: bytes, final: bool = False) -> str:
        return self._decode(data, final)
