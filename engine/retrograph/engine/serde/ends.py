"""A checkpoint told from its two ends, where what lies between are tens of megabytes.

LangGraph for Python writes v, ts, id and `channel_values` first, and after these values
`channel_versions`, `versions_seen` and `updated_channels` (`Checkpoint` in langgraph-checkpoint).
The values are needed for one thing only, which channels have one; and since format 4, of a
checkpoint that a super-step made, `updated_channels` names every channel that can trigger
(`apply_writes` in `langgraph/pregel/_algo.py`: a channel that has been emptied is not named).
Where that does not hold, or could be wrong, the answer is `None`: read it whole.
"""

from __future__ import annotations

from typing import Any, Final

import ormsgpack

from retrograph.engine.model import Envelope, Typed
from retrograph.engine.serde.codec import Serde
from retrograph.engine.serde.envelopes import TASKS, decode_metadata
from retrograph.engine.serde.slices import USUAL

START_LENGTH: Final = 256
"""Bytes of the beginning that are asked for; the usual one has about a hundred."""
END_LENGTH: Final = 1 << 16

_BEHIND: Final = b"\xb0channel_versions"
_MAP: Final = 0x80


def envelope_of_ends(
    ns: str,
    checkpoint_id: str,
    parent_id: str | None,
    kind: str | None,
    start: bytes,
    end: bytes,
    metadata: Typed,
    serde: Serde,
) -> Envelope | None:
    """The envelope of a stored checkpoint that begins with `start` and ends with `end`. `present`
    holds only what the last super-step wrote. `None` where the ends do not prove what is due."""
    begins = USUAL.match(start)
    if kind != "msgpack" or begins is None or begins[1] != b"\x04":
        return None
    behind = _behind(end, pairs=(start[0] & 0x0F) - 4)
    told = decode_metadata(metadata, serde)
    if behind is None or told.get("source") != "loop":
        return None
    versions, seen = behind["channel_versions"], behind["versions_seen"]
    updated = behind["updated_channels"]
    if TASKS in updated or any(channel.startswith("join:") for channel in versions):
        # Who has arrived at a join, and where a Send goes, stands among the values.
        return None
    return Envelope(
        ns=ns,
        id=checkpoint_id,
        parent_id=parent_id,
        v=4,
        versions=versions,
        seen=seen,
        updated=updated,
        present=frozenset(updated),
        control={},
        sends=(),
        metadata=told,
    )


def _behind(end: bytes, pairs: int) -> dict[str, Any] | None:
    """What stands behind the values, if that is all of it and of its usual types."""
    at = end.rfind(_BEHIND)
    if at < 0 or not 3 <= pairs <= 0x0F:
        return None
    try:
        # As a map of its own: it must end where the checkpoint ends.
        found = ormsgpack.unpackb(bytes((_MAP | pairs,)) + end[at:])
    except (ValueError, TypeError):
        return None
    versions, seen, updated = map(
        found.get, ("channel_versions", "versions_seen", "updated_channels")
    )
    if len(found) != pairs or type(versions) is not dict or type(seen) is not dict:
        return None
    if type(updated) is not list or not all(type(name) is str for name in updated):
        return None
    if not all(map(_is_versions, (versions, *seen.values()))):
        return None
    return dict(found)


def _is_versions(value: Any) -> bool:
    return type(value) is dict and all(type(k) is str and type(v) is str for k, v in value.items())
