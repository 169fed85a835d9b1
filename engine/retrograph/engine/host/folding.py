"""Whole values of DeltaChannels, folded by the user's reducers in the host."""

from __future__ import annotations

from collections.abc import Mapping

from retrograph.engine.host.client import Host
from retrograph.engine.host.requests import Delta, fold
from retrograph.engine.thread import Thread
from retrograph.engine.values import ABSENT, Value
from retrograph.engine.values import Delta as DeltaValue


def folded(host: Host, thread: Thread, ns: str, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values of a checkpoint of namespace `ns`, those of DeltaChannels folded. Raises
    `HostError` where a reducer raises, or the graph has no such channel."""
    encode = thread.serde.encode
    deltas = [
        Delta(
            channel,
            None if value.snapshot is ABSENT else encode(value.snapshot),
            [encode(write) for write in value.writes],
        )
        for channel, value in values.items()
        if isinstance(value, DeltaValue)
    ]
    if not deltas:
        return dict(values)
    made = fold(host, deltas, ns)
    return {**values, **{name: thread.serde.decode(typed) for name, typed in made.items()}}
