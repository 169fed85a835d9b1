"""Words that several outputs share: statuses, times of day, titles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

from retrograph.cli.paint import Line, Span, Style, spread
from retrograph.cli.session import Session
from retrograph.engine.steps.step import Question, Step
from retrograph.engine.text import cut, escape, local
from retrograph.engine.thread import Thread
from retrograph.engine.tree.labels import ASCII, UNICODE, names
from retrograph.engine.values import Value, children, is_message
from retrograph.engine.views.redact import Redactor
from retrograph.engine.views.summary import one_line

STATUS_STYLE: Mapping[str, Style] = {
    "done": "done",
    "interrupted": "waits",
    "error": "failed",
    "unfinished": "accent",
}

_GLYPHS = {"done": "✓", "interrupted": "?", "error": "×", "unfinished": "●"}
_ASCII_GLYPHS = {"done": "v", "interrupted": "?", "error": "x", "unfinished": "*"}
_QUESTION = 200


def status_glyph(status: str, ascii: bool) -> str:
    return (_ASCII_GLYPHS if ascii else _GLYPHS)[status]


def status_words(head: Step, status: str, ascii: bool = False) -> list[Span]:
    """What a thread waits for: the open question, the failure, or the nodes that are due."""
    if status == "interrupted":
        waiting = [q for q in head.questions if not q.answered]
        more = f"  +{len(waiting) - 1} more" if len(waiting) > 1 else ""
        asked = question_line(waiting[0].value)
        return [Span(f"{_named(waiting[0].node)} asks "), Span(asked, "waits"), Span(more, "dim")]
    if status == "error" and head.errors:
        node, error = head.errors[0]
        more = f"  +{len(head.errors) - 1} more" if len(head.errors) > 1 else ""
        said = escape(error[:_QUESTION])
        return [Span(f"{_named(node)}: "), Span(said, "failed"), Span(more, "dim")]
    if status == "unfinished":
        signs = ASCII if ascii else UNICODE
        if not head.waiting:
            return [Span(f"{names(head.next, signs)} finished, their step is not saved")]
        return [Span(f"next {names(head.waiting, signs)}")]
    return [] if head.next_exact else [Span("not certain: an old format", "dim")]


def question_line(value: Value) -> str:
    """What is asked, in one line: of a map its entries, since its keys alone ask nothing."""
    parts = [(k, v) for k, v in islice(children(value), 6) if isinstance(k, str)]
    if not parts or is_message(value):
        return one_line(value, _QUESTION)
    return cut(", ".join(f"{escape(k)}: {one_line(v, 80)}" for k, v in parts), _QUESTION)


def asks(question: Question, redactor: Redactor) -> list[Span]:
    """`hold asks question: "Release it?"`."""
    asked = question_line(redactor.value(question.value))
    return [Span(f"{_named(question.node)} asks "), Span(asked, "waits")]


def thread_name(thread_id: str) -> str:
    """A thread's id, escaped; quoted where nothing or not all of it would be seen."""
    shown = escape(thread_id)
    return shown if shown and shown == shown.strip() else f"'{shown}'"


def _named(node: str | None) -> str:
    return "?" if node is None else escape(node)


def header(session: Session, name: str, words: str, thread: Thread | None = None) -> Line:
    """`name · words` left; right what was opened, and that looking changes nothing. `thread`: what
    is looked at, which may be of one of the source's sandboxes."""
    loader = session.loader if thread is None else thread.loader
    mode = " · read-only" if loader.read_only else ""
    where = session.redactor.location(loader.location)
    right = [Span(escape(f"{_short(where)} · {loader.name}{mode}"), "dim")]
    return spread([Span(name, "strong"), Span(words)], right, session.out.page)


def _short(location: str) -> str:
    """A path's own name: the folder is known to who typed it."""
    return location.rsplit("/", 1)[-1] if "://" not in location else location


def clock(times: Sequence[datetime]) -> Callable[[datetime], str]:
    """How to write each of these times: the time of day where all are of one day."""
    ends = (min(times), max(times)) if times else ()
    form = "%H:%M:%S" if len({local(t, "%Y-%m-%d") for t in ends}) < 2 else "%m-%d %H:%M"
    return lambda when: local(when, form)


def days(times: Sequence[datetime]) -> str:
    """`2026-01-05`, or from when to when."""
    first, last = (local(t, "%Y-%m-%d") for t in (min(times), max(times)))
    return first if first == last else f"{first} – {last}"


def fields(pairs: Sequence[tuple[str, Line]], indent: int = 0) -> Iterator[Line]:
    """`name  value` lines with the names in a dim column."""
    room = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        yield [Span(" " * indent + name.ljust(room) + "  ", "dim"), *value]


def tail(id_: str) -> str:
    """The end of a task id, enough to tell it from others."""
    return id_ if len(id_) <= 8 else f"…{id_[-6:]}"
