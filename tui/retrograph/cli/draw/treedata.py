"""What the rows of a tree are made of, read for all of a thread or for its newest part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from retrograph.engine.history import NONE, History
from retrograph.engine.model import ROOT, Envelope
from retrograph.engine.steps.step import Step
from retrograph.engine.thread import Thread
from retrograph.engine.threads.ahead import read_ahead
from retrograph.engine.threads.pages import read_page
from retrograph.engine.threads.quick import quick_walk
from retrograph.engine.tree.labels import edited

_PAGE = 1_000
"""Up to so many rows are read one by one rather than in one pass over all."""

Key = tuple[str, str]
"""(namespace, checkpoint id)."""


@dataclass(slots=True)
class TreeData:
    """Envelopes, of which only what rows say, and steps."""

    envelopes: dict[Key, Envelope] = field(default_factory=dict)
    steps: dict[Key, Step] = field(default_factory=dict)


def read_tree(
    thread: Thread,
    ns: str | None,
    kept: Sequence[int] | None,
    looked_at: Callable[[int], None] = lambda count: None,
) -> TreeData:
    """What the rows of a thread say: of all, or (`kept`) at least of some checkpoints.

    With `ns`: of that namespace, what ran inside it, and the root.
    """
    data = TreeData()
    edits = []
    few = kept is not None and len(kept) <= _PAGE
    for i, envelope, step in _few(thread, ns, kept or ()) if few else _all(thread, ns):
        key = envelope.ns, envelope.id
        if envelope.versions:
            envelope = replace(envelope, versions={}, seen={}, control={}, present=frozenset())
        data.envelopes[key] = envelope
        data.steps[key] = step
        looked_at(len(data.steps))
        if envelope.source == "update" and envelope.updated is None:
            edits.append(i)
    _name_edits(thread, data, edits)
    return data


def _all(thread: Thread, ns: str | None) -> Iterator[tuple[int, Envelope, Step]]:
    wanted = (
        name
        for name in thread.history.namespaces()
        if ns is None or name in (ns, ROOT) or name.startswith(ns + "|")
    )
    for known, name in read_ahead(thread, wanted):
        yield from quick_walk(known, name)


def _few(
    thread: Thread, ns: str | None, kept: Sequence[int]
) -> Iterator[tuple[int, Envelope, Step]]:
    """Some checkpoints and their families, since a row also tells of its neighbours; the head."""
    history = thread.history
    near = {*kept, history.head(ns or ROOT)}
    for i in kept:
        near.add(history.parent(i))
        near.update(history.children(i))
    for i, (envelope, step) in read_page(thread, near - {NONE}).items():
        yield i, envelope, step


def _name_edits(thread: Thread, data: TreeData, edits: Sequence[int]) -> None:
    """Say which channels edits changed, where only a comparison with the parent tells."""
    history: History = thread.history
    by_ns: dict[str, list[int]] = {}
    for i in edits:
        by_ns.setdefault(history.ns(i), []).append(i)
    for ns, some in by_ns.items():
        parents = [history.parent(i) for i in some]
        whole = thread.envelopes_of(ns, [i for i in (*some, *parents) if i != NONE])
        for i, parent in zip(some, parents, strict=True):
            if i in whole and parent in whole:
                key = ns, history.ids[i]
                changed = edited(whole[i], whole[parent])
                data.envelopes[key] = replace(data.envelopes[key], updated=changed)
