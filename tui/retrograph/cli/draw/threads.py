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
