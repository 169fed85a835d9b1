"""A thread's tree as lines: the rows of `engine.treerows`, aligned and coloured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from retrograph.cli.draw.treedata import TreeData
from retrograph.cli.draw.words import (
    STATUS_STYLE,
    clock,
    days,
    header,
    status_words,
    thread_name,
)
from retrograph.cli.paint import Line, Span, Style, columns, fit, pad, spread, width
from retrograph.cli.session import Session
from retrograph.engine.history import NONE, History
from retrograph.engine.model import ROOT, CheckpointKey
from retrograph.engine.steps.step import Step
from retrograph.engine.text import duration, escape
from retrograph.engine.thread import Thread
from retrograph.engine.threads.refs import short_length
from retrograph.engine.threads.status import status_of
from retrograph.engine.tree.rows import TreeRow, tree_rows
from retrograph.engine.views.shown import shown_step

Orphans: TypeAlias = tuple[str, str, int]
"""(namespace, checkpoint id, rows) of writes whose checkpoint is not in the store."""

_LEAST = 44
"""Columns for lanes and words, before other columns are left out for them."""
_LEAST_NARROW = 20
"""The same, before marks in short form are left out."""
_CHANGED = 28
_LANES = 12

_MARKS: dict[str, Style] = {
    "head": "accent",
    "question": "waits",
    "unfinished": "waits",
    "failed": "failed",
    "answered": "done",
    "repaired": "waits",
    "here": "accent",
}


def tree_lines(
    session: Session,
    thread: Thread,
    key: CheckpointKey,
    ns: str | None,
    kept: Sequence[int] | None,
    data: TreeData,
    orphans: Sequence[Orphans] | None,
) -> Iterator[Line]:
    """Everything that `tree` prints for people. `orphans`: listed where given."""
    history, ascii = thread.history, session.out.ascii
    total = len(history) if ns is None else len(history.span(ns))
    owners = thread.owners()
    rows = list(
        tree_rows(history, data.steps, data.envelopes, owners, ns, ascii=ascii, limit=_LANES)
    )
    if kept is not None:
        rows = _only(rows, set(kept))
    top = ROOT if ns is None else ns
    head = history.head(top)
    step = data.steps.get((top, history.ids[head])) if head != NONE else None
    yield from _title(session, thread, ns, rows, step)
    yield []
    if kept is not None and len(kept) < total:
        yield [Span(f"… {total - len(kept):,} older checkpoints", "dim")]
    chosen = history.find(key.ns, key.id)
    on = _line(history, chosen, owners)
    here = chosen if chosen != history.head(key.ns) else NONE
    yield from _Drawing(session, history, rows).lines(on, here)
    if orphans is not None:
        yield from _orphans(orphans)


def _only(rows: list[TreeRow], kept: set[int]) -> list[TreeRow]:
    """The rows of some checkpoints, and the headers of groups that have any."""
    found: list[TreeRow] = []
    some: set[str] = set()
    for row in reversed(rows):
        if row.kind == "group":
            if row.ns in some:
                some.discard(row.ns)
                found.append(row)
        elif row.checkpoint in kept:
            some.add(row.ns)
            found.append(row)
    found.reverse()
    return found


def _title(
    session: Session, thread: Thread, ns: str | None, rows: list[TreeRow], head: Step | None
) -> Iterator[Line]:
    history = thread.history
    top = ROOT if ns is None else ns
    checkpoints = len(history) if ns is None else len(history.span(ns))
    lines = len(history.leaves(top))
    words = f" · {checkpoints:,} checkpoint{'s' * (checkpoints != 1)}"
    words += f" · {lines:,} line{'s' * (lines != 1)}"
    name = thread_name(thread.thread_id) + (f"::{escape(ns)}" if ns else "")
    yield header(session, name, words, thread)
    if head is None:
        return
    status = status_of(head)
    head = shown_step(head, session.redactor)
    left = [Span(status, STATUS_STYLE[status])]
    left += [Span(" · ", "dim"), *said] if (said := status_words(head, status)) else []
    times = [row.at for row in rows if row.at is not None]
    yield spread(left, [Span(days(times), "dim")] if times else [], session.out.page)


def _line(history: History, chosen: int, owners: Mapping[int, int]) -> set[int]:
    """The checkpoints from the root to the chosen one, through the owners of sub-graphs."""
    on: set[int] = set()
    while chosen != NONE:
        line = history.line(chosen)
        on.update(line)
        chosen = owners.get(line[0], NONE)
    return on


_SHORT = {"question": "", "failed": "", "unfinished": "due", "parent not stored": "no parent"}
"""Marks where there is little room; a question and a failure have their glyph."""


class _Drawing:
    """The rows in columns. What does not fit is left out, the least needed column first."""

    def __init__(self, session: Session, history: History, rows: list[TreeRow]) -> None:
        self.rows = rows
        self.width = session.out.width
        self.short = False
        """Marks are in short form."""
        self.ascii = session.out.ascii
        self.dot = " - " if self.ascii else " · "
        self.end = short_length(history.ids)
        times = [row.at for row in rows if row.at is not None]
        self.clock = clock(times)
        self.seconds = ["" if row.seconds is None else duration(row.seconds) for row in rows]
        self.digits = max((len(str(row.step)) for row in rows if row.step is not None), default=1)
        self.left = max((self._left_width(row) for row in rows), default=0)
        self.marks = max((columns(self._marks(row)) for row in rows if row.marks), default=0)
        self.shown = self._choose()

    def _left_width(self, row: TreeRow) -> int:
        return columns(row.prefix) + 2 + (self.digits + 1) + columns(row.text)

    def _marks(self, row: TreeRow) -> str:
        # A spare column, so that `here` can be added.
        return self.dot.join(shown for _, shown in self._shown_marks(row))

    def _shown_marks(self, row: TreeRow) -> list[tuple[str, str]]:
        """Each mark, and the words for it."""
        marks = [mark for mark in row.marks if mark != "closed"]
        if not self.short:
            return [(mark, mark) for mark in marks]
        answered = "v" if self.ascii else "✓"
        kept = [mark for mark in marks if mark != "leaf" or "head" not in marks]
        found = [(m, answered if m == "answered" else _SHORT.get(m, m)) for m in kept]
        return [(mark, words) for mark, words in found if words]

    def _choose(self) -> dict[str, int]:
        """Columns right of the words, with their widths."""
        shown = {"marks": self.marks, "seconds": 8, "at": 0, "id": self.end}
        # All times are written alike.
        shown["at"] = next((len(self._at(row.at)) for row in self.rows if row.at is not None), 0)
        shown["seconds"] = max(map(len, self.seconds), default=0)
        if self.width is None:
            return {name: w for name, w in shown.items() if w}
        least = min(self.left, _LEAST)
        for name in ("at", "seconds", "marks"):
            if least + sum(w + 2 for w in shown.values() if w) > self.width:
                shown[name] = 0
        if self.marks and not shown["marks"]:
            self.short = True
            marks = max(columns(self._marks(row)) for row in self.rows)
            if min(self.left, _LEAST_NARROW) + marks + 2 + shown["id"] + 2 <= self.width:
                shown["marks"] = marks
        room = self.width - min(self.left, self.width) - sum(w + 2 for w in shown.values() if w)
        if room > 14 and any(row.label and row.label.changed for row in self.rows):
            shown = {"changed": min(_CHANGED, room - 2), **shown}
        return {name: w for name, w in shown.items() if w}

    def lines(self, on: set[int], here: int) -> Iterator[Line]:
        inside: dict[str, bool] = {}
        for row, seconds in zip(self.rows, self.seconds, strict=True):
            if row.kind == "group":
                inside[row.ns] = row.checkpoint in on
            lit = row.checkpoint in on or inside.get(row.ns, False)
            here_ = row.kind == "checkpoint" and row.checkpoint == here
            yield self._line(row, seconds, lit, here_)

    def _line(self, row: TreeRow, seconds: str, lit: bool, here: bool) -> Line:
        right: list[Span] = []
        for name, room in self.shown.items():
            right.append(Span("  "))
            right += self._cell(name, row, seconds, room, here)
        left = list(self._words(row, lit, here))
        if self.width is None:
            return [*pad(left, self.left), *right]
        room = min(self.left, self.width - width(right))
        return [*pad(fit(left, room), room), *right]

    def _words(self, row: TreeRow, lit: bool, here: bool) -> Iterator[Span]:
        base: Style = "strong" if here else "" if lit else "dim"
        yield Span(row.prefix, "" if lit else "dim")
        yield Span(row.glyph + " ", _glyph_style(row) or base)
        step = "" if row.step is None else str(row.step)
        if row.kind == "checkpoint":
            yield Span(step.rjust(self.digits) + " ", "dim")
        if " | " not in row.text:
            yield Span(row.text, base)
            return
        main, *turned = row.text.split(" | ")
        yield Span(main, base)
        for route in turned:
            yield Span(" | ", "dim")
            yield Span(route, "fork")

    def _cell(self, name: str, row: TreeRow, seconds: str, room: int, here: bool) -> list[Span]:
        if name == "marks":
            if not row.marks and not here:
                return [Span(" " * room)]
            marks = [Span(m, _MARKS.get(k, "dim")) for k, m in self._shown_marks(row)]
            if here:
                marks.insert(0, Span("here", "accent"))
            spans = [s for mark in marks for s in (Span(self.dot, "dim"), mark)][1:]
            return pad(fit(spans, room), room)
        if name == "changed":
            changed = row.label.changed if row.label else ()
            return pad(fit([Span(escape(", ".join(changed)), "dim")], room), room)
        if name == "seconds":
            return [Span(seconds.rjust(room), "dim")]
        if name == "at":
            return [Span(self._at(row.at).rjust(room), "dim")]
        return [Span(escape(row.id[-self.end :]))]

    def _at(self, when: datetime | None) -> str:
        return "" if when is None else self.clock(when)


def _glyph_style(row: TreeRow) -> Style:
    label = row.label
    if label is None:
        return ""
    if label.trouble:
        return "failed" if label.trouble == "failed" else "waits"
    return {"edit": "waits", "copy": "fork", "input": "accent"}.get(label.kind, "")  # type: ignore[return-value]


def _orphans(found: Sequence[Orphans]) -> Iterator[Line]:
    yield []
    if not found:
        yield [Span("No writes without a checkpoint.", "dim")]
        return
    yield [Span("Writes whose checkpoint is not in the store", "strong")]
    for ns, id_, rows in found:
        where = f"::{escape(ns)}@" if ns else ""
        yield [Span(f"  {where}{escape(id_)}"), Span(f"  {rows:,} write{'s' * (rows != 1)}", "dim")]
