"""One snapshot for people: where it is, what is next, how it was reached, and its values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from retrograph.cli.draw.values import block_lines, outline_lines
from retrograph.cli.draw.words import fields, header, tail, thread_name
from retrograph.cli.paint import Line, Span, Style, spread
from retrograph.cli.session import Session
from retrograph.engine.history import NONE, History
from retrograph.engine.ids import time_of
from retrograph.engine.steps.step import Step
from retrograph.engine.text import ago, escape, local, size
from retrograph.engine.thread import Snapshot, Thread, Write
from retrograph.engine.threads.pages import read_page
from retrograph.engine.threads.refs import short_length
from retrograph.engine.tree.labels import ASCII, UNICODE, Label, Labels, names
from retrograph.engine.views.summary import one_line

_FAMILY = 32
"""Children of one checkpoint that are listed, and asked where they went."""


def snapshot_lines(
    session: Session, thread: Thread, snapshot: Snapshot, raw: bool
) -> Iterator[Line]:
    """Everything that `show` prints."""
    history, key = thread.history, snapshot.key
    i = history.find(key.ns, key.id)
    end = short_length(history.ids)
    name = thread_name(key.thread_id) + (f"::{escape(key.ns)}" if key.ns else "")
    number = snapshot.envelope.step
    step = number if number is not None else history.step(i)
    words = f"@{escape(key.id[-end:])}" + (f" · step {step}" if step is not None else "")
    row = _row_of_tree(session, thread, i)  # All is read before anything is printed.
    yield header(session, name, words, thread)
    yield row
    yield []
    yield from fields(list(_facts(session, history, i, snapshot, end)))
    yield from _questions(session, snapshot.step)
    yield from _errors(snapshot.step)
    yield from _values("State", snapshot.values, session)
    if raw:
        yield from _values("Channels of LangGraph", snapshot.internal, session)
    yield from _writes(session, snapshot)
    yield from _values("Metadata", session.redactor(snapshot.envelope.metadata), session)


def channel_lines(session: Session, channels: Mapping[str, Any]) -> Iterator[Line]:
    """Some channels in full."""
    for k, (name, value) in enumerate(channels.items()):
        if k:
            yield []
        yield from block_lines(session, name, value)


def _row_of_tree(session: Session, thread: Thread, i: int) -> Line:
    history = thread.history
    near = [k for k in (i, history.parent(i), *history.children(i)[:_FAMILY]) if k != NONE]
    read = read_page(thread, near)
    labels = Labels(
        history,
        lambda k: read[k][1] if k in read else None,
        lambda k: read[k][0] if k in read else None,
    )
    label = labels.label(i)
    signs = ASCII if session.out.ascii else UNICODE
    left: list[Span] = []
    if label is not None:
        left = [Span(label.glyph(signs) + " ", _style(label)), Span(label.text(signs))]
    when = time_of(history.ids[i])
    if when is None:
        return left
    exact = local(when, "%Y-%m-%d %H:%M:%S")
    since = f"{ago(when, datetime.now(UTC))} · " if session.out.terminal else ""
    return spread(left, [Span(since + exact, "dim")], session.out.page)


def _style(label: Label) -> Style:
    if label.trouble:
        return "failed" if label.trouble == "failed" else "waits"
    styles: Mapping[str, Style] = {"edit": "waits", "copy": "fork", "input": "accent"}
    return styles.get(label.kind, "")


def _facts(
    session: Session, history: History, i: int, snapshot: Snapshot, end: int
) -> Iterator[tuple[str, Line]]:
    step, envelope = snapshot.step, snapshot.envelope
    signs = ASCII if session.out.ascii else UNICODE
    ids = history.ids
    leaf = not history.has_children(i)
    yield "next", _next(step, leaf, signs)
    if came := _routes(step.came_by, signs):
        yield "came by", came
    if went := _routes(step.route, signs, ended=True):
        yield "went to", went
    yield "id", [Span(escape(snapshot.key.id)), *_marks(history, i)]
    parent_id = history.parent_id(i)
    if parent_id is None:
        yield "parent", [Span("none: this is a root", "dim")]
    else:
        gone = history.parent(i) == NONE
        yield "parent", [Span(escape(parent_id)), Span("  not in the store" * gone, "dim")]
    children = history.children(i)
    if children:
        more = f" and {len(children) - _FAMILY:,} more" if len(children) > _FAMILY else ""
        listed = ", ".join(escape(ids[k][-end:]) for k in children[:_FAMILY])
        yield "children", [Span(listed + more)]
    yield "source", [Span(escape(envelope.source or "not stored")), *_run(envelope.metadata)]
    if (stored := history.size(i)) is not None:
        yield "size", [Span(size(stored))]
    if step.repaired:
        yield "repaired", [Span(escape(step.repaired), "waits")]
    if envelope.unreadable:
        yield "unreadable", [Span(escape(envelope.unreadable), "failed")]


def _next(step: Step, leaf: bool, signs: Any) -> list[Span]:
    if not step.next:
        nothing = "nothing: this line is finished" if leaf else "nothing"
        old = "not known: this old format does not tell"
        return [Span(nothing if step.next_exact else old, "dim")]
    unsure = [] if step.next_exact else [Span("  not certain: an old format", "dim")]
    waiting = Counter(step.waiting)
    finished = Counter(step.next) - waiting
    spans = [Span(names(sorted(waiting.elements()), signs), "accent")] if waiting else []
    if finished:
        done = names(sorted(finished.elements()), signs)
        spans.append(Span(f"  finished: {done}" if waiting else done, "dim" if waiting else ""))
    return [*spans, *unsure]


def _routes(routes: Mapping[str, tuple[str, ...]], signs: Any, ended: bool = False) -> list[Span]:
    words = []
    for node, destinations in routes.items():
        where = names(destinations, signs) if destinations else "END or no edge" if ended else "–"
        words.append(f"{escape(node)} {signs.arrow} {where}")
    return [Span(f" {signs.dot} ".join(words))] if words else []


def _marks(history: History, i: int) -> list[Span]:
    return [
        Span(f"  {mark}", "accent" if mark == "head" else "dim")
        for mark, holds in (
            ("head", history.head(history.ns(i)) == i),
            ("leaf", not history.has_children(i)),
        )
        if holds
    ]


def _run(metadata: Mapping[str, Any]) -> list[Span]:
    run_id = metadata.get("run_id")
    return [Span(f"  run {escape(run_id)}", "dim")] if isinstance(run_id, str) else []


def _questions(session: Session, step: Step) -> Iterator[Line]:
    if step.questions:
        yield []
        yield [Span("Questions", "strong")]
    for question in step.questions:
        glyph = Span("  ✓ ", "done") if question.answered else Span("  ? ", "waits")
        state = Span("answered", "done") if question.answered else Span("open", "waits")
        node = escape(question.node) if question.node is not None else "?"
        yield [glyph, Span(f"{node} "), state, Span(f"  {escape(question.id or '')}", "dim")]
        yield from outline_lines(session, {"asks": question.value}, 2)


def _errors(step: Step) -> Iterator[Line]:
    if step.errors:
        yield []
        yield [Span("Errors", "strong")]
    for node, error in step.errors:
        name = escape(node) if node is not None else "?"
        yield [Span("  × ", "failed"), Span(f"{name}: "), Span(escape(error), "failed")]


def _values(title: str, values: Any, session: Session) -> Iterator[Line]:
    yield []
    yield [Span(title, "strong")]
    if not values:
        yield [Span("  nothing", "dim")]
        return
    yield from outline_lines(session, values)


def _writes(session: Session, snapshot: Snapshot) -> Iterator[Line]:
    """What the tasks due here wrote, task by task."""
    if not snapshot.writes:
        return
    yield []
    yield [Span("Writes", "strong"), Span("  of the step that began here", "dim")]
    tasks: dict[str, list[Write]] = {}
    for write in snapshot.writes:
        tasks.setdefault(write.task_id, []).append(write)
    for task_id, writes in tasks.items():
        node = writes[0].node
        name = escape(node) if node is not None else "no task: input, answer or command"
        yield [Span(f"  {name}"), Span(f"  {escape(tail(task_id))}", "dim")]
        room = max(len(escape(write.channel)) for write in writes)
        for write in writes:
            value = one_line(write.value, _room(session, 6 + room))
            yield [Span(f"    {escape(write.channel).ljust(room)}  ", "dim"), Span(value)]


def _room(session: Session, taken: int) -> int:
    return max((session.out.page or 120) - taken - 1, 20)
