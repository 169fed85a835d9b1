"""Which nodes are due at a checkpoint, told from its channel versions alone.

The rule is LangGraph's own (`prepare_next_tasks` in `langgraph/pregel/_algo.py`): a node is due
when one of its trigger channels has a value and a newer version than the node has seen; and each
pending Send is a task. What needs the graph there, a node's trigger channels, is read here from
their names (`branch:to:X`, `join:a+b:X`, `start:X`, `branch:SRC:COND:X`) and from what the nodes
of the thread have seen so far.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from retrograph.engine.model import Envelope, Version

START = "__start__"
TASKS = "__pregel_tasks"
OLD_FORMAT = 3
"""Below this, static edges are not named in channels but learned from what nodes have seen."""

_RESERVED = frozenset(("__input__", "__interrupt__", "__snapshot_bumps__"))


class Due(NamedTuple):
    """A due task: a node, and the Send it answers (`send`) or the channels that triggered it."""

    node: str
    send: int | None
    triggers: tuple[str, ...]


class Barrier(NamedTuple):
    """A join: `node` waits for all of `joined`, the parts of `join:a+b:node`."""

    channel: str
    joined: str
    node: str


@dataclass(slots=True)
class Learned:
    """What the checkpoints of one namespace tell of its graph."""

    triggers: dict[str, set[str]] = field(default_factory=dict)
    """Trigger channels by node."""
    by_channel: dict[str, set[str]] = field(default_factory=dict)
    """Nodes by trigger channel."""

    @classmethod
    def of(cls, envelopes: Iterable[Envelope]) -> Learned:
        learned = cls()
        for envelope in envelopes:
            learned.add(envelope)
        return learned

    def add(self, envelope: Envelope) -> None:
        for node, seen in envelope.seen.items():
            if node in _RESERVED:
                continue
            known = self.triggers.get(node)
            if known is None:
                known = self.triggers[node] = set()
            if not seen.keys() <= known:
                for channel in seen.keys() - known:
                    self.by_channel.setdefault(channel, set()).add(node)
                known.update(seen)
        for channel in (*envelope.versions, *envelope.present):
            node_of = named_destination(channel, envelope.v)
            if node_of is not None and channel not in self.triggers.get(node_of, ()):
                self.triggers.setdefault(node_of, set()).add(channel)

    @property
    def entry(self) -> set[str]:
        """Nodes that the input triggers: `__start__`, or an entrypoint function."""
        return self.by_channel.get(START, set())

    def trigger_sets(self, node: str, fresh: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Candidates for a node's sorted trigger channels, likeliest first, for its task id."""
        known = self.triggers.get(node, set()) | set(fresh)
        options = [known, set(fresh)]
        current = {c for c in known if c.startswith(("branch:to:", "join:"))}
        if current:
            # Since 0.4 every node of a graph also listens to a channel of its own.
            options.insert(0, current | {f"branch:to:{node}"})
        return tuple(dict.fromkeys(tuple(sorted(option)) for option in options if option))


@lru_cache(maxsize=4096)
def named_destination(channel: str, v: int) -> str | None:
    """The node that a trigger channel's name says it leads to, or `None`."""
    if channel.startswith("branch:"):
        parts = channel.split(":")
        if len(parts) == 3 and parts[1] == "to":
            return parts[2]
        if len(parts) >= 4:
            # `branch:SRC:COND:DST`; a condition may be named like a lambda, so from the right.
            return parts[-1]
        return None
    if channel.startswith("join:"):
        return channel.rpartition(":")[2]
    if v < 3 and channel.startswith("start:"):
        return channel[6:]
    return None


@lru_cache(maxsize=1024)
def barrier(channel: str) -> Barrier | None:
    """`join:a+b:X` → (channel, "a+b", "X"); `None` for other channels."""
    if not channel.startswith("join:"):
        return None
    joined, _, node = channel[5:].rpartition(":")
    return Barrier(channel, joined, node)


def names_in(value: Any) -> tuple[Collection[str], bool]:
    """A barrier's stored value → (names that have arrived, whether the run has finished).

    A deferred join stores the pair `[names, finished]`; a plain one only the names.
    """
    items = _items(value)
    if len(items) == 2 and isinstance(items[1], bool):
        return {n for n in _items(items[0]) if isinstance(n, str)}, items[1]
    return {n for n in items if isinstance(n, str)}, True


def is_full(joined: str, names: Collection[str]) -> bool:
    """Whether all of `a+b` have arrived. Names may hold a `+`, so lengths are compared."""
    if not names:
        return False
    return sum(map(len, names)) + len(names) - 1 == len(joined) and all(n in joined for n in names)


def available(envelope: Envelope, channel: str) -> bool:
    """Whether a trigger channel that has a stored value would trigger."""
    if channel.startswith("join:"):
        gate = barrier(channel)
        names, finished = names_in(envelope.control.get(channel))
        return gate is not None and finished and is_full(gate.joined, names)
    if channel.startswith("branch:to:"):
        # A deferred node: `[value, finished]`.
        items = _items(envelope.control.get(channel))
        if len(items) == 2 and isinstance(items[1], bool):
            return items[1]
    return True


def due_tasks(envelope: Envelope, learned: Learned, *, ignore: Collection[str] = ()) -> list[Due]:
    """Everything due at a checkpoint: Sends in their order, then nodes by name.

    `ignore` are channels whose stored value is known to be wrong.
    """
    due = [Due(node, index, ()) for index, node in enumerate(envelope.sends)]
    fresh: dict[str, list[str]] = {}
    null = _null(envelope.versions)
    if null is None:
        return due
    for channel in envelope.present:
        if channel in ignore:
            continue
        nodes: Iterable[str] = learned.by_channel.get(channel, ())
        named = named_destination(channel, envelope.v)
        if named is not None:
            nodes = {*nodes, named}
        elif channel == START:
            nodes = nodes or (START,)
        elif not nodes:
            continue
        if not available(envelope, channel):
            continue
        version = envelope.versions.get(channel, null)
        for node in nodes:
            if newer(version, envelope.seen.get(node), channel, null):
                fresh.setdefault(node, []).append(channel)
    due.extend(Due(node, None, tuple(sorted(fresh[node]))) for node in sorted(fresh))
    return due


def newer(
    version: Version, seen: Mapping[str, Version] | None, channel: str, null: Version
) -> bool:
    """Whether a channel's version is news to a node."""
    if seen is None:
        return True
    before = seen.get(channel, null)
    try:
        return version > before  # type: ignore[operator]
    except TypeError:
        # Versions of two kinds in one checkpoint: a store that was moved between backends.
        return str(version) > str(before)


def _null(versions: Mapping[str, Version]) -> Version | None:
    for version in versions.values():
        return type(version)()
    return None


def _items(value: Any) -> list[Any]:
    if value is None or isinstance(value, str | bytes | Mapping):
        return []
    return list(value) if isinstance(value, Iterable) else []
