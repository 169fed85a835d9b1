"""Who set a value, newest first, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from retrograph.cli.draw.words import clock, header, thread_name
from retrograph.cli.paint import Column, Line, Span, Style, table
from retrograph.cli.session import Session
from retrograph.engine.ids import time_of
from retrograph.engine.model import CheckpointKey
from retrograph.engine.paths import pointer
from retrograph.engine.search.blame import Blame, Set
from retrograph.engine.search.setters import Setter
from retrograph.engine.text import escape
from retrograph.engine.threads.refs import short_length
from retrograph.engine.tree.labels import ASCII, UNICODE, names
from retrograph.engine.values import ABSENT
from retrograph.engine.views.summary import one_line

if TYPE_CHECKING:
    from retrograph.engine.thread import Thread

_VALUE = 100


def blame_lines(
    session: Session, thread: Thread, key: CheckpointKey, traced: Blame, entries: Sequence[Set]
) -> Iterator[Line]:
    """Everything that `blame` prints for people."""
    history = thread.history
    end = short_length(history.ids)
    name = thread_name(key.thread_id) + (f"::{escape(key.ns)}" if key.ns else "")
    here = entries[0].path if entries else traced.path
    words = f"@{escape(key.id[-end:])}  {escape(pointer(here))}"
    yield header(session, name, words, thread)
    yield []
    times = [when for e in entries if (when := time_of(history.ids[e.checkpoint])) is not None]
    at = clock(times)
    heads = [
        Column("step", right=True),
        Column("set by", flexible=True, least=10),
        Column("at"),
        Column("checkpoint"),
        Column("value", flexible=True, least=16),
    ]
    rows: list[list[Line]] = []
    for entry in entries:
        id_ = history.ids[entry.checkpoint]
        when = time_of(id_)
        moved = f"  at {escape(pointer(entry.path))}" if entry.path != here else ""
        gone = entry.value is ABSENT
        value = "removed" if gone else one_line(entry.value, _VALUE)
        rows.append(
            [
                [Span("" if entry.by.step is None else str(entry.by.step))],
                _by(session, entry.by),
                [Span("" if when is None else at(when), "dim")],
                [Span(escape(id_[-end:]))],
                [Span(value, "failed" if gone else ""), Span("" if gone else moved, "dim")],
            ]
        )
    yield from table(heads, rows, session.out.width)


_SOURCES: dict[str, tuple[str, Style]] = {
    "update": ("an edit", "waits"),
    "input": ("the input", "accent"),
    "fork": ("a copy", "fork"),
}


def _by(session: Session, by: Setter) -> Line:
    if by.node == "__start__":
        return [Span("the input", "accent")]
    if by.node is not None:
        return [Span(escape(by.node), "strong")]
    if by.source in _SOURCES:
        return [Span(*_SOURCES[by.source])]
    if by.task_id is not None:
        return [Span("an input or answer", "accent")]
    if by.ran:
        signs = ASCII if session.out.ascii else UNICODE
        return [Span(f"one of {names(by.ran, signs)}")]
    return [Span("not known", "dim")]
