"""Values as outlines: names, one line each, types and sizes; or one value in full."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from retrograph.cli.paint import Line, Span, Style, clip, columns, fit, pad, spread
from retrograph.cli.session import Session
from retrograph.engine.text import escape, size
from retrograph.engine.values import is_message
from retrograph.engine.views.outline import Outline, Row
from retrograph.engine.views.summary import one_line, quoted

_UNSAID = 120  # columns of a line that may be as long as it likes
_NAMES = 24  # names longer than this stand out of their column
_FEW = 8  # a container of so many parts is opened
_DEEP = 3
_ROWS = 200  # rows that opening may make; below them things stay folded
_ALL = 20_000  # rows of a value that is shown in full


def outline_lines(session: Session, value: Any, indent: int = 2) -> Iterator[Line]:
    """The parts of a value, small ones opened a few levels deep."""
    outline = Outline(value)
    _open_small(outline)
    yield from _rows(session, outline, indent)


def block_lines(session: Session, name: str, value: Any) -> Iterator[Line]:
    """One value in full: every part of it, and long texts line by line."""
    outline = Outline({name: value})
    whole = True
    if outline.row(0).children:
        whole = outline.expand_levels(0, 1000, _ALL)
    yield from _rows(session, outline, 0, full=True)
    if not whole:
        yield [Span(f"… more than {_ALL:,} parts: --json prints all of them", "dim")]


def _open_small(outline: Outline) -> None:
    at, budget = 0, _ROWS
    while at < len(outline):
        row = outline.row(at, 8)
        small = 0 < row.children <= min(_FEW, budget) and row.depth < _DEEP
        if small and not is_message(row.value):
            budget -= outline.expand(at)
        at += 1


def _rows(session: Session, outline: Outline, indent: int, full: bool = False) -> Iterator[Line]:
    width = session.out.page
    rooms = _rooms(outline)
    for at in range(len(outline)):
        row = outline.row(at, (width or _UNSAID) + 1)
        left = _left(session, row, rooms[at], indent)
        right = _right(row, width is not None)
        long_text = full and isinstance(row.value, str) and _is_long(row.value)
        if long_text:
            yield spread(left, right, width)
            margin = " " * (indent + 2 * row.depth + 4)
            for text in row.value.splitlines():
                yield [Span(margin), Span(escape(text), "string")]
            continue
        room = None if width is None else width - sum(columns(s.text) for s in (*left, *right)) - 2
        yield spread([*left, *_value(row, room)], right, width)


def _rooms(outline: Outline) -> list[int]:
    """Columns for the name of each row: the parts of one container have theirs aligned."""
    rooms: list[list[int]] = []
    siblings: list[list[int]] = []  # the group that goes on, by depth
    for at in range(len(outline)):
        row = outline.row(at, 1)
        del siblings[row.depth + 1 :]
        if len(siblings) == row.depth:
            siblings.append([0])
        group = siblings[row.depth]
        group[0] = max(group[0], min(columns(_name(row)), _NAMES))
        rooms.append(group)
    return [group[0] for group in rooms]


def _name(row: Row) -> str:
    if isinstance(row.key, str):
        return escape(row.key) if row.key else '""'
    return str(row.key) if isinstance(row.key, int) else one_line(row.key, 40)


def _left(session: Session, row: Row, room: int, indent: int) -> list[Span]:
    if session.out.ascii:
        folded, opened = "> ", "v "
    else:
        folded, opened = "▶ ", "▼ "
    glyph = "  " if not row.children else opened if row.open else folded
    name = pad([Span(_name(row))], room)
    return [Span(" " * (indent + 2 * row.depth)), Span(glyph, "dim"), *name, Span("  ")]


def _value(row: Row, room: int | None) -> list[Span]:
    style: Style = ""
    if isinstance(row.value, str):
        style = "string"
        text = quoted(row.value, max(room if room is not None else _UNSAID, 20))
    else:
        text = row.summary
        if isinstance(row.value, int | float | bool) or row.value is None:
            style = "number"
        elif row.children and not text.startswith(("[", "{")):
            style = "class"
    return fit([Span(text, style)], room)


def _right(row: Row, aligned: bool) -> list[Span]:
    """The type and the size, at the right edge in columns of their own."""
    bytes_ = "" if row.size is None else size(row.size)
    if not aligned:
        return [Span(escape(row.type)), Span(f"  {bytes_}" if bytes_ else "")]
    return [Span(clip(escape(row.type), 14).ljust(14), "dim"), Span(bytes_.rjust(8), "dim")]


def _is_long(text: str) -> bool:
    return len(text) > 60 or "\n" in text
