"""The thread under the cursor in a few lines."""

from __future__ import annotations

from retrograph.engine.ids import time_of
from retrograph.engine.text import cut, escape
from retrograph.engine.text import size as size_text
from retrograph.engine.threads.status import ThreadInfo
from retrograph.engine.values import Value
from retrograph.engine.views.redact import Redactor
from retrograph.engine.views.summary import one_line
from retrograph.tui import clock
from retrograph.tui.reading.wrap import Wrapped
from retrograph.tui.spans import Line, Span
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.threadpaint import name_of, status_glyph

_TALL = 12
"""Lines that a question or an error gets."""
_KEY = 14


def preview_lines(info: ThreadInfo, ui: Ui, redactor: Redactor, width: int) -> list[Line]:
    """What is known of a thread from its head."""
    role = {"done": "done", "error": "failed"}.get(info.status, "waits")
    lines: list[Line] = [
        [Span(name_of(info), "strong")],
        [],
        [Span(f"{status_glyph(info.status, ui)} {info.status}", role)],
    ]
    for question in info.step.questions:
        if not question.answered:
            lines += _quoted(question.node, _text(question.value), "waits", width)
    for node, error in info.step.errors:
        lines += _quoted(node, error, "failed", width)
    if info.next:
        due = ", ".join(map(escape, info.next))
        lines.append([Span(f"{'due':<{_KEY}}", "dim"), Span(due)])
    row = info.row
    lines += [
        [],
        _fact("checkpoints", f"{row.checkpoints:,}"),
        _fact("namespaces", f"{row.namespaces:,}"),
        _fact("first", _moment(row.first_id)),
        _fact("last", _moment(row.last_id)),
        _fact("head", escape(row.head)),
    ]
    if row.size is not None:
        lines.append(_fact("size", size_text(row.size)))
    shown = redactor.metadata(dict(info.metadata))
    if shown:
        lines += [[], [Span("metadata", "dim")]]
        lines += [_fact(escape(cut(key, 60)), one_line(value, 200)) for key, value in shown.items()]
    return lines


def _fact(name: str, value: str) -> Line:
    return [Span(f"{name:<{_KEY}} ", "dim"), Span(value)]


def _moment(checkpoint_id: str) -> str:
    at = time_of(checkpoint_id)
    if at is None:
        return "not told by its id"
    return clock.exactly(at)


def _text(value: Value) -> str:
    """A question as text; one of several fields with a line for each."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_short(field)}" for key, field in value.items())
    return one_line(value, 2_000)


def _short(value: Value) -> str:
    return value if isinstance(value, str) else one_line(value, 200)


def _quoted(node: str | None, text: str, role: str, width: int) -> list[Line]:
    """A question or an error, below who asked."""
    lines: list[Line] = [[Span(f"{escape(node)}:" if node else "", "dim")]]
    wrapped = Wrapped(cut(text, 4_000), max(width - 2, 20))
    lines += [[Span(f"  {escape(wrapped.line(k))}", role)] for k in range(min(len(wrapped), _TALL))]
    if len(wrapped) > _TALL:
        lines.append([Span(f"  … {len(wrapped) - _TALL} more lines", "dim")])
    return lines
