"""The memory that a host and the viewer share: what was told is read exactly, or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrograph.engine.host.worker.ring import SIZE, Ring, memory


@contextmanager
def ends() -> Iterator[tuple[Ring, Ring]]:
    """Both sides of one ring."""
    fd = memory()
    writer, reader = Ring(fd), Ring(fd)
    os.close(fd)
    try:
        yield writer, reader
    finally:
        writer.close()
        reader.close()


PARTS = st.lists(st.integers(0, SIZE) | st.integers(0, 300), min_size=1, max_size=12)


@given(PARTS, st.integers(0, 3 * SIZE))
def test_every_position_that_still_stands_is_read(parts: list[int], start: int) -> None:
    whole = b""
    with ends() as (writer, reader):
        for number, count in enumerate(parts):
            part = bytes((number * 31 + i) % 251 for i in range(min(count, 500)))
            part = (part * (count // max(1, len(part)) + 1))[:count]
            writer.write(part)
            whole += part
            assert writer.end == len(whole)
            assert reader.after(len(whole) - count) == part
            assert writer.between(len(whole) - count, len(whole)) == part
        stands = len(whole) - SIZE <= start <= len(whole)
        assert reader.after(start) == (whole[start:] if stands else b"")


def test_an_untouched_ring_holds_nothing() -> None:
    with ends() as (_, reader):
        assert reader.after(0) == b""
        assert reader.after(5) == b""


WRITES = """
import sys
from retrograph.engine.host.worker.ring import Ring
ring = Ring(int(sys.argv[1]))
while True:
    ring.write(b"x" * 50)
"""


def test_a_position_is_never_half_written() -> None:
    """The process that writes may end between any two instructions."""
    fd = memory()
    ring = Ring(fd)
    command = [sys.executable, "-c", WRITES, str(fd)]
    with subprocess.Popen(command, pass_fds=[fd]) as writer:
        try:
            while not ring.counts():
                time.sleep(0.01)
            seen = [ring.counts() for _ in range(200_000)]
        finally:
            writer.kill()
    os.close(fd)
    ring.close()
    assert seen == sorted(seen)
    assert seen[-1] > seen[0]
    assert not any(position % 50 for position in seen)


class Stops:
    """Memory that cannot be written any more."""

    def __setitem__(self, where: Any, data: bytes) -> None:
        raise KeyboardInterrupt


def test_what_is_being_written_over_is_not_read() -> None:
    with ends() as (writer, reader):
        writer.write(b"a" * SIZE)
        memory_, writer._memory = writer._memory, Stops()  # type: ignore[assignment]
        with pytest.raises(KeyboardInterrupt):
            writer.write(b"b" * 10)
        writer._memory = memory_
        assert reader.after(9) == b""
        assert reader.after(10) == b"a" * (SIZE - 10)
