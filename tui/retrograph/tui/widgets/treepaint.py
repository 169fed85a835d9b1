"""A row of the tree as spans: lanes and glyph, step, who ran and where it went, what changed,
marks, duration, time of day. What does not fit is dropped from the end of that list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache

from retrograph.engine.text import duration, local
from retrograph.engine.tree.labels import Label, Signs, names
from retrograph.engine.tree.lanes import Cell
from retrograph.engine.tree.rows import TreeRow
from retrograph.tui.spans import Span, spread

TIME_FROM = 62
"""Columns from which the time of day is shown."""
DURATION_FROM = 46
CHANGED_FROM = 58

_MARKS = {
    "head": "accent",
    "question": "waits",
    "unfinished": "waits",
    "answered": "done",
    "failed": "failed",
    "repaired": "waits",
    "inexact": "waits",
    "parent not stored": "waits",
}
_SAID_BY_GLYPH = ("question", "failed")


def paint_row(
    row: TreeRow,
    cells: Sequence[Cell],
    columns_: int,
    signs: Signs,
    step_width: int,
    on: bool,
    mark: str,
) -> list[Span]:
    """`cells`: the lanes; `on`: whether the row lies on the line to the selected one; `mark`: the
    sign of the user's mark, "" where it has none; `step_width`: columns of the step's number."""
    left = [Span(cell.text, "on" if cell.on else "faint") for cell in cells]
    left.append(Span(row.glyph, _glyph_role(row, on)))
    if row.kind == "checkpoint":
        number = "" if row.step is None else str(row.step)
        left.append(Span(f" {number:>{step_width}} ", "dim"))
        left += _words(row, signs, on)
    else:
        left.append(Span(f" {row.text}", "dim"))
    return spread(
        _with_changes(left, row, columns_, signs), _right(row, columns_, signs, mark), columns_
    )


@lru_cache(maxsize=4096)
def label_spans(label: Label, signs: Signs) -> Sequence[Span]:
    """`Label.text` in its parts: other routes than this line's stand out."""
    if label.parts or not label.routes or label.kind == "edit":
        return [Span(label.text(signs), "waits" if label.kind == "edit" else "")]
    text = label.text(signs)
    first = names(label.routes[0], signs) if label.routes[0] else "END"
    head, arrow, tail = text.partition(f" {signs.arrow} ")
    if not arrow or not tail.startswith(first):
        return [Span(text)]
    role = "fork" if label.kind == "copy" else ""
    spans = [Span(head, role), Span(arrow, "dim"), Span(first, "" if label.routes[0] else "dim")]
    return [*spans, Span(tail[len(first) :], "fork")]


def _words(row: TreeRow, signs: Signs, on: bool) -> list[Span]:
    if row.label is None:
        return [Span(signs.cut, "faint")]
    spans = label_spans(row.label, signs)
    if on:
        return [Span(text, role or "on") for text, role in spans]
    return [Span(text, role or "dim") for text, role in spans]


def _with_changes(left: list[Span], row: TreeRow, columns_: int, signs: Signs) -> list[Span]:
    changed = row.label.changed if row.label is not None and row.label.kind == "step" else ()
    if not changed or columns_ < CHANGED_FROM:
        return left
    return [*left, Span("  "), Span(names(changed, signs), "faint")]


def _right(row: TreeRow, columns_: int, signs: Signs, mark: str) -> list[Span]:
    right: list[Span] = []
    if mark:
        right.append(Span(mark, "mark"))
    shown = [m for m in row.marks if m not in ("closed", "root")]
    for name in shown:
        if right:
            right.append(Span(f" {signs.dot} ", "faint"))
        right.append(Span(name, _MARKS.get(name, "dim")))
    if columns_ >= DURATION_FROM:
        right.append(Span(f"{short_duration(row.seconds):>8}", "dim"))
    if columns_ >= TIME_FROM:
        right.append(Span(f"{_clock(row.at):>10}", "faint"))
    return right


def _glyph_role(row: TreeRow, on: bool) -> str:
    label = row.label
    if label is None:
        return "dim"
    if label.trouble:
        return "failed" if label.trouble == "failed" else "waits"
    if label.kind == "edit":
        return "waits"
    if label.kind == "copy":
        return "fork"
    return "on" if on else "dim"


def short_duration(seconds: float | None) -> str:
    """A span of time in at most six columns: its largest unit alone."""
    if seconds is None:
        return ""
    number, _, rest = duration(seconds).partition(" ")
    return f"{number} {rest.split()[0]}" if rest else number


def _clock(at: datetime | None) -> str:
    return local(at, "%H:%M:%S") if at is not None else ""


def highlighted(spans: Iterable[Span], text: str) -> list[Span]:
    """The spans with each occurrence of a text set off."""
    whole = text != text.lower()
    out: list[Span] = []
    for span in spans:
        words = span.text if whole else span.text.lower()
        # Lower case of some letters is longer: then places do not fit, and nothing is set off.
        at = words.find(text) if len(words) == len(span.text) else -1
        done = 0
        while at >= 0:
            out += [
                Span(span.text[done:at], span.role),
                Span(span.text[at : at + len(text)], "match"),
            ]
            done = at + len(text)
            at = words.find(text, done)
        out.append(Span(span.text[done:], span.role))
    return [span for span in out if span.text]
