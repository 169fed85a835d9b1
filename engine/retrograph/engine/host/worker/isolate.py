"""Around the run a wall: the graph's own checkpointer, store and cache are not written.

The graph gets our saver, and overlays over its store and cache. So do its sub-graphs, and every
other compiled graph in the project's modules (a tool may call one).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel

from .faults import is_users
from .overlay import OverlayCache, OverlayStore
from .saver import WorkerSaver


class Isolation:
    """One host's overlays: two graphs with one store share its overlay."""

    def __init__(self, serde: Any) -> None:
        self._serde = serde
        self._stores: list[Any] = []
        self._caches: list[Any] = []
        self._found: list[Any] | None = None
        """The other graphs of the project, once they are known."""
        self._memory: WorkerSaver | None = None

    def graph(self, graph: Any, saver: Any, served: bool) -> Any:
        """A copy of the graph that has `saver` and the overlays; its sub-graphs and the project's
        other graphs are changed in place."""
        store = self.store(graph.store)
        if store is None and served:
            from langgraph.store.memory import InMemoryStore

            store = InMemoryStore()
        if self._found is None:
            self._found = list(self._others(graph))
        for other in self._found:
            if isinstance(other.checkpointer, BaseCheckpointSaver):
                other.checkpointer = saver
            other.store = self.store(other.store)
            other.cache = self.cache(other.cache)
        update = {"checkpointer": saver, "store": store, "cache": self.cache(graph.cache)}
        return graph.copy(update=update)

    def memory(self) -> WorkerSaver:
        """An empty saver in memory, the same one each time: what it held is gone."""
        if self._memory is None:
            self._memory = WorkerSaver(":memory:", self._serde)
        self._memory.clear()
        return self._memory

    def store(self, base: Any) -> Any:
        if base is None or isinstance(base, OverlayStore):
            return base
        for overlay in self._stores:
            if overlay.base is base:
                return overlay
        self._stores.append(OverlayStore(base))
        return self._stores[-1]

    def cache(self, base: Any) -> Any:
        if base is None or isinstance(base, OverlayCache):
            return base
        for overlay in self._caches:
            if overlay.base is base:
                return overlay
        self._caches.append(OverlayCache(base, self._serde))
        return self._caches[-1]

    def _others(self, graph: Any) -> Iterator[Any]:
        seen: set[int] = {id(graph)}
        found = [sub for _, sub in subgraphs(graph)]
        for module in list(sys.modules.values()):
            if is_users(getattr(module, "__file__", None) or ""):
                found += [v for v in list(vars(module).values()) if isinstance(v, Pregel)]
        while found:
            other = found.pop()
            if id(other) not in seen:
                seen.add(id(other))
                yield other
                found += [sub for _, sub in subgraphs(other)]


def subgraphs(graph: Any) -> list[Any]:
    """(namespace without task ids, `Pregel`) of all sub-graphs, outer ones first."""
    try:
        return [
            (ns, sub) for ns, sub in graph.get_subgraphs(recurse=True) if isinstance(sub, Pregel)
        ]
    except Exception:  # a RemoteGraph among the nodes
        return []


def subgraph(graph: Any, ns: str) -> Any | None:
    """The graph that runs in a namespace; for the root namespace the graph itself."""
    if not ns:
        return graph
    wanted = "|".join(part.split(":")[0] for part in ns.split("|") if not part.isdigit())
    return dict(subgraphs(graph)).get(wanted)
