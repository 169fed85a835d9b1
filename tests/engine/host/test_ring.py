"""The memory that a host and the viewer share: what was told is read exactly, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

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
