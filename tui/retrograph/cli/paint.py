"""Lines of styled text for a terminal: measured in columns, cut, aligned, coloured.

A line is spans of text with a meaning each; the colour of a meaning is decided here alone. Texts
must have been escaped before (`retrograph.engine.text.escape`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

Style: TypeAlias = Literal[
    "",
    "dim",
    "strong",
    "accent",
    "done",
    "waits",
    "failed",
    "fork",
    "string",
    "number",
    "class",
    "added",
    "removed",
    "match",
]

# The terminal's own sixteen colours, so that its theme decides how they look.
_SGR: dict[str, str] = {
    "dim": "2",
    "strong": "1",
    "accent": "36",
    "done": "32",
    "waits": "33",
    "failed": "31",
    "fork": "35",
    "string": "32",
    "number": "34",
    "class": "3",
    "added": "1;4;32",
    "removed": "1;4;31",
    "match": "1;33",
}


class Span(NamedTuple):
    """A piece of a line."""

    text: str
    style: Style = ""


Line: TypeAlias = Sequence[Span]


def columns(text: str) -> int:
    """How many columns a terminal gives to `text`."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def width(line: Line) -> int:
    return sum(columns(span.text) for span in line)


def plain(line: Line) -> str:
    """The line without colour, and without blanks at its end."""
    return "".join(span.text for span in line).rstrip()


def coloured(line: Line) -> str:
    """The line with the terminal's codes, each span closed again."""
    parts = []
    for text, style in line:
        code = _SGR.get(style)
        parts.append(f"\x1b[{code}m{text}\x1b[0m" if code and text else text)
    return "".join(parts).rstrip()


def clip(text: str, limit: int) -> str:
    """At most `limit` columns of `text`, the last `…` where something was cut."""
    if columns(text) <= limit:
        return text
    if limit < 1:
        return ""
    if text.isascii():
        return text[: limit - 1] + "…"
    from rich.cells import set_cell_size

    return set_cell_size(text, limit - 1).rstrip() + "…"


def wrap(text: str, limit: int | None) -> Iterator[str]:
    """`text` in lines of at most `limit` columns, broken between words where there are some;
    without blanks at their ends."""
    text = text.rstrip(" ")
    while limit is not None and len(text) > 1 and columns(text) > limit:
        end = limit if text.isascii() else _fitting(text, limit)
        # A word that begins within the last half goes to the next line.
        space = text.rfind(" ", end // 2, end + 1)
        end = end if space < 1 else space
        yield text[:end].rstrip(" ")
        text = text[end:].lstrip(" ")
    yield text


def _fitting(text: str, limit: int) -> int:
    """How many characters of `text` fit; at least one."""
    from rich.cells import cell_len

    room = limit
    for index, character in enumerate(text):
        room -= cell_len(character)
        if room < 0:
            return max(index, 1)
    return len(text)


def fit(line: Line, limit: int | None) -> list[Span]:
    """The line cut to `limit` columns; `None`: as it is."""
    if limit is None or width(line) <= limit:
        return list(line)
    kept: list[Span] = []
    room = limit
    for span in line:
        taken = columns(span.text)
        if taken > room or (taken == room and span is not line[-1]):
            kept.append(Span(clip(span.text + "…" * (taken <= room), room), span.style))
            break
        kept.append(span)
        room -= taken
    return kept


def pad(line: Line, to: int) -> list[Span]:
    """The line filled with blanks to `to` columns; longer ones as they are."""
    return [*line, Span(" " * max(to - width(line), 0))]


def spread(left: Line, right: Line, limit: int | None, gap: int = 2) -> list[Span]:
    """`left`, and `right` at the right edge; `left` is cut where both do not fit, and `right`
    where it takes more than two thirds.

    Without a limit `right` follows after the gap.
    """
    if limit is None:
        return [*left, Span(" " * gap if right else ""), *right]
    if width(right) > limit * 2 // 3:
        right = fit(right, limit * 2 // 3)
    room = max(limit - width(right) - gap, 0)
    return [*pad(fit(left, room), room), Span(" " * gap), *right]


class Column(NamedTuple):
    """How a column of a table is laid out."""

    title: str
    right: bool = False
    flexible: bool = False
    """Gives way first where the table is too wide."""
    least: int = 8
    """A flexible column is not made narrower than this."""


_WIDEST = 48  # without a limit, longer cells stand out of their column instead of widening it


def table(
    heads: Sequence[Column], rows: Iterable[Sequence[Line]], limit: int | None
) -> list[list[Span]]:
    """The rows below a dim line of titles, in aligned columns two blanks apart."""
    cells = [list(row) for row in rows]
    widths = [
        max([columns(head.title), *(width(row[k]) for row in cells)])
        for k, head in enumerate(heads)
    ]
    if limit is None:
        widths = [
            min(w, max(_WIDEST, columns(h.title))) for w, h in zip(widths, heads, strict=True)
        ]
    else:
        _narrow(widths, heads, limit)
    lines = [_row(heads, widths, [[Span(head.title, "dim")] for head in heads], limit)]
    lines += (_row(heads, widths, row, limit) for row in cells)
    return lines


def _narrow(widths: list[int], heads: Sequence[Column], limit: int) -> None:
    """Make the widest flexible columns narrower until the table fits, or none gives way."""
    over = sum(widths) + 2 * (len(widths) - 1) - limit
    while over > 0:
        able = [k for k, head in enumerate(heads) if head.flexible and widths[k] > head.least]
        if not able:
            return
        widest = max(able, key=lambda k: widths[k])
        widths[widest] -= 1
        over -= 1


def _row(
    heads: Sequence[Column], widths: Sequence[int], cells: Sequence[Line], limit: int | None
) -> list[Span]:
    line: list[Span] = []
    for k, (head, room, cell) in enumerate(zip(heads, widths, cells, strict=True)):
        shown = fit(cell, None if limit is None else room)
        blank = Span(" " * max(room - width(shown), 0))
        last = k == len(heads) - 1
        line += [blank, *shown] if head.right else [*shown, *([] if last else [blank])]
        if not last:
            line.append(Span("  "))
    return fit(line, limit)
