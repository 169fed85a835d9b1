"""What the contract suite stores through a backend's own saver, and so what a loader must give.

Plain data, made without LangGraph; `loaders.fill` puts it into a store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_TICKS = 0x1F1EBF2264B4000


def cid(n: int, step: int = 0) -> str:
    """A checkpoint id as LangGraph makes them: UUID version 6, later ones greater."""
    ticks = f"{_TICKS + n:015x}"
    return f"{ticks[:8]}-{ticks[8:12]}-6{ticks[12:]}-{0x8000 | step & 0x3FFF:04x}-{n:012x}"


@dataclass(frozen=True)
class Put:
    """The writes of one task, in one call of `put_writes`."""

    task_id: str
    path: str
    writes: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Checkpoint:
    ns: str
    id: str
    parent: str | None
    values: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    puts: tuple[Put, ...] = ()


@dataclass(frozen=True)
class Thread:
    id: str
    checkpoints: tuple[Checkpoint, ...]
    orphans: tuple[tuple[str, Put], ...] = ()
    """Writes under checkpoint ids that are not stored."""

    def of(self, ns: str | None = None) -> list[Checkpoint]:
        """In the order of an index."""
        chosen = [c for c in self.checkpoints if ns is None or c.ns == ns]
        return sorted(chosen, key=lambda c: (c.ns, c.id))


DASHED = "1f1ebf22-6534-6eef-bfff-b122ae240704"
ODD_IDS = (
    "1",
    "user-42:conv@home",
    "線程",
    DASHED,
    DASHED.replace("-", ""),
    "",
    "x" * 2000,
    "100%_\\'\"",
    "Straße Ünï",
    " spaces ",
)
LONG = "long"
LONG_LENGTH = 2100
TREE, WRITES = "tree", "writes"
SEND_PAYLOAD = 100_000


def _tree() -> Thread:
    """A fork, a second root, a parent that is gone, and namespaces of which one begins another."""
    root = [
        Checkpoint("", cid(10, -1), None, {"n": 0}, {"source": "input", "step": -1}),
        Checkpoint("", cid(11, 0), cid(10, -1), {"n": 1}, {"source": "loop", "step": 0}),
        Checkpoint("", cid(12, 1), cid(11, 0), {"n": 2}, {"source": "loop", "step": 1}),
        Checkpoint("", cid(13, 1), cid(11, 0), {"n": 3}, {"source": "update", "step": 1}),
        Checkpoint("", cid(20, -1), None, {"n": 4}, {"source": "input", "step": -1}),
        Checkpoint("", cid(22, 1), cid(21, 0), {"n": 5}, {"source": "loop", "step": 1}),
    ]
    sub = [
        Checkpoint(
            ns, cid(100 * i + 30, -1), None, {"s": i}, {"step": -1, "parents": {"": cid(11)}}
        )
        for i, ns in enumerate(
            (
                "parent:1a2b",
                "parent_two:3c4d",
                "parent:1a2b|inner:5e6f",
                "parent_two:3c4d|inner:7a8b",
            )
        )
    ]
    # The same id in two namespaces.
    twin = Checkpoint("parent:1a2b", cid(12, 1), cid(30, -1), {"s": 9}, {"step": 1})
    return Thread(TREE, (*root, *sub, twin))


def _writes() -> Thread:
    """Tasks whose ids are not in the order of their paths, control writes, a big Send, orphans."""
    first = Checkpoint(
        "",
        cid(1000, 0),
        None,
        {"total": 1},
        {"source": "loop", "step": 0, "user": "ada"},
        (
            Put("zz-task", "~__pregel_pull, a", (("total", 1), ("branch:to:b", None))),
            Put("aa-task", "~__pregel_pull, b", (("total", 2), ("note", "b"))),
            Put("mm-task", "~__pregel_pull, a", (("total", 3),)),
            Put("ii-task", "~__pregel_pull, ask", (("__interrupt__", [{"value": "sure?"}]),)),
            Put("ee-task", "~__pregel_pull, bad", (("__error__", "ValueError('boom')"),)),
            Put(
                "ss-task",
                "~__pregel_pull, fan",
                (("__pregel_tasks", {"node": "work", "args": "p" * SEND_PAYLOAD}),),
            ),
        ),
    )
    second = Checkpoint(
        "",
        cid(1001, 1),
        first.id,
        {"total": 6},
        {"source": "loop", "step": 1},
        (Put("bb-task", "~__pregel_pull, c", (("total", 7), ("note", "c"))),),
    )
    inner = Checkpoint("sub:1", cid(1002, 0), None, {}, {}, (Put("cc-task", "p", (("x", 1),)),))
    gone = (cid(999, 0), Put("oo-task", "~__pregel_pull, late", (("total", 8), ("note", "late"))))
    return Thread(WRITES, (first, second, inner), (gone,))


def _long() -> Thread:
    ids = [cid(10_000 + n, n) for n in range(LONG_LENGTH)]
    return Thread(
        LONG,
        tuple(
            Checkpoint("", ids[n], ids[n - 1] if n else None, {"n": n}, {"step": n},
                       (Put(f"t{n}", "~__pregel_pull, n", (("n", n),)),))
            for n in range(LONG_LENGTH)
        ),
    )  # fmt: skip


def threads() -> list[Thread]:
    """All threads, the oldest activity first."""
    odd = [
        Thread(id, (Checkpoint("", cid(50_000 + i, 0), None, {"id": id}, {"source": "input"}),))
        for i, id in enumerate(ODD_IDS)
    ]
    found = [_tree(), _writes(), _long(), *odd]
    return sorted(found, key=lambda t: max(c.id for c in t.checkpoints))


def appended(n: int) -> Thread:
    """What `python -m loaders.fill … --append N` adds: one checkpoint of a thread."""
    return Thread(f"new-{n}", (Checkpoint("", cid(90_000 + n, 0), None, {"n": n}, {"step": 0}),))


def written(thread: Thread) -> Iterator[tuple[Checkpoint | None, str, Put]]:
    """(checkpoint, its id, put) of every call of `put_writes`."""
    for checkpoint in thread.checkpoints:
        for put in checkpoint.puts:
            yield checkpoint, checkpoint.id, put
    for checkpoint_id, put in thread.orphans:
        yield None, checkpoint_id, put
