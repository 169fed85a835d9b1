"""The tree as rows of text: lanes, glyph, step, words and marks, for a terminal or a screen.

For a whole thread, as the command `tree` prints it:

    for row in tree_rows(history, steps, envelopes, thread.owners(), fold=False):
        row.prefix + row.glyph, row.step, row.text, row.marks, row.seconds, row.at

For a screen that shows a page of a large thread: `lay_out` once, a `View` of it, and a `Painter`
that is asked for the rows in sight (`painter.row(view, r)`).

    ○ -1 input
    ●  0 START → receive
    ●  1 receive → price
    ●  2 price → ship | hold
    ├─◆  3 edit path
    │ ●  4 hold → END          leaf
    ●  3 ship → notify
    ●  4 notify → END          head · leaf
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from retrograph.engine.history import NONE, History
from retrograph.engine.ids import time_of
from retrograph.engine.model import ROOT, Envelope
from retrograph.engine.steps.step import Step
from retrograph.engine.text import escape
from retrograph.engine.tree import labels as words
from retrograph.engine.tree import lanes
from retrograph.engine.tree.folding import View, runs
from retrograph.engine.tree.labels import Label, Labels, Signs
from retrograph.engine.tree.lanes import Glyphs, Group, Layout
from retrograph.engine.tree.layout import lay_out

_SIBLINGS = 64
"""So many children of a sub-graph's caller are looked at."""

SUMMED = 2_000
"""A fold of more checkpoints than this says only how many they are."""


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One row of the tree."""

    kind: Literal["checkpoint", "group", "fold"]
    """A checkpoint, the header of what a sub-graph did here, or a folded run of steps."""
    entry: int
    """Its place in the layout; of a fold, the first one's."""
    prefix: str
    """Lanes, two columns each."""
    glyph: str
    """One column. A fold has `…` (`...` in ASCII) here."""
    checkpoint: int
    """Its number in the history; of a group the owner's, of a fold the first one's."""
    ns: str
    id: str
    """"" for a group."""
    step: int | None
    text: str
    """What ran and where it went; escaped, one line."""
    marks: tuple[str, ...]
    """Of: head, leaf, root, parent not stored, question, answered, failed, unfinished, left,
    repaired, inexact, unreadable (why), closed, step not known."""
    seconds: float | None
    """Since the parent checkpoint."""
    at: datetime | None
    label: Label | None = None
    group: Group | None = None
    fold: range | None = None


class Painter:
    """Makes rows of one layout when asked for."""

    def __init__(
        self,
        history: History,
        layout: Layout,
        step: Callable[[int], Step | None],
        envelope: Callable[[int], Envelope | None],
        ascii: bool = False,
        top: str = ROOT,
        limit: int | None = None,
    ) -> None:
        """`step`, `envelope`: of a checkpoint, `None` while not read. `top`: the namespace at the
        top of the layout. `limit`: the most lanes that a prefix may have."""
        self.history = history
        self.layout = layout
        self.labels = Labels(history, step, envelope)
        self.signs: Signs = words.ASCII if ascii else words.UNICODE
        self.glyphs: Glyphs = lanes.ASCII if ascii else lanes.UNICODE
        self._step = step
        self._envelope = envelope
        self._limit = limit
        self._top = top
        self._head = history.head(top)
        span = history.span(top)
        self._rooted = history.parents()[span.start : span.stop].count(NONE) > 1

    def row(self, view: View, row: int) -> TreeRow:
        """Row `row` of a view."""
        fold = view.fold(row)
        entry = view.entry(row)
        if fold is not None:
            return self._fold(fold)
        group = self.layout.group(entry)
        if group >= 0:
            return self._group(entry, group, group in view.closed)
        return self._checkpoint(entry)

    def _prefix(self, entry: int) -> str:
        return self.layout.prefix(entry, self.glyphs, self._limit)

    def _checkpoint(self, entry: int) -> TreeRow:
        history = self.history
        i = self.layout.checkpoint(entry)
        label = self.labels.label(i)
        at = time_of(history.ids[i])
        return TreeRow(
            "checkpoint",
            entry,
            self._prefix(entry),
            label.glyph(self.signs) if label else self.signs.step,
            i,
            history.ns(i),
            history.ids[i],
            self._number(i),
            label.text(self.signs) if label else "",
            tuple(self._marks(entry, i, label)),
            self._seconds(i, at),
            at,
            label,
        )

    def _number(self, i: int) -> int | None:
        """The step: from metadata where it has been read, else from the id."""
        envelope = self._envelope(i)
        stored = envelope.step if envelope is not None else None
        return stored if stored is not None else self.history.step(i)

    def _seconds(self, i: int, at: datetime | None) -> float | None:
        parent = self.history.parent(i)
        before = time_of(self.history.ids[parent]) if parent >= 0 else None
        return (at - before).total_seconds() if at and before else None

    def _marks(self, entry: int, i: int, label: Label | None) -> Iterator[str]:
        history = self.history
        leaf = not history.has_children(i)
        if history.ns(i) == self._top:
            if i == self._head:
                yield "head"
            if leaf:
                yield "leaf"
        if history.parent(i) < 0:
            if history.parent_id(i) is not None:
                yield "parent not stored"
            elif self._rooted and self.layout.starts(entry) and history.ns(i) == self._top:
                yield "root"
        step = self._step(i)
        if label is None or step is None:
            return
        if leaf and step.next and label.trouble != "failed" and self._left(entry):
            yield "left"
        elif label.trouble:
            yield label.trouble
        elif leaf and step.next:
            yield "unfinished"
        if label.answered:
            yield "answered"
        if step.repaired:
            yield "repaired"
        if not label.exact:
            yield "inexact"
        if label.unreadable:
            yield escape(label.unreadable)

    def _left(self, entry: int) -> bool:
        """Whether the graph that ran this sub-graph has gone on without the rest of it: it was
        left by `Command(graph=PARENT)`, or what came after is not stored."""
        around = self.layout.enclosing(entry)
        owner = self.layout.groups[around[-1]].owner if around else NONE
        children = self.history.children(owner)[:_SIBLINGS] if owner != NONE else ()
        return any(self.labels.kind(child) == "step" for child in children)

    def _group(self, entry: int, number: int, closed: bool) -> TreeRow:
        group = self.layout.groups[number]
        owner = group.owner
        name = escape(group.ns) if owner < 0 else title(group.ns)
        many = "checkpoint" if group.checkpoints == 1 else "checkpoints"
        marks = []
        if closed:
            marks.append("closed")
        if owner < 0:
            marks.append("step not known")
        return TreeRow(
            "group",
            entry,
            self._prefix(entry),
            self.signs.closed if closed else self.signs.open,
            owner,
            group.ns,
            "",
            None,
            f"{name} {self.signs.dot} {group.checkpoints:,} {many}",
            tuple(marks),
            None,
            None,
            group=group,
        )

    def _fold(self, fold: range) -> TreeRow:
        history = self.history
        i = self.layout.checkpoint(fold.start)
        text = f"{len(fold):,} steps"
        if len(fold) <= SUMMED:
            ran = [self._ran(entry) for entry in fold]
            if all(ran):
                text += f": {words.summary(ran, self.signs)}"
        at = time_of(history.ids[self.layout.checkpoint(fold[-1])])
        parent = history.parent(i)
        before = time_of(history.ids[parent]) if parent >= 0 else None
        return TreeRow(
            "fold",
            fold.start,
            self._prefix(fold.start),
            self.signs.cut,
            i,
            history.ns(i),
            history.ids[i],
            None,
            text,
            (),
            (at - before).total_seconds() if at and before else None,
            at,
            fold=fold,
        )

    def _ran(self, entry: int) -> str:
        label = self.labels.label(self.layout.checkpoint(entry))
        if label is None:
            return ""
        return words.names(label.ran, self.signs) if label.kind == "step" else label.kind


def title(ns: str) -> str:
    """The node that ran a sub-graph, escaped: `review` of `a:…|review:…`; `review (2)` of
    `review:…|1`, the second one that the same task ran."""
    segments = ns.split("|")
    again = 0
    # No call has a number that long, and Python refuses to read thousands of digits.
    while len(segments) > 1 and segments[-1].isdecimal() and len(segments[-1]) <= 18:
        again = int(segments.pop())
    node = escape(segments[-1].partition(":")[0])
    return f"{node} ({again + 1})" if again else node


def tree_rows(
    history: History,
    steps: Mapping[tuple[str, str], Step],
    envelopes: Mapping[tuple[str, str], Envelope],
    owners: Mapping[int, int] | None = None,
    ns: str | None = None,
    ascii: bool = False,
    fold: bool = False,
    closed: bool = False,
    keep: Collection[int] = (),
    limit: int | None = None,
) -> Iterator[TreeRow]:
    """All rows of a thread (`ns`: of one namespace and what ran inside it), made one by one.

    `steps`, `envelopes`: by (namespace, checkpoint id). `owners`: see `Thread.owners`. `fold`:
    long unbranched runs become one row each, save inputs, edits, questions, failures and those
    in `keep`. `closed`: sub-graphs show their headers only. `limit`: the most lanes.
    """
    keys = [(name, history.ids[i]) for name in history.namespaces() for i in history.span(name)]
    layout = lay_out(history, owners, ns)
    painter = Painter(
        history,
        layout,
        [steps.get(key) for key in keys].__getitem__,
        [envelopes.get(key) for key in keys].__getitem__,
        ascii,
        ROOT if ns is None else ns,
        limit,
    )
    folds: list[range] = []
    if fold:
        stay = {layout.entry(i) for i in keep}
        stay.update(_notable(painter, layout))
        folds = runs(layout, stay)
    view = View(layout, range(len(layout.groups)) if closed else (), folds)
    for row in range(len(view)):
        yield painter.row(view, row)


def _notable(painter: Painter, layout: Layout) -> Iterator[int]:
    """Entries that a fold must not hide."""
    for entry in range(len(layout)):
        i = layout.checkpoint(entry)
        if i == NONE:
            continue
        label = painter.labels.label(i)
        if label is None:
            continue
        if label.kind != "step" or label.trouble or label.answered or label.unreadable:
            yield entry
