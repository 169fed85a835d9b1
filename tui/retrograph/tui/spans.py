"""Lines of text with a meaning each, measured in columns and cut; styles come from the theme.

A role names what a piece of text is; `roles` says how that looks. Texts that came out of a store
must have been escaped before (`retrograph.engine.text.escape`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len, set_cell_size


class Span(NamedTuple):
    """A piece of a line. `role` is one of `roles.ROLES`, or some of them with blanks between, ""
    for plain text."""

    text: str
    role: str = ""


Line: TypeAlias = Sequence[Span]


def columns(text: str) -> int:
    """How many columns a terminal gives to `text`."""
    return len(text) if text.isascii() else cell_len(text)


def width(line: Iterable[Span]) -> int:
    return sum(columns(span.text) for span in line)


def clip(text: str, limit: int, cut: str = "…") -> str:
    """At most `limit` columns of `text`, the last one `cut` where something was left out."""
    if columns(text) <= limit:
        return text
    if limit < 1:
        return ""
    if text.isascii():
        return text[: limit - 1] + cut
    # Only what can be seen is measured: a text may be megabytes long.
    return set_cell_size(text[:limit], limit - 1).rstrip() + cut


def fit(line: Iterable[Span], limit: int, cut: str = "…") -> list[Span]:
    """The line cut to `limit` columns."""
    kept: list[Span] = []
    room = limit
    for span in line:
        taken = columns(span.text)
        if taken > room:
            shown = clip(span.text, room, cut)
            if shown:
                kept.append(Span(shown, span.role))
            elif kept:
                kept[-1] = Span(_last_cut(kept[-1].text, cut), kept[-1].role)
            break
        kept.append(span)
        room -= taken
    return kept


def _last_cut(text: str, cut: str) -> str:
    return clip(text + " ", columns(text), cut)


def pad(line: Iterable[Span], to: int) -> list[Span]:
    """The line filled with blanks to `to` columns; longer ones as they are."""
    spans = list(line)
    missing = to - width(spans)
    if missing > 0:
        spans.append(Span(" " * missing))
    return spans


def spread(left: Line, right: Line, limit: int, cut: str = "…") -> list[Span]:
    """`left`, and `right` at the right edge; `left` is cut where both do not fit."""
    if not right:
        return fit(left, limit, cut)
    edge = width(right)
    gap = limit - edge - width(left)
    if gap > 0:
        return [*left, Span(" " * gap), *right]
    room = max(limit - edge - 1, 0)
    return fit([*pad(fit(left, room, cut), room), Span(" "), *right], limit, cut)
