"""A fork for people: what changed, what is due now, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from retrograph.cli.draw.diff import change_lines
from retrograph.cli.draw.words import fields, header
from retrograph.cli.paint import Line, Span
from retrograph.engine.diff.changes import changes_json
from retrograph.engine.text import escape
from retrograph.engine.threads.refs import short_length, written
from retrograph.engine.tree.labels import ASCII, UNICODE, names
from retrograph.engine.views.shown import shown_changes

if TYPE_CHECKING:
    from retrograph.cli.session import Session
    from retrograph.engine.replay.forking import Fork
    from retrograph.engine.sandbox.file import Sandbox
    from retrograph.engine.thread import Thread


def fork_lines(
    session: Session, thread: Thread, fork: Fork, sandbox: Sandbox | None
) -> Iterator[Line]:
    """Everything that `fork` prints for people; without a sandbox it is a preview."""
    out = session.out
    history = thread.history
    step = history.step(history.find(fork.key.ns, fork.key.id))
    end = fork.key.id[-short_length(history.ids) :]
    said = "" if step is None else f" · step {step}"
    what = " · preview" if sandbox is None else " · forked"
    yield header(session, escape(written(fork.key, end)), escape(said + what), thread)
    yield []
    old, new, changes = shown_changes(fork.before, fork.after, fork.changes, session.redactor)
    if changes:
        yield from change_lines(out, old, new, changes)
    else:
        yield [Span("No value changes.", "dim")]
    yield []
    yield from fields(list(_facts(session, fork, sandbox)))
    for warning in fork.warnings:
        yield [Span("! " if out.ascii else "▲ ", "waits"), Span(escape(warning), "waits")]


def _facts(session: Session, fork: Fork, sandbox: Sandbox | None) -> Iterator[tuple[str, Line]]:
    yield "next", next_line(fork.next_before, fork.next, session.out.ascii)
    asked = ", ".join(escape(p.node) for p in fork.preview.producers)
    if fork.preview.held is not None:
        yield "held", [Span(escape(fork.preview.held), "dim")]
    elif fork.preview.rerouted:
        yield "route", [Span(f"{asked} asked again on the edited state: another answer", "fork")]
    elif asked:
        yield "route", [Span(f"{asked} asked again on the edited state: the same answer", "dim")]
    if fork.as_node is not None:
        yield "as node", [Span(escape(fork.as_node))]
    if sandbox is not None:
        yield "id", [Span(escape(fork.preview.row.id))]
        yield "sandbox", [Span(f"sandbox:{sandbox.id}", "strong")]


def next_line(before: Sequence[str] | None, after: Sequence[str] | None, ascii: bool) -> list[Span]:
    """`c_main → c_alt`, or what stays due."""
    signs = ASCII if ascii else UNICODE
    if before == after:
        return [Span(_due(after, ascii))]
    was, now = _due(before, ascii), _due(after, ascii)
    return [Span(was, "dim"), Span(f" {signs.arrow} "), Span(now, "fork")]


def _due(nodes: Sequence[str] | None, ascii: bool) -> str:
    if nodes is None:
        return "not known: the state does not pass its own checks"
    return names(nodes, ASCII if ascii else UNICODE) if nodes else "nothing"


def fork_shape(
    session: Session, fork: Fork, source: str, sandbox: Sandbox | None
) -> dict[str, Any]:
    """`fork` of the JSON contract. `id` and `sandbox` are null in a preview."""
    _, _, changes = shown_changes(fork.before, fork.after, fork.changes, session.redactor)
    asked = [producer.node for producer in fork.preview.producers]
    return {
        "source": session.redactor.location(source),
        "thread_id": fork.key.thread_id,
        "ns": fork.key.ns,
        "from": fork.key.id,
        "id": None if sandbox is None else fork.preview.row.id,
        "sandbox": None if sandbox is None else {"id": sandbox.id, "path": str(sandbox.path)},
        "next": fork.next,
        "next_before": fork.next_before,
        "route_changed": fork.route_changed,
        "held": fork.preview.held,
        "as_node": [fork.as_node] if fork.as_node is not None else asked,
        "changes": changes_json(changes),
        "warnings": list(fork.warnings),
    }
