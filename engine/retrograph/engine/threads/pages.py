"""The steps of some checkpoints, as many as are on a screen, in a fixed number of readings."""

from __future__ import annotations

from collections.abc import Collection

from retrograph.engine.history import NONE
from retrograph.engine.model import Envelope
from retrograph.engine.steps.activity import Activity
from retrograph.engine.steps.step import Step, derive
from retrograph.engine.thread import Reader, Thread


def read_page(thread: Thread, wanted: Collection[int]) -> dict[int, tuple[Envelope, Step]]:
    """Each of the checkpoints with its step; those that are gone from the store are left out.

    Reads, for each namespace, the checkpoints, their parents and the namespace's head.
    """
    history = thread.history
    by_ns: dict[str, list[int]] = {}
    for i in sorted(set(wanted)):
        by_ns.setdefault(history.ns(i), []).append(i)
    found: dict[int, tuple[Envelope, Step]] = {}
    for ns, page in by_ns.items():
        found.update(_read(thread, ns, page))
    return found


def _read(thread: Thread, ns: str, page: list[int]) -> dict[int, tuple[Envelope, Step]]:
    history = thread.history
    near = {*page, *(history.parent(i) for i in page)} - {NONE}
    envelopes = thread.envelopes_of(ns, {*near, history.head(ns)})
    rows = thread.rows_of(ns, near)
    learned = thread.learn(ns, envelopes.values())
    families = {i: history.children(i) for i in near}
    ran_on = thread.made_by_running(ns, {child for family in families.values() for child in family})
    twins = {i: sum(child in ran_on for child in family) for i, family in families.items()}
    reader = Reader(thread, ns, learned)
    acts: dict[int, Activity] = {
        i: reader.observe(i, envelopes[i], rows.get(i, ()), twins[i] > 0)
        for i in near
        if i in envelopes
    }
    found = {}
    for i in page:
        if i not in acts:
            continue
        parent = history.parent(i)
        running = max(twins.get(parent, 0), 1)
        step = derive(acts[i], acts.get(parent), learned, thread.serde.decode, twins=running)
        found[i] = (envelopes[i], step)
    return found
