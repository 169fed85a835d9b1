"""Hold: a child of a checkpoint with some channels' values changed and nothing else.

All that is due stays due. No router and no validator runs, and a reducer only where it is asked.
LangGraph's `update_state` does otherwise: it clears every due node that `as_node` does not name.
"""

from __future__ import annotations

import sys
from typing import Any

from .coerce import fits_schema, fitted
from .deltas import is_delta
from .faults import RequestError, described
from .scratch import Scratch, stamped

INPUT = "__start__"
COUNTERS = "counters_since_delta_snapshot"
_MISSING: Any = object()


class Hold:
    """One edit being made. `edits`: (channel, "set" or "reduce", value), the value already loaded;
    `EMPTY` empties the channel."""

    EMPTY: Any = object()

    def __init__(self, scratch: Scratch, checkpoint_id: str, metadata: dict[str, Any]) -> None:
        self._scratch = scratch
        self._base = scratch.stored(checkpoint_id)
        if self._base is None:
            raise RequestError(f"The checkpoint {checkpoint_id} is not among the rows.")
        self._metadata = metadata
        self._graph = scratch.graph
        self.warnings: list[str] = []
        self.values: dict[str, Any] = {}
        """The edited channels' values as a node would see them; an emptied one is absent."""
        self._deltas: dict[str, Any] = {}

    @property
    def step(self) -> int:
        """The step of the child."""
        return int(self._base.metadata.get("step") or 0) + 1

    def make(self, edits: list[tuple[str, str, Any]]) -> str:
        """Make the child, in the scratch; returns its id. Raises `RequestError`."""
        base = self._base.checkpoint
        checkpoint = stamped(base, self.step)
        checkpoint["channel_values"] = dict(base["channel_values"])
        checkpoint["channel_versions"] = dict(base["channel_versions"])
        checkpoint["updated_channels"] = None
        triggers = {t for node in self._graph.nodes.values() for t in node.triggers}
        for name, how, value in edits:
            self._edit(checkpoint, name, how, value)
            if name == INPUT or name not in triggers:
                checkpoint["channel_versions"][name] = self._version(checkpoint, name)
        self._check_schema(checkpoint, [name for name, _, _ in edits])
        self._scratch.put(base["id"], checkpoint, self.metadata())
        return str(checkpoint["id"])

    def metadata(self) -> dict[str, Any]:
        """The child's metadata: an update, with our own keys, and the counters of DeltaChannels
        that were not edited."""
        old = self._base.metadata
        made = {
            **self._metadata,
            "source": "update",
            "step": self.step,
            "parents": old.get("parents", {}),
        }
        counters = {k: v for k, v in (old.get(COUNTERS) or {}).items() if k not in self._deltas}
        if counters:
            made[COUNTERS] = counters
        return made

    def keep_deltas(self, checkpoint: dict[str, Any]) -> None:
        """Put the edited DeltaChannels' values into a later checkpoint, to stand alone."""
        checkpoint["channel_values"].update(self._deltas)

    def _edit(self, checkpoint: dict[str, Any], name: str, how: str, value: Any) -> None:
        channel = self._channel(name)
        stored = checkpoint["channel_values"]
        old = stored.get(name, _MISSING)
        if is_delta(channel):
            made = self._delta(name, channel, how, value)
            stored[name] = self._deltas[name] = made
            if value is not self.EMPTY:
                self.values[name] = made.value
            return
        if value is self.EMPTY:
            stored.pop(name, None)
            return
        if name == INPUT:
            stored[name] = self.values[name] = self.input(value)
            return
        filled = _filled(channel, old)
        try:
            if how == "reduce":
                filled.update([value])
            else:
                previous = (old,) if old is not _MISSING else ()
                _assign(filled, fitted(name, channel, value, *previous))
            stored[name] = filled.checkpoint()
            self.values[name] = filled.get()
        except RequestError:
            raise
        except Exception as error:
            raise RequestError(
                f"'{name}' cannot take the value: {described(error)['sentence']}"
            ) from error

    def _delta(self, name: str, channel: Any, how: str, value: Any) -> Any:
        from langgraph.checkpoint.serde.types import _DeltaSnapshot

        if value is self.EMPTY:
            return _DeltaSnapshot(channel.from_checkpoint(None).get())
        if how == "set":
            return _DeltaSnapshot(fitted(name, channel, value))
        current = self._scratch.state(self._base.checkpoint["id"]).values.get(name)
        made = channel.from_checkpoint(None if current is None else _DeltaSnapshot(current))
        try:
            made.update([value])
        except Exception as error:
            raise RequestError(
                f"'{name}' cannot take the value: {described(error)['sentence']}"
            ) from error
        return _DeltaSnapshot(made.get())

    def input(self, value: Any) -> Any:
        """An input, each plain channel's value made to fit. Raises `RequestError`."""
        if isinstance(value, (str, bytes, int, float, list, tuple, type(None))):
            channels = self._graph.channels
            if hasattr(self._graph, "builder") and "__root__" not in channels:
                raise RequestError(
                    f"The input must be a map from channels to values, not {type(value).__name__}."
                )
        if not isinstance(value, dict):
            return value
        made = {}
        for name, part in value.items():
            channel = self._graph.channels.get(name)
            if channel is None:
                self.warnings.append(f"The graph has no channel '{name}': it will drop it.")
                made[name] = part
            else:
                plain = type(channel).__name__ == "LastValue"
                made[name] = fitted(name, channel, part) if plain else part
        return made

    def _channel(self, name: str) -> Any:
        channels = self._graph.channels
        channel = channels.get(name)
        kind = type(channel).__name__
        if name == INPUT and name in self._base.checkpoint["channel_values"]:
            return channel
        if (
            channel is None
            or name.startswith(("branch:", "join:", "__"))
            or name in self._graph.nodes
        ):
            raise RequestError(_unknown(name, channels, self._graph.nodes))
        if kind == "UntrackedValue":
            raise RequestError(
                f"'{name}' is never stored (UntrackedValue), so it cannot be edited."
            )
        if not hasattr(channel, "from_checkpoint"):
            raise RequestError(f"'{name}' is computed by LangGraph, so it cannot be edited.")
        return channel

    def _version(self, checkpoint: dict[str, Any], name: str) -> Any:
        versions = list(checkpoint["channel_versions"].values())
        newest = max(versions, key=_number) if versions else None
        return self._scratch.saver.get_next_version(newest, None)

    def _check_schema(self, checkpoint: dict[str, Any], edited: list[str]) -> None:
        """A Pydantic state must take the edited values; what else it refuses is said."""
        schema = getattr(getattr(self._graph, "builder", None), "state_schema", None)
        if schema is None:
            schema = getattr(getattr(self._graph, "builder", None), "schema", None)
        for name, why in fits_schema(schema, checkpoint["channel_values"]):
            if name in edited:
                raise RequestError(f"The state does not take '{name}': {why}.")
            self.warnings.append(f"The state does not take '{name or 'the values'}' either: {why}.")


def _filled(channel: Any, old: Any) -> Any:
    """A channel of its own with the stored value in it."""
    if old is not _MISSING:
        return channel.from_checkpoint(old)
    missing = getattr(sys.modules[type(channel).__module__], "MISSING", None)
    return channel.copy() if missing is None else channel.from_checkpoint(missing)


def _assign(channel: Any, value: Any) -> None:
    kind = type(channel).__name__
    if kind == "BinaryOperatorAggregate":
        channel.value = value
    elif kind == "Topic":
        channel.values = list(value)
    else:
        channel.update([value])


def _number(version: Any) -> float:
    return float(str(version).partition(".")[0])


def _unknown(name: str, channels: Any, nodes: Any) -> str:
    from difflib import get_close_matches

    known = [c for c in channels if not c.startswith(("branch:", "join:", "__")) and c not in nodes]
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"it has {', '.join(known) or 'none'}."
    return f"The graph's state has no '{name}'; {hint}"
