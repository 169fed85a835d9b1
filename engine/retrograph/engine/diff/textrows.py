"""A changed text as lines beside each other, for reading both whole.

Dear Bob,              Dear Ann,              changed, the words in spans
… 7 unchanged
it is late.            it is on its way.
                       Thank you.             added
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from retrograph.engine.diff.words import Span


@dataclass(frozen=True, slots=True)
class TextRow:
    """A line of each text (without its line break), `None` where one has no such line."""

    old: tuple[Span, ...] | None
    new: tuple[Span, ...] | None
    changed: bool
    hidden: int = 0
    """Unchanged lines that this row stands for; then it has no sides."""


def text_rows(spans: Sequence[Span], context: int = 2) -> list[TextRow]:
    """Lines from the spans of a word diff; more than `context` unchanged ones before or after a
    change are folded."""
    return _folded(_rows(spans), context)


class _Side:
    """The lines of one text, as far as they have come."""

    def __init__(self) -> None:
        self.lines: list[list[Span]] = [[]]

    def add(self, span: Span) -> None:
        sign, text = span
        for k, piece in enumerate(text.split("\n")):
            if k:
                self.lines.append([])
            if piece:
                self.lines[-1].append((sign, piece))


def _rows(spans: Sequence[Span]) -> list[TextRow]:
    rows: list[TextRow] = []
    old, new = _Side(), _Side()
    for sign, text in spans:
        if sign == "-":
            old.add((sign, text))
        elif sign == "+":
            new.add((sign, text))
        else:
            # A line break in both texts: there the sides are level again.
            head, *others = text.split("\n")
            for piece, ends in ((head, False), *((line, True) for line in others)):
                if ends:
                    rows += _level(old, new)
                    old, new = _Side(), _Side()
                old.add((" ", piece))
                new.add((" ", piece))
    return rows + _level(old, new)


def _level(old: _Side, new: _Side) -> list[TextRow]:
    pairs = zip_longest(map(tuple, old.lines), map(tuple, new.lines))
    return [TextRow(a, b, a != b or any(sign != " " for sign, _ in a)) for a, b in pairs]


def _folded(rows: Sequence[TextRow], context: int) -> list[TextRow]:
    near = bytearray(len(rows))
    for k, row in enumerate(rows):
        if row.changed:
            for at in range(max(0, k - context), min(len(rows), k + context + 1)):
                near[at] = 1
    out: list[TextRow] = []
    k = 0
    while k < len(rows):
        end = near.find(1, k)
        end = len(rows) if end < 0 else end
        if end - k > 1:
            out.append(TextRow(None, None, False, end - k))
            k = end
        else:
            out.append(rows[k])
            k += 1
    return out
