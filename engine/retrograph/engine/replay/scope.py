"""Which nodes may run from a checkpoint on, by the edges of the graph and by what ran before.

Edges tell where nodes may go, but not where a router may that does not state its ends (so, all of
its graph) or a `Command`: so nodes that no edge leads to from the start are among them, and those
to which on the original line only a `Command` can have led.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from retrograph.engine.host.requests import Topology
from retrograph.engine.model import ROOT, CheckpointKey
from retrograph.engine.replay.asked import Key, is_edge, key_of
from retrograph.engine.replay.recordings import Recordings, bare
from retrograph.engine.sandbox.closure import begun_at, levels_of, owner
from retrograph.engine.thread import Thread
from retrograph.engine.threads.producers import unedited


def may_run(
    topology: Topology,
    thread: Thread,
    key: CheckpointKey,
    recordings: Recordings,
    *,
    goes_on: bool = False,
    goto: Sequence[str] = (),
) -> set[Key]:
    """The nodes that may run from a checkpoint, with the sub-graphs that they are in. `topology`:
    with sub-graphs opened; `goes_on`: what its tasks have begun is gone on with; `goto`: what is
    due instead of all that is."""
    ways = _Ways(topology)
    due = goto or thread.step(key.ns, key.id).next
    begins = [_full(key.ns, node) for node in goto] or list(_begins(thread, key, goes_on))
    usual = list(_due_at(thread, key))
    if key.ns != ROOT:
        around = list(_around(thread, key))
        begins += [name for name, finished in around if not finished]
        usual += [name for name, _ in around]
    known = ways.keys(usual)
    strange = [_full(*one) for one in recordings if one not in known]
    named = {key_of(_full(key.ns, node)) for node in due if node != "__start__"}
    return ways.keys([*begins, *strange]) | named


def _due_at(thread: Thread, key: CheckpointKey) -> Iterator[str]:
    """What was due before edits of ours turned routes, by full names: `sub:node`."""
    for node in thread.step(key.ns, unedited(thread, key.ns, key.id)).next:
        yield _full(key.ns, node)


def _begins(thread: Thread, key: CheckpointKey, goes_on: bool) -> Iterator[str]:
    """The nodes that run first. `node:__end__` stands for what follows one that has finished."""
    step = thread.step(key.ns, key.id)
    if not step.next and key.ns != ROOT:
        yield _full(key.ns, "__end__")
    begun: dict[str, list[CheckpointKey]] = {}
    for inner in begun_at(thread, key) if goes_on else ():
        begun.setdefault(owner(key.ns, inner.ns)[0], []).append(inner)
    for node in dict.fromkeys(step.next):
        if goes_on and node not in step.waiting:
            yield _full(key.ns, f"{node}:__end__")
        elif node in begun:
            for inner in begun[node]:
                yield from _begins(thread, inner, True)
        else:
            yield _full(key.ns, node)


def _around(thread: Thread, key: CheckpointKey) -> Iterator[tuple[str, bool]]:
    """The tasks beside the sub-graphs that a checkpoint is in, and whether each had finished: then
    it does not run again."""
    levels = levels_of(thread, key.ns, key.id)
    for level, inner in pairwise(levels):
        node, task_id = owner(level.ns, inner.ns)
        for task in thread.step(level.ns, level.id).tasks:
            if (task.id != task_id) if task_id else (task.node != node):
                yield _full(level.ns, task.node), task.finished


class _Ways:
    """The edges of a topology, followed."""

    def __init__(self, topology: Topology) -> None:
        self._every = [node.name for node in topology.nodes]
        self._following: dict[str, set[str]] = {}
        for edge in topology.edges:
            self._following.setdefault(edge.source, set()).add(edge.target)
        for source, target in topology.ways:
            for one in self._opened(source):
                self._following.setdefault(one, set()).update(self._opened(target))
        self._found = self._followed(["__start__"])

    def keys(self, begins: Iterable[str]) -> set[Key]:
        """Those that may run where these run first."""
        todo = [name for begin in begins for name in self._opened(begin)]
        seen = self._followed(todo)
        while True:
            more = [n for n in self._every if n not in seen | self._found and _is_in(n, seen)]
            if not more:
                break
            seen |= self._followed(more)
        keys = {key_of(name) for name in seen if not is_edge(name)}
        around = {ns for ns, _ in keys if ns}
        for ns in around:
            parts = ns.split("|")
            keys |= {key_of(":".join(parts[: n + 1])) for n in range(len(parts))}
        return keys

    def _opened(self, name: str) -> Iterable[str]:
        """The nodes of the graph that a node is, or in which a `__start__` is due; of an `__end__`
        what follows it; else the node itself."""
        ns, _, last = name.rpartition(":")
        inside = self._inside(ns) if ns else []
        if ns and last == "__end__":
            ends = inside or [ns]
            return {n for one in ends for n in self._following.get(one, ()) if n not in inside}
        if ns and last == "__start__":
            return inside
        return self._inside(name) or [name]

    def _inside(self, name: str) -> list[str]:
        return [node for node in self._every if node.startswith(f"{name}:")]

    def _followed(self, begun: Iterable[str]) -> set[str]:
        todo = list(begun)
        seen = set(todo)
        while todo:
            for name in self._following.get(todo.pop(), ()):
                if name not in seen:
                    seen.add(name)
                    todo.append(name)
        return seen


def _is_in(name: str, seen: set[str]) -> bool:
    """Whether a node is of the root graph, or of one that runs."""
    ns = name.rpartition(":")[0]
    return not ns or any(one.startswith(f"{ns}:") for one in seen)


def _full(ns: str, node: str) -> str:
    around = bare(ns).replace("|", ":")
    return f"{around}:{node}" if around else node
