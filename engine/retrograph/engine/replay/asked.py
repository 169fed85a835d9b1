"""What a person asks a replay to do with nodes, and how nodes are named in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

from retrograph.engine.errors import UsageError
from retrograph.engine.host.requests import Topology

PolicyName = Literal["finished", "live", "recorded", "stub", "pause"]
Key = tuple[str, str]
"""(sub-graph without task ids, node)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Nodes are named `node`, and inside sub-graphs `sub:node`."""

    stubs: Mapping[str, Any] = field(default_factory=dict)
    """By node what it gives, as JSON."""
    recorded: Sequence[str] = ()
    live: Sequence[str] = ()
    pause_before: Sequence[str] = ()
    goto: Sequence[str] = ()
    """What is due, in place of all that is."""
    again: bool = False
    """Drop what tasks of this very step have already given."""
    line: str | None = None
    """The leaf of the line whose recordings are used."""
    side_effects: Sequence[str] = ()
    """Nodes that reach outside, of the configuration."""

    def policies(self, known: Sequence[Key]) -> dict[Key, PolicyName]:
        """What is asked for, by node. Raises `UsageError` for a node that is not there, and for one
        of which two things are asked."""
        found: dict[Key, PolicyName] = {}
        asked: Sequence[tuple[PolicyName, Sequence[str]]] = (
            ("stub", tuple(self.stubs)),
            ("recorded", self.recorded),
            ("live", self.live),
            ("pause", self.pause_before),
        )
        for policy, names in asked:
            for name in names:
                key = node_key(name, known)
                if found.setdefault(key, policy) != policy:
                    raise UsageError(f"'{name}' cannot be both {found[key]} and {policy}.")
        return found


def named(key: Key) -> str:
    """`sub:node`, as it is written in a call."""
    ns, node = key
    return f"{ns.replace('|', ':')}:{node}" if ns else node


def node_key(name: str, known: Sequence[Key]) -> Key:
    """The node of that name. Raises `UsageError`, with the nearest that is there."""
    ns, _, node = name.replace("|", ":").rpartition(":")
    key = (ns.replace(":", "|"), node)
    if key in known:
        return key
    names = [named(k) for k in known]
    near = get_close_matches(name, names, 1, 0.6)
    hint = f"did you mean '{near[0]}'?" if near else f"it has {', '.join(names)}."
    raise UsageError(f"The graph has no node '{name}'; {hint}")


def nodes_of(topology: Topology) -> list[Key]:
    """All nodes of a topology with its sub-graphs opened: each after the node that is its graph."""
    found: dict[Key, None] = {}
    for node in topology.nodes:
        if node.name in ("__start__", "__end__"):
            continue
        parts = node.name.split(":")
        for depth in range(1, len(parts)):
            found[key_of(":".join(parts[:depth]))] = None
        if not is_edge(node.name):
            found[key_of(node.name)] = None
    return list(found)


def key_of(name: str) -> Key:
    """The node of a topology's name, `sub:node`."""
    ns, _, node = name.rpartition(":")
    return ns.replace(":", "|"), node


def is_edge(name: str) -> bool:
    """Whether it is where a graph begins or ends."""
    return name.rpartition(":")[2] in ("__start__", "__end__")
