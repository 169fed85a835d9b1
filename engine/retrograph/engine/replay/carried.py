"""What a checkpoint's metadata carries of the config that its run was called with.

LangGraph stores the scalars of `config["configurable"]` and `config["metadata"]` there; a replay
is called with them again, so that nodes and routers that read a user's id find it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_OURS: Final = frozenset(
    (
        *("source", "step", "parents", "writes", "run_id", "run_attempt", "thread_id"),
        *("thread_ts", "checkpoint_id", "checkpoint_ns", "checkpoint_map"),
        "counters_since_delta_snapshot",
    )
)
_PREFIXES: Final = ("__", "langgraph_", "retrograph_", "$")


def carried(metadata: Mapping[str, Any]) -> dict[str, str | int | float | bool]:
    """The scalars that came from the config."""
    return {
        key: value
        for key, value in metadata.items()
        if isinstance(value, str | int | float | bool)
        and key not in _OURS
        and not key.startswith(_PREFIXES)
    }


def config_of(metadata: Mapping[str, Any], stated: Mapping[str, Any]) -> dict[str, Any]:
    """A RunnableConfig: what the metadata carries, with `stated` (`--config`) over it."""
    configurable = {**carried(metadata), **stated.get("configurable", {})}
    return {**stated, "configurable": configurable}
