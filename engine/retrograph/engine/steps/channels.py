"""Channel values of one checkpoint, and which of them are the state's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from retrograph.engine.model import Envelope, RawCheckpoint
from retrograph.engine.serde import Serde
from retrograph.engine.steps.due import OLD_FORMAT
from retrograph.engine.values import Delta, Value, field


def channel_values(raw: RawCheckpoint, serde: Serde) -> dict[str, Any]:
    """All stored channel values of a checkpoint, inert; empty where its body is unreadable."""
    values = named(field(serde.decode(raw.checkpoint), "channel_values"))
    values.update((channel, serde.decode(blob)) for channel, blob in raw.blobs.items())
    # A DeltaChannel that is stored here needs no reducer: its value is the snapshot.
    return {c: v.snapshot if isinstance(v, Delta) else v for c, v in values.items()}


def named(value: Value) -> dict[str, Any]:
    """A map by name, as envelopes have it: of a damaged one, keys may be anything, and it may be
    no map."""
    return {str(k): v for k, v in value.items()} if isinstance(value, Mapping) else {}


@lru_cache(maxsize=4096)
def is_internal(channel: str) -> bool:
    """Whether a channel of this name is LangGraph's own."""
    return channel in ("__start__", "__pregel_tasks") or channel.startswith(
        ("branch:", "join:", "start:")
    )


def split_values(
    values: Mapping[str, Any], envelope: Envelope
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Channel values → (the state's, LangGraph's own), as the contract divides them."""
    state: dict[str, Any] = {}
    internal: dict[str, Any] = {}
    for channel, value in values.items():
        own = (
            is_internal(channel)
            # Until 0.3 a node that has just finished left its name in a channel of its name.
            or (envelope.v < OLD_FORMAT and channel in envelope.seen and value == channel)
        )
        (internal if own else state)[channel] = value
    return state, internal
