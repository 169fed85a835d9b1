"""The thread list as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from retrograph.cli.draw.words import (
    STATUS_STYLE,
    header,
    status_glyph,
    status_words,
    thread_name,
)
from retrograph.cli.paint import Column, Line, Span, table
from retrograph.cli.session import Session
from retrograph.engine.ids import time_of
from retrograph.engine.text import ago, local, size
from retrograph.engine.threads.status import ThreadInfo

_NARROW = 64
"""In fewer columns each thread is told in short form."""

_SHORT = (
    Column(""),
    Column("thread", flexible=True, least=8),
    Column("#", right=True),
    Column("last"),
    Column("next", flexible=True, least=8),
)


def thread_lines(
    session: Session, infos: Sequence[ThreadInfo], now: datetime, sizes: bool
) -> Iterator[Line]:
    """Everything that `threads` prints for people."""
    out = session.out
    if not infos:
        return
    if out.terminal:
        yield header(session, f"{len(infos):,} thread{'s' * (len(infos) != 1)}", "")
        yield []
    if out.width is not None and out.width < _NARROW:
        shown = [_short_row(session, info, now) for info in infos]
        yield from table(_SHORT, shown, out.width)
        return
    heads = [
        Column("status"),
        Column("thread", flexible=True, least=12),
        Column("checkpoints", right=True),
        Column("last activity"),
        *([Column("size", right=True)] if sizes else []),
        Column("next", flexible=True, least=10),
    ]
    rows = [_row(session, info, now, sizes) for info in infos]
    yield from table(heads, rows, out.width)


def _short_row(session: Session, info: ThreadInfo, now: datetime) -> list[Line]:
    """The status by its glyph alone, and behind it where nothing else is to be said."""
    out, row, status = session.out, info.row, info.status
    when = time_of(row.last_id)
    last = "–" if when is None else ago(when, now).removesuffix(" ago")
    if last[:2].isdigit() and "-" in last:
        last = last[5:]  # a date: the year goes first
    words = status_words(info.step, status, out.ascii)
    return [
        [Span(status_glyph(status, out.ascii), STATUS_STYLE[status])],
        [Span(thread_name(row.thread_id), "strong")],
        [Span(f"{row.checkpoints:,}")],
        [Span(last, "dim")],
        words or [Span(status, STATUS_STYLE[status])],
    ]


def _row(session: Session, info: ThreadInfo, now: datetime, sizes: bool) -> list[Line]:
    out, row, status = session.out, info.row, info.status
    when = time_of(row.last_id)
    if when is None:
        last = "–"
    else:
        last = ago(when, now) if out.terminal else local(when, "%Y-%m-%d %H:%M:%S")
    bytes_ = [[Span(size(row.size) if row.size is not None else "–")]] if sizes else []
    return [
        [Span(f"{status_glyph(status, out.ascii)} {status}", STATUS_STYLE[status])],
        [Span(thread_name(row.thread_id), "strong")],
        [Span(f"{row.checkpoints:,}")],
        [Span(last, "dim")],
        *bytes_,
        status_words(info.step, status, out.ascii),
    ]
