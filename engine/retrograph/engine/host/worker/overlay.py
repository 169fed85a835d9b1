"""A store and a cache over the user's own: reads fall through, writes stay in this process.

What a node stores is seen by later nodes and gone with the host; what lies below is neither
changed nor, where its items expire, kept alive by being read.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

from langgraph.cache.base import BaseCache
from langgraph.store.base import (
    BaseStore,
    GetOp,
    ListNamespacesOp,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

_Key = tuple[tuple[str, ...], str]
_ALL = 1_000_000


class OverlayStore(BaseStore):
    """A store over `base`. In a batch, reads see what was there before its writes."""

    __slots__ = ("_gone", "_local", "_lock", "_put", "base")

    def __init__(self, base: Any) -> None:
        self.base = base
        index = getattr(base, "index_config", None)
        try:
            self._local = InMemoryStore(index=index)
        except Exception:  # its index is of a kind that needs the base
            self._local = InMemoryStore()
        self._put: set[_Key] = set()
        self._gone: set[_Key] = set()
        self._lock = threading.RLock()

    @property
    def supports_ttl(self) -> bool:  # type: ignore[override]
        return bool(self.base.supports_ttl)

    @property
    def ttl_config(self) -> Any:  # type: ignore[override]
        return self.base.ttl_config

    @property
    def index_config(self) -> Any:
        return getattr(self.base, "index_config", None)

    @property
    def embeddings(self) -> Any:
        return getattr(self.base, "embeddings", None)

    def setup(self) -> None:
        """Nothing to set up: the base is as it is."""

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        listed = list(ops)
        below, here = self._asked(listed)
        return self._answer(
            listed,
            self.base.batch(below) if below else [],
            self._local.batch(here) if here else [],
        )

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        listed = list(ops)
        below, here = self._asked(listed)
        return self._answer(
            listed,
            await self.base.abatch(below) if below else [],
            await self._local.abatch(here) if here else [],
        )

    def _asked(self, ops: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """What is asked of the base and of this layer: one operation each for every read."""
        below: list[Any] = []
        here: list[Any] = []
        with self._lock:
            for op in ops:
                if isinstance(op, GetOp):
                    below.append(_unrefreshed(op))
                    here.append(op)
                elif isinstance(op, SearchOp):
                    hidden = len(self._hidden(op.namespace_prefix))
                    below.append(
                        _unrefreshed(op)._replace(limit=op.limit + op.offset + hidden, offset=0)
                    )
                    here.append(op._replace(limit=op.limit + op.offset, offset=0))
                elif isinstance(op, ListNamespacesOp):
                    for asked in (below, here):
                        asked.append(op._replace(limit=_ALL, offset=0))
        return below, here

    def _answer(self, ops: Sequence[Any], below: list[Any], here: list[Any]) -> list[Any]:
        results: list[Any] = []
        puts: list[Any] = []
        pairs = iter(zip(below, here))
        with self._lock:
            for op in ops:
                if isinstance(op, PutOp):
                    puts.append(op)
                    results.append(None)
                    continue
                under, over = next(pairs)
                if isinstance(op, GetOp):
                    key = (op.namespace, op.key)
                    results.append(
                        over if key in self._put else None if key in self._gone else under
                    )
                elif isinstance(op, SearchOp):
                    results.append(self._found(op, under, over))
                else:
                    names = list(dict.fromkeys([*map(tuple, under), *map(tuple, over)]))
                    results.append(names[op.offset : op.offset + op.limit])
            for op in puts:
                self._write(op)
        return results

    def _found(self, op: Any, under: list[Any], over: list[Any]) -> list[Any]:
        hidden = self._hidden(op.namespace_prefix)
        seen = [item for item in under if (tuple(item.namespace), item.key) not in hidden]
        found = [*over, *seen]  # what was written last comes first
        if op.query:
            found.sort(key=lambda item: -(getattr(item, "score", None) or 0.0))
        return found[op.offset : op.offset + op.limit]

    def _hidden(self, prefix: tuple[str, ...]) -> set[_Key]:
        """Keys below a prefix that the base's items must not show through."""
        return {key for key in self._put | self._gone if key[0][: len(prefix)] == tuple(prefix)}

    def _write(self, op: Any) -> None:
        key = (tuple(op.namespace), op.key)
        if op.value is None:
            self._put.discard(key)
            self._gone.add(key)
        else:
            self._gone.discard(key)
            self._put.add(key)
        self._local.batch([op._replace(ttl=None) if hasattr(op, "ttl") else op])


def _unrefreshed(op: Any) -> Any:
    """A read that does not prolong an item's life."""
    return op._replace(refresh_ttl=False) if hasattr(op, "refresh_ttl") else op


class OverlayCache(BaseCache):  # type: ignore[type-arg]
    """A cache over `base`, whose bytes are read through `serde`, the class gate."""

    def __init__(self, base: Any, serde: Any) -> None:
        super().__init__(serde=serde)
        self.base = base
        base.serde = serde
        self._local: dict[Any, Any] = {}
        self._cleared: set[Any] | None = set()
        """Namespaces that were cleared here; `None`: all."""

    def get(self, keys: Sequence[Any]) -> dict[Any, Any]:
        found, missing = self._here(keys)
        return {**(self.base.get(missing) if missing else {}), **found}

    async def aget(self, keys: Sequence[Any]) -> dict[Any, Any]:
        found, missing = self._here(keys)
        return {**((await self.base.aget(missing)) if missing else {}), **found}

    def set(self, pairs: Any) -> None:
        for key, (value, _) in pairs.items():
            self._local[key] = self.serde.dumps_typed(value)

    async def aset(self, pairs: Any) -> None:
        self.set(pairs)

    def clear(self, namespaces: Sequence[Any] | None = None) -> None:
        if namespaces is None:
            self._local.clear()
            self._cleared = None
            return
        gone = {tuple(namespace) for namespace in namespaces}
        self._local = {k: v for k, v in self._local.items() if tuple(k[0]) not in gone}
        if self._cleared is not None:
            self._cleared |= gone

    async def aclear(self, namespaces: Sequence[Any] | None = None) -> None:
        self.clear(namespaces)

    def _here(self, keys: Sequence[Any]) -> tuple[dict[Any, Any], list[Any]]:
        found = {
            key: self.serde.loads_typed(self._local[key]) for key in keys if key in self._local
        }
        if self._cleared is None:
            return found, []
        gone = self._cleared
        return found, [k for k in keys if k not in found and tuple(k[0]) not in gone]
