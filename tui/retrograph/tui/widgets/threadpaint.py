"""A row of the thread list as spans."""

from __future__ import annotations

from retrograph.engine.ids import time_of
from retrograph.engine.text import ago, cut, escape
from retrograph.engine.text import size as size_text
from retrograph.engine.threads.status import ThreadInfo
from retrograph.engine.tree.labels import names
from retrograph.engine.values import Value
from retrograph.engine.views.summary import one_line
from retrograph.tui import clock
from retrograph.tui.spans import Span, clip, pad, spread
from retrograph.tui.ui import Ui

_ROLES = {"done": "done", "interrupted": "waits", "error": "failed", "unfinished": "waits"}


_NARROW = 56
"""In fewer columns what it waits for is worth more than how large it is."""


def paint_thread(info: ThreadInfo, widest: int, width: int, ui: Ui) -> list[Span]:
    """Status, name, what it waits for, checkpoints, size, last activity; `widest`: columns of the
    longest name."""
    narrow = width < _NARROW
    name_width = min(widest, max(width // 3 if narrow else width * 2 // 5, 12))
    role = _ROLES[info.status]
    left = [
        Span(f"{status_glyph(info.status, ui)} ", role),
        *pad([Span(clip(name_of(info), name_width, ui.cut))], name_width),
        Span("  "),
        *waits_for(info, ui),
    ]
    if narrow:
        return spread(left, [Span(last_activity(info).removesuffix(" ago"), "dim")], width, ui.cut)
    right = [Span(f"{info.row.checkpoints:>7,}", "dim")]
    if info.row.size is not None:
        right.append(Span(f"{size_text(info.row.size):>9}", "dim"))
    right.append(Span(f"{last_activity(info):>13}", "dim"))
    return spread(left, right, width, ui.cut)


def name_of(info: ThreadInfo) -> str:
    """The thread's id, safe to draw; an empty one has to be seen too."""
    return escape(cut(info.row.thread_id, 200)) or '""'


def status_glyph(status: str, ui: Ui) -> str:
    signs = ui.signs
    return {"done": signs.answered, "interrupted": signs.question, "error": signs.failed}.get(
        status, signs.step
    )


def waits_for(info: ThreadInfo, ui: Ui) -> list[Span]:
    """What the thread waits for: the open question, the error, or the nodes that are due."""
    signs = ui.signs
    if info.status == "error":
        node, error = next(iter(info.step.errors), (None, ""))
        who = f"{escape(node)}: " if node else ""
        return [Span(f"{who}{escape(cut(error, 200))}", "failed")]
    if info.status == "interrupted":
        question = next((q for q in info.step.questions if not q.answered), None)
        if question is not None:
            who = f"{escape(question.node)}: " if question.node else ""
            return [Span(f"{who}{question_line(question.value)}", "waits")]
    if info.next:
        return [Span(f"{signs.arrow} ", "dim"), Span(names(info.next, signs), "waits")]
    # Where a store is damaged it may not be known what an unfinished thread waits for.
    return [Span(info.status, "dim" if info.status == "done" else _ROLES[info.status])]


def question_line(value: Value) -> str:
    """A question in one line: of several fields the first that is text, which is what it asks."""
    if isinstance(value, dict):
        asked = next((v for v in value.values() if isinstance(v, str) and v), None)
        if asked is not None:
            return escape(cut(asked, 200))
    return escape(cut(value, 200)) if isinstance(value, str) else one_line(value, 200)


def last_activity(info: ThreadInfo) -> str:
    at = time_of(info.row.last_id)
    return ago(at, clock.now()) if at is not None else ""
