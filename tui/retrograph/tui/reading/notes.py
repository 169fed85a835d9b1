"""Reads the notes of checkpoints: of a page, or of a whole thread in one pass."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from retrograph.engine.history import NONE, History
from retrograph.engine.model import Envelope
from retrograph.engine.steps.step import Step
from retrograph.engine.thread import Thread
from retrograph.engine.threads.pages import read_page
from retrograph.engine.tree.labels import Labels
from retrograph.tui.reading.known import Note, Noted

_FAMILY = 64
"""So many children of a fork point are asked for the routes that they took."""


def note_page(thread: Thread, page: Collection[int]) -> list[Noted]:
    """The notes of some checkpoints. Reads them, their parents, and the children of forks."""
    history = thread.history
    wanted = set(page)
    wanted.update(history.parent(i) for i in page)
    for i in page:
        if len(children := history.children(i)) > 1:
            wanted.update(children[:_FAMILY])
    wanted.discard(NONE)
    read = read_page(thread, wanted)
    copies = [i for i, (envelope, _) in read.items() if envelope.source == "fork"]
    behind = {child for i in copies for child in history.children(i)[:_FAMILY]} - wanted
    if behind:
        read.update(read_page(thread, behind))
    labels = _labels(history, read)
    return [note for i in page if (note := _noted(i, labels, read)) is not None]


def note_all(thread: Thread, chunk: int = 2_000) -> Iterator[list[Noted]]:
    """The notes of a whole thread in one pass, in chunks of about so many checkpoints.

    Only what a later note needs is kept: parents until all their children are known, and the
    families of fork points until their namespace is through.
    """
    history = thread.history
    for ns in history.namespaces():
        yield from _note_namespace(thread, ns, chunk)


def _note_namespace(thread: Thread, ns: str, chunk: int) -> Iterator[list[Noted]]:
    history = thread.history
    forks = set(history.fork_points(ns))
    # Fork points are noted last, and a note needs what came before its checkpoint.
    before_forks = {history.parent(i) for i in forks}
    kept: dict[int, tuple[Envelope, Step]] = {}
    owing: dict[int, int] = {}
    labels = _labels(history, kept)
    done: list[Noted] = []
    for i, envelope, step in thread.walk(ns):
        kept[i] = (envelope, step)
        parent = history.parent(i)
        if i not in forks and (note := _noted(i, labels, kept)) is not None:
            done.append(note)
        owing[i] = len(history.children(i))
        if parent in owing:
            owing[parent] -= 1
        for k in (parent, i):
            through = owing.get(k, 1) < 1 and k not in before_forks
            if through and not _in_family(history, k, forks, kept):
                kept.pop(k, None)
        if len(done) >= chunk:
            yield done
            done = []
    late = (note for i in sorted(forks) if (note := _noted(i, labels, kept)) is not None)
    yield [*done, *late]


def _in_family(
    history: History, i: int, forks: set[int], kept: Mapping[int, tuple[Envelope, Step]]
) -> bool:
    """Whether a fork point's note needs this checkpoint: the point itself, a child, and what
    stands behind a copy."""
    parent = history.parent(i)
    if i in forks or parent in forks:
        return True
    return parent in kept and kept[parent][0].source == "fork"


def _labels(history: History, read: Mapping[int, tuple[Envelope, Step]]) -> Labels:
    return Labels(
        history,
        lambda i: read[i][1] if i in read else None,
        lambda i: read[i][0] if i in read else None,
    )


def _noted(i: int, labels: Labels, read: Mapping[int, tuple[Envelope, Step]]) -> Noted | None:
    label = labels.label(i)
    if label is None:
        return None
    envelope, step = read[i]
    return Noted(i, Note(label, bool(step.next), step.repaired is not None), envelope.step)
