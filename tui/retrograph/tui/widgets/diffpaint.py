"""Lines of a diff as spans: soft tints on whole lines, the changed words stronger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from retrograph.engine.diff.rows import DiffRow
from retrograph.engine.diff.words import Span as Word
from retrograph.engine.text import cut, escape
from retrograph.engine.values import ABSENT, Value
from retrograph.engine.views.summary import one_line
from retrograph.tui.spans import Span, columns, fit, pad
from retrograph.tui.ui import Ui

Side = Literal["old", "new"]

_NEAR = 18
"""Characters of unchanged text that stay beside changed words."""

_SIGNS = {"add": "+", "remove": "-", "replace": "~", "move": ">"}
_SIGN_ROLES = {"+": "done", "-": "failed", ">": "fork", "~": "waits"}


def tint(sign: str) -> str:
    """The role that lies under a whole line."""
    return {"+": "added", "-": "removed"}.get(sign, "")


def paint_line(
    row: DiffRow, sign: str, value: Value, words: Sequence[Word] | None, width: int, ui: Ui
) -> list[Span]:
    """A line of the unified form."""
    if row.kind == "fold":
        return _fold(row, ui)
    side: Side = "old" if sign == "-" else "new"
    spans = [Span(f"{sign if sign != ' ' else ' '} ", _SIGN_ROLES.get(sign, "")), *_label(row)]
    room = max(width - sum(columns(span.text) for span in spans), 12)
    return [*spans, *_value(row, value, words, side, room, ui), *_moved(row, ui)]


def paint_sides(row: DiffRow, words: Sequence[Word] | None, width: int, ui: Ui) -> list[Span]:
    """A row of the form with two columns."""
    if row.kind == "fold":
        return _fold(row, ui)
    half = max((width - 3) // 2, 10)
    sign = _SIGNS.get(row.kind, " ")
    left, right = _half(row, "old", words, half, ui), _half(row, "new", words, half, ui)
    between = Span(f" {sign} ", _SIGN_ROLES.get(sign, ""))
    return [*left, between, *right]


def _half(row: DiffRow, side: Side, words: Sequence[Word] | None, width: int, ui: Ui) -> list[Span]:
    value = row.old if side == "old" else row.new
    if value is ABSENT:
        return pad([], width)
    label = _label(row)
    room = max(width - sum(columns(span.text) for span in label), 8)
    spans = pad(fit([*label, *_value(row, value, words, side, room, ui)], width, ui.cut), width)
    changed = row.kind in ("add", "remove", "replace")
    under = ("removed" if side == "old" else "added") if changed else ""
    return [Span(text, f"{under} {role}".strip()) for text, role in spans]


def _fold(row: DiffRow, ui: Ui) -> list[Span]:
    cut_sign = "..." if ui.ascii else "…"
    return [Span("  " + "  " * row.depth), Span(f"{cut_sign} {row.hidden:,} unchanged", "faint")]


def _label(row: DiffRow) -> list[Span]:
    role = "" if row.kind in ("add", "remove", "replace", "open", "move") else "dim"
    return [Span("  " * row.depth), Span(cut(row.label, 40), role), Span("  " if row.label else "")]


def _value(
    row: DiffRow, value: Value, words: Sequence[Word] | None, side: Side, room: int, ui: Ui
) -> list[Span]:
    if row.kind == "open":
        return [Span(one_line(value, room), "faint")]
    if words is not None:
        return word_spans(words, side, ui)
    role = "dim" if row.kind == "same" else "string" if isinstance(value, str) else ""
    return [Span(one_line(value, room), role)]


def _moved(row: DiffRow, ui: Ui) -> list[Span]:
    return [Span(f"  from {row.was}", "fork")] if row.was else []


def word_spans(words: Sequence[Word], side: Side, ui: Ui) -> list[Span]:
    """One side of a word diff in one line: changed words set off, long unchanged stretches cut."""
    sign = "-" if side == "old" else "+"
    role = "removed-word" if side == "old" else "added-word"
    cut_sign = ui.cut
    spans = [Span('"', "string")]
    shown = [word for word in words if word[0] in (" ", sign)]
    for k, (kind, text) in enumerate(shown):
        if kind != " ":
            spans.append(Span(escape(cut(text, 2_000)), f"string {role}"))
            continue
        before, after = k == 0, k == len(shown) - 1
        if before and len(text) > _NEAR:
            text = cut_sign + text[-_NEAR:]
        elif after and len(text) > 3 * _NEAR:
            text = text[: 3 * _NEAR] + cut_sign
        elif not before and not after and len(text) > 2 * _NEAR + 1:
            text = text[:_NEAR] + cut_sign + text[-_NEAR:]
        spans.append(Span(escape(text), "string"))
    spans.append(Span('"', "string"))
    return spans
