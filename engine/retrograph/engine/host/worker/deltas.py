"""A DeltaChannel's whole value: the nearest snapshot and the writes since, folded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .faults import RequestError, described
from .isolate import subgraph
from .wire import Values


def names(graph: Any) -> list[str]:
    """The graph's DeltaChannels."""
    return [name for name, channel in graph.channels.items() if is_delta(channel)]


def is_delta(channel: Any) -> bool:
    return type(channel).__name__ == "DeltaChannel"


def fold(
    graph: Any, request: dict[str, Any], blobs: Sequence[bytes], serde: Any
) -> tuple[dict[str, Any], list[bytes]]:
    """The reply to `fold`: the values by channel. Raises `RequestError`."""
    inner = subgraph(graph, request["ns"])
    if inner is None:
        raise RequestError(f"The graph has no sub-graph {request['ns']!r}.")

    def loaded(stated: dict[str, Any]) -> Any:
        return serde.loads_typed((stated["type"], blobs[stated["blob"]]))

    values = Values()
    found = {}
    for delta in request["deltas"]:
        name = delta["channel"]
        channel = inner.channels.get(name)
        if channel is None or not is_delta(channel):
            raise RequestError(f"The graph has no DeltaChannel '{name}'.")
        seed = None if delta["seed"] is None else loaded(delta["seed"])
        writes = [loaded(write) for write in delta["writes"]]
        try:
            value = folded(channel, seed, writes)
        except Exception as error:
            raise RequestError(
                f"The reducer of '{name}' failed: {described(error)['sentence']}"
            ) from error
        found[name] = values.add(serde.dumps_typed(value))
    return {"values": found}, values.blobs


def folded(channel: Any, seed: Any, writes: list[Any]) -> Any:
    """The value, as LangGraph makes it of a checkpoint's history. No seed: starts empty."""
    made = channel.from_checkpoint(seed)
    if writes:
        made.replay_writes([("", channel.key, write) for write in writes])
    return made.get()
