"""What a checkpoint id says by itself: the step and the time.

LangGraph makes ids as UUID version 6 (RFC 9562 §5.6) with `clock_seq` set to the step, so that
an index of ids alone can be drawn. A step takes 14 bits: it wraps at 16,384, and −1 is 0x3fff.
Ids of other shapes (early stores used ISO times, tests use words) say nothing, which is `None`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

WRAP = 0x4000
"""Steps inside ids are modulo this."""

# 100 ns ticks between the UUID epoch (1582-10-15) and the Unix epoch.
_UNIX_EPOCH_TICKS = 0x01B21DD213814000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_uuid6(checkpoint_id: str) -> bool:
    """Whether the id is a dashed UUID of version 6, as LangGraph makes them."""
    return len(checkpoint_id) == 36 and checkpoint_id[14] == "6" and checkpoint_id[8:24:5] == "----"


def step_of(checkpoint_id: str) -> int | None:
    """The step inside an id, −1 … 16,382; `None` where the id holds none."""
    if not is_uuid6(checkpoint_id):
        return None
    try:
        raw = int(checkpoint_id[19:23], 16) & 0x3FFF
    except ValueError:
        return None
    return -1 if raw == 0x3FFF else raw


def unwrap_step(raw: int, parent_step: int) -> int:
    """The real step, given the 14 bits of the id and the (real) step of the parent.

    A child's step is its parent's plus one, or, for copies, any number of steps on; never
    more than half a wrap away.
    """
    base = parent_step + 1
    offset = (raw - base) % WRAP
    if offset >= WRAP // 2:
        offset -= WRAP
    return base + offset


def first_id_at(when: datetime) -> str:
    """The smallest id of version 6 that a checkpoint made at `when` or later can have."""
    since = when - _EPOCH
    microseconds = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    ticks = min(max(microseconds * 10 + _UNIX_EPOCH_TICKS, 0), 2**60 - 1)
    digits = f"{ticks:015x}"
    return f"{digits[:8]}-{digits[8:12]}-6{digits[12:]}-0000-000000000000"


def time_of(checkpoint_id: str) -> datetime | None:
    """The time inside an id (UTC, within 0.03 ms of the checkpoint's `ts`), or `None`."""
    if is_uuid6(checkpoint_id):
        try:
            ticks = int(checkpoint_id[0:8] + checkpoint_id[9:13] + checkpoint_id[15:18], 16)
            return _EPOCH + timedelta(microseconds=(ticks - _UNIX_EPOCH_TICKS) // 10)
        except (ValueError, OverflowError):
            return None
    if len(checkpoint_id) >= 19 and checkpoint_id[4:5] == "-" and checkpoint_id[10:11] == "T":
        try:
            when = datetime.fromisoformat(checkpoint_id)
            return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
        except (ValueError, OverflowError):
            return None
    return None
