"""Hits of a search, one a line, as they are found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from retrograph.cli.paint import Line, Span, columns, fit
from retrograph.cli.session import Session
from retrograph.engine.model import CheckpointKey
from retrograph.engine.paths import pointer
from retrograph.engine.text import cut, escape
from retrograph.engine.threads.refs import short_length, written

if TYPE_CHECKING:
    from retrograph.engine.search.grep import Hit
    from retrograph.engine.thread import Thread

_UNSAID = 120  # columns of a line that may be as long as it likes
_BEFORE = 24  # characters of text before the match
_LEAST = 30  # columns for the text
_PATH = 60


def hit_lines(session: Session, hits: Iterable[tuple[Thread, Hit]]) -> Iterator[Line]:
    """`REF  step  path  …text around the match…`; the REF can be given to `show`."""
    page = session.out.page
    ends: dict[str, int] = {}
    for thread, hit in hits:
        if hit.thread_id not in ends:
            ends = {hit.thread_id: short_length(thread.history.ids)}
        key = CheckpointKey(hit.thread_id, hit.ns, hit.id)
        ref = written(key, hit.id[-ends[hit.thread_id] :])
        step = thread.history.step(thread.history.find(hit.ns, hit.id))
        where = pointer(hit.path)
        if hit.where != "values":
            where = f"{hit.where[:-1]} {where}".rstrip()
        left = [
            Span(escape(ref), "strong"),
            Span("  " if step is None else f"  step {step}  ", "dim"),
            Span(escape(cut(where, _PATH)), "accent"),
            Span("  "),
        ]
        room = (page or _UNSAID) - sum(columns(span.text) for span in left)
        line = [*left, *_around(hit, max(room, _LEAST), session.out.ascii)]
        yield fit(line, page)


def _around(hit: Hit, room: int, ascii: bool) -> Iterator[Span]:
    """The match, and as much of the text beside it as there is room for."""
    sign = "..." if ascii else "…"
    begin = max(hit.begin - _BEFORE, 0)
    if begin:
        yield Span(sign, "dim")
    yield Span(escape(hit.text[begin : hit.begin]), "string")
    end = min(hit.end, hit.begin + room)
    yield Span(escape(hit.text[hit.begin : end]), "match")
    after = hit.text[end : end + max(room - (end - begin), 0)]
    yield Span(escape(after), "string")
    if end + len(after) < len(hit.text):
        yield Span(sign, "dim")
