"""Steps told by the index and the writes alone, wherever these prove them.

A checkpoint's body may be megabytes, while the writes of a long run are some rows a step, and say
the same: who was due, who ran, where each went. They prove a step of checkpoint C and of the next
one, D, when

1. every write of C was made by a node of the graph, and none is an error, a question, an answer,
   an edit, a Send, a call or a join;
2. D is C's only child, and follows C at once in the order of ids, so that C was the head when D
   was made: an edit would have left its own writes at C (`update_state` puts them on the head);
3. the nodes that ran at D are those that C's writes lead to: with new input that would be
   `__start__`, and with a copy of C those of C again, which must therefore be others.

So D was made by running on from C, and that only happens when everything due at C has finished.
Checkpoints before and after which this holds need no more; the others are read as ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from retrograph.engine.history import History
from retrograph.engine.model import CheckpointKey, Envelope, WriteRow
from retrograph.engine.steps.due import OLD_FORMAT
from retrograph.engine.steps.plain import Ran, ran_plainly
from retrograph.engine.steps.step import Step
from retrograph.engine.thread import Thread
from retrograph.engine.threads.pages import read_page

_LINE = 4
"""A namespace whose lines are shorter than this on the average is read whole: to look at the end of
each would cost as much."""
_FEW = 64
"""So many lines are looked at however short they are."""
_PAGE = 500


def quick_walk(
    thread: Thread, ns: str, *, metadata: bool = False
) -> Iterator[tuple[int, Envelope, Step]]:
    """As `Thread.walk` of one namespace, but in no order, and the envelopes of proven steps hold
    only what is proven: source and step, but no versions, and no metadata unless asked for."""
    steps = proven_steps(thread, ns)
    rest = [i for i in thread.history.span(ns) if i not in steps]
    if len(rest) > len(steps):
        yield from thread.walk(ns)
        return
    for page in _pages(list(steps)):
        known = _metadata(thread, ns, page) if metadata else None
        for i in page:
            yield i, _envelope(thread.history, ns, i, known), steps[i]
    for page in _pages(rest):
        for i, (envelope, step) in read_page(thread, page).items():
            yield i, envelope, step


def _pages(some: list[int]) -> Iterator[list[int]]:
    return (some[start : start + _PAGE] for start in range(0, len(some), _PAGE))


def _metadata(thread: Thread, ns: str, page: list[int]) -> dict[str, Mapping[str, Any]]:
    ids = thread.history.ids
    keys = [CheckpointKey(thread.thread_id, ns, ids[i]) for i in page]
    return {detail.key.id: detail.metadata for detail in thread.loader.details(keys)}


def proven_steps(thread: Thread, ns: str) -> dict[int, Step]:
    """The steps of those checkpoints of a namespace before and after which the rule holds."""
    if not _is_plain(thread, ns):
        return {}
    return {
        i: _step(before, here)
        for i, before, here in _pairs(thread, ns)
        if before is not None and here is not None
    }


def _is_plain(thread: Thread, ns: str) -> bool:
    """Whether writes can prove anything here: today's format, and no joins, whose stored values
    may need repair. The newest checkpoint of each line names all channels of the line."""
    leaves = thread.history.leaves(ns)
    if len(leaves) * _LINE > max(len(thread.history.span(ns)), _FEW * _LINE):
        return False
    envelopes = thread.envelopes_of(ns, leaves)
    return len(envelopes) == len(leaves) and all(
        envelope.v >= OLD_FORMAT and not any(c.startswith("join:") for c in envelope.versions)
        for envelope in envelopes.values()
    )


def _pairs(thread: Thread, ns: str) -> Iterator[tuple[int, Ran | None, Ran | None]]:
    """(checkpoint, what ran before it, what ran at it), both only where proven."""
    history = thread.history
    forks = set(history.fork_points(ns))
    before: Ran | None = None  # what ran at the parent, where `here` is proven to follow from it
    here: Ran | None = None
    last: int | None = None
    for i, rows in _by_checkpoint(thread, ns):
        ran = ran_plainly(rows)
        if last is not None:
            follows = _follows(history, last, here, i, ran) and last not in forks
            yield last, before, here if follows else None
            before = here if follows else None
        last, here = i, ran
    if last is not None:
        yield last, before, None


def _follows(history: History, c: int, ran: Ran | None, d: int, then: Ran | None) -> bool:
    return (
        ran is not None
        and then is not None
        and history.parent(d) == c
        and ran.led_to == then.nodes
        and ran.led_to != ran.nodes
    )


def _by_checkpoint(thread: Thread, ns: str) -> Iterator[tuple[int, Sequence[WriteRow]]]:
    """Every checkpoint in the order of ids, with its writes."""
    history = thread.history
    span = history.span(ns)
    at = span.start
    rows: list[WriteRow] = []
    for batch in thread.loader.writes(thread.thread_id, ns):
        for row in batch:
            id_ = row[1]
            while at < span.stop and history.ids[at] < id_:
                yield at, rows
                at, rows = at + 1, []
            if at < span.stop and history.ids[at] == id_:
                rows.append(row)
    for i in range(at, span.stop):
        yield i, rows
        rows = []


def _envelope(
    history: History, ns: str, i: int, metadata: Mapping[str, Mapping[str, Any]] | None
) -> Envelope:
    id_ = history.ids[i]
    proven = {"source": "loop", "step": history.step(i)}
    return Envelope(
        ns=ns,
        id=id_,
        parent_id=history.parent_id(i),
        v=OLD_FORMAT,
        versions={},
        seen={},
        updated=None,
        present=frozenset(),
        control={},
        sends=(),
        metadata=proven if metadata is None else metadata.get(id_, {}),
    )


def _step(before: Ran, here: Ran) -> Step:
    came_by = before.came_by()
    return Step(
        next=tuple(task.node for task in here.tasks),
        next_exact=True,
        repaired=None,
        tasks=here.tasks,
        ran=tuple(sorted(came_by)),
        came_by=came_by,
        route=here.route,
        questions=(),
    )
