"""Two snapshots against each other: one below the other, or in two columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from retrograph.cli.draw.words import header
from retrograph.cli.paint import Line, Span, Style, columns, fit, pad, plain
from retrograph.engine.diff.changes import Change
from retrograph.engine.diff.rows import DiffRow, diff_rows, unified
from retrograph.engine.diff.textrows import text_rows
from retrograph.engine.diff.words import Span as Word
from retrograph.engine.diff.words import shorten
from retrograph.engine.text import escape, size
from retrograph.engine.threads.refs import short_length, written
from retrograph.engine.values import ABSENT, Value
from retrograph.engine.views.summary import one_line, text_size

if TYPE_CHECKING:
    from retrograph.cli.commands.diff import Place
    from retrograph.cli.output import Output

_UNSAID = 160  # columns where lines may be as long as they like
_LONG = 60  # characters from which on a text is shown by its changed words
_LINE = 400  # a text with longer lines than that is one paragraph to us
_KEPT = 40  # unchanged characters beside a changed word

_STYLES: dict[str, Style] = {"-": "failed", "+": "done", ">": "fork", "~": "waits"}
_WORDS: dict[str, Style] = {"-": "removed", "+": "added"}


def diff_lines(
    a: Place,
    b: Place,
    old: dict[str, Any],
    new: dict[str, Any],
    changes: Sequence[Change],
    context: int,
    side_by_side: bool,
) -> Iterator[Line]:
    """Everything that `diff` prints for people."""
    pen = _Pen(b.session.out)
    yield header(b.session, f"{_named(a)} {pen.arrow} {_named(b)}", "")
    if a.session is not b.session:
        locations = (p.session.redactor.location(p.session.loader.location) for p in (a, b))
        yield [Span(escape(f" {pen.arrow} ".join(locations)), "dim")]
    yield []
    if not changes:
        yield [Span("Nothing differs.", "dim")]
        return
    rows = diff_rows(old, new, changes, context)
    yield from pen.sides(rows) if side_by_side else pen.unified(rows)


def change_lines(
    out: Output, old: Value, new: Value, changes: Sequence[Change], context: int = 0
) -> Iterator[Line]:
    """The changes one below the other."""
    yield from _Pen(out).unified(diff_rows(old, new, changes, context))


def _named(place: Place) -> str:
    if place.key is None:
        return "nothing"
    history = place.thread.history
    step = history.step(history.find(place.key.ns, place.key.id))
    end = place.key.id[-short_length(history.ids) :]
    said = "" if step is None else f" · step {step}"
    return escape(written(place.key, end)) + said


class _Pen:
    """Draws rows."""

    def __init__(self, out: Output) -> None:
        self.width = out.width or _UNSAID
        self.colour = out.colour
        self.arrow = "->" if out.ascii else "→"
        self.cut = "..." if out.ascii else "…"
        self.bar = "|" if out.ascii else "│"

    # One column.

    def unified(self, rows: Iterable[DiffRow]) -> Iterator[Line]:
        rows = list(rows)
        for row in rows:
            words = _words(row)
            if words is not None:
                yield from self._text(row, words)
                continue
            for sign, _, value in unified([row]):
                if row.kind == "fold":
                    yield self._fold(row)
                    continue
                style = _STYLES.get(sign, "dim" if row.kind == "same" else "")
                left = [Span(f"{sign} ", style), *_label(row, style), *_moved(row)]
                room = self.width - sum(columns(span.text) for span in left)
                yield fit([*left, *_said(row, value, style, room)], self.width)

    def _fold(self, row: DiffRow) -> Line:
        return [Span(f"  {'  ' * row.depth}{self.cut} {row.hidden:,} unchanged", "dim")]

    def _text(self, row: DiffRow, words: Sequence[Word]) -> Iterator[Line]:
        """A long text: its name, and below it the lines, or the words, that changed."""
        old, new = row.old, row.new
        sizes = f"{size(text_size(old))} {self.arrow} {size(text_size(new))}"
        yield [Span("~ ", "waits"), *_label(row, "waits"), Span(f"text, {sizes}", "dim")]
        margin = "  " + "  " * (row.depth + 1)
        if not _has_lines(old, new):
            line = self._marked(shorten(words, _KEPT))
            yield from _wrapped(line, max(self.width - len(margin), 20), margin)
            return
        for text in text_rows(words, 1):
            if text.hidden:
                yield [Span(f"{margin}{self.cut} {text.hidden:,} unchanged lines", "dim")]
                continue
            if not text.changed:
                yield fit([Span(margin), *_side_words(text.new or (), "")], self.width)
                continue
            for sign, side in (("-", text.old), ("+", text.new)):
                if side is not None and not (sign == "+" and side == text.old):
                    base = _STYLES[sign]
                    yield fit([Span(f"{margin[:-2]}{sign} ", base), *_side_words(side, base)], None)

    def _marked(self, words: Iterable[Word]) -> Iterator[Span]:
        """Old and new words in one line: set off by colour, or by brackets without it."""
        brackets = {" ": ("", ""), "-": ("", ""), "+": ("", "")}
        if not self.colour:
            brackets |= {"-": ("[-", "-]"), "+": ("{+", "+}")}
        for sign, text in words:
            before, after = brackets[sign]
            yield Span(f"{before}{escape(text)}{after}", _WORDS.get(sign, ""))

    # Two columns.

    def sides(self, rows: Iterable[DiffRow]) -> Iterator[Line]:
        half = max((self.width - 3) // 2, 10)
        for row in rows:
            if row.kind == "fold":
                yield self._fold(row)
                continue
            words = _words(row)
            left, right = self._cells(row, words, half)
            sign = {"add": "+", "remove": "-", "replace": "~", "move": ">"}.get(row.kind, self.bar)
            for k, (old, new) in enumerate(zip_longest(left, right, fillvalue=())):
                between = sign if k == 0 else "~" if plain(old) != plain(new) else self.bar
                style = _STYLES.get(between, "dim")
                yield [*pad(fit(old, half), half), Span(f" {between} ", style), *fit(new, half)]

    def _cells(
        self, row: DiffRow, words: Sequence[Word] | None, half: int
    ) -> tuple[list[Line], list[Line]]:
        """The lines of both sides."""
        if words is None:
            return self._cell(row, row.old, "-", half), self._cell(row, row.new, "+", half)
        margin = "  " * (row.depth + 1)
        room = max(half - len(margin), 8)
        if _has_lines(row.old, row.new):
            left: list[Line] = [[Span("  " * row.depth), Span(row.label)]]
            right: list[Line] = [[Span("  " * row.depth), Span(row.label)]]
            for text in text_rows(words, 1):
                hidden = [Span(f"{margin}{self.cut} {text.hidden:,} unchanged lines", "dim")]
                for lines, side in ((left, text.old), (right, text.new)):
                    line = [Span(margin), *_side_words(side or (), "")]
                    lines.append(hidden if text.hidden else line)
            return left, right
        cells = []
        for sign in ("-", "+"):
            lines = [[Span("  " * row.depth), Span(row.label)]]
            shown = [word for word in shorten(words, _KEPT) if word[0] in (" ", sign)]
            lines += map(list, _wrapped(_side_words(shown, ""), room, margin))
            cells.append(lines)
        return cells[0], cells[1]

    def _cell(self, row: DiffRow, value: Value, sign: str, half: int) -> list[Line]:
        if value is ABSENT:
            return [()]
        changed = row.kind in ("add", "remove", "replace")
        style: Style = _STYLES[sign] if changed else "dim" if row.kind == "same" else ""
        if row.kind == "move" and sign == "-":
            return [[Span("  " * row.depth), Span(row.was, "fork")]]
        label = [Span("  " * row.depth), Span(row.label, style), Span("  " if row.label else "")]
        room = half - sum(columns(span.text) for span in label)
        return [[*label, *_said(row, value, style, room)]]


def _label(row: DiffRow, style: Style) -> list[Span]:
    return [Span("  " * row.depth), Span(row.label, style), Span("  " if row.label else "")]


def _moved(row: DiffRow) -> list[Span]:
    return [Span(f"from {row.was}  ", "fork")] if row.was else []


def _said(row: DiffRow, value: Value, style: Style, room: int) -> list[Span]:
    if row.kind == "open":
        return [Span(one_line(value, max(room, 20)), "dim")]
    return [Span(one_line(value, max(room, 20)), style)]


def _words(row: DiffRow) -> list[Word] | None:
    """The changed words of a text that is too long to be shown twice."""
    if row.kind != "replace" or type(row.old) is not str or type(row.new) is not str:
        return None
    short = max(len(row.old), len(row.new)) <= _LONG and "\n" not in row.old + row.new
    return None if short or row.change is None else row.change.words()


def _has_lines(old: str, new: str) -> bool:
    """Whether texts are better shown by lines than as paragraphs."""
    return "\n" in old + new and all(len(t) <= _LINE for t in (*old.split("\n"), *new.split("\n")))


def _side_words(words: Iterable[Word], base: Style) -> Iterator[Span]:
    """The words of one side, the changed ones stronger."""
    for sign, text in words:
        yield Span(escape(text), _WORDS.get(sign, base))


def _wrapped(spans: Iterable[Span], room: int, margin: str) -> Iterator[Line]:
    """A long line in pieces of at most `room` columns, broken at blanks where there are some."""
    line: list[Span] = [Span(margin)]
    left = room
    for text, style in spans:
        for word in _pieces(text, room):
            wide = columns(word)
            if wide > left and left < room:
                yield line
                line, left = [Span(margin)], room
                word = word.lstrip()
                wide = columns(word)
            if line[-1].style == style and len(line) > 1:
                word = line.pop().text + word
            line.append(Span(word, style))
            left -= wide
    if len(line) > 1:
        yield line


def _pieces(text: str, room: int) -> Iterator[str]:
    """Words, each with the blank before it; longer ones cut."""
    at = 0
    while at < len(text):
        end = text.find(" ", at + 1)
        end = len(text) if end < 0 else end
        while end - at > room:
            yield text[at : at + room]
            at += room
        yield text[at:end]
        at = end
