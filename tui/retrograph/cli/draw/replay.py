"""How a replay ended: one clear line for people, what to do next, and the document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

from retrograph.cli.draw.words import question_line
from retrograph.cli.paint import Line, Span, Style, fit
from retrograph.engine.text import duration, escape
from retrograph.engine.tree.labels import ASCII, UNICODE, names
from retrograph.engine.values import to_json
from retrograph.engine.views.shown import shown_state

if TYPE_CHECKING:
    from retrograph.cli.running.ending import Ending
    from retrograph.engine.sandbox.file import Sandbox
    from retrograph.engine.views.redact import Redactor

_GLYPH: dict[str, tuple[str, str, Style]] = {
    "done": ("✓", "v", "done"),
    "interrupted": ("?", "?", "waits"),
    "paused": ("●", "*", "waits"),
    "error": ("×", "x", "failed"),
    "died": ("×", "x", "failed"),
    "cancelled": ("×", "x", "failed"),
}
_TRACEBACK = 40
"""Lines of a traceback that are shown: the last ones."""


def verdict_lines(
    ending: Ending,
    redactor: Redactor,
    ascii: bool,
    width: int | None = None,
    quietly: bool = False,
) -> Iterator[Line]:
    """How it ended, and what can be done now. `quietly`: the first line alone."""
    glyph, plain, style = _GLYPH[ending.status]
    if not quietly:
        yield []
        if ending.traceback:
            yield from _traceback(redactor.text(ending.traceback))
    sign = Span(f"{plain if ascii else glyph} ", style)
    yield fit([sign, *_verdict(ending, redactor, style, ascii), *_sums(ending, ascii)], width)
    if not quietly:
        yield []
        yield from _next_steps(ending, width)


def _verdict(ending: Ending, redactor: Redactor, style: Style, ascii: bool) -> Iterator[Span]:
    signs = ASCII if ascii else UNICODE
    due = names(ending.result.next, signs)
    if ending.status == "done":
        yield Span("Done", style)
    elif ending.status == "interrupted":
        questions = ending.result.questions
        who = escape(questions[0].node or "?") if questions else "?"
        asked = question_line(redactor.value(questions[0].value)) if questions else ""
        yield Span(f"{who} asks ")
        yield Span(asked, style)
        if len(questions) > 1:
            yield Span(f", and {len(questions) - 1} more", style)
    elif ending.status == "paused":
        why = ", where the graph holds by itself" if ending.result.held else ""
        yield Span(f"Paused before {due or 'the next step'}{why}", style)
    elif ending.status == "cancelled":
        yield Span("Ended by you", style)
        yield Span(f"; {due} had not finished" if due else "")
    else:
        said = redactor.text(ending.error or "It failed.").rstrip(".")
        if ending.traceback:  # which ends with what it says
            said = said.partition(": ")[0]
        yield Span(escape(said), style)


def _sums(ending: Ending, ascii: bool) -> Iterator[Span]:
    dot = " - " if ascii else " · "
    count = len(ending.ran)
    parts = [f"{count:,} task{'s' if count != 1 else ''}", duration(ending.seconds)]
    tokens = sum(ran.tokens or 0 for ran in ending.ran)
    if tokens:
        parts.append(f"{tokens:,} tokens")
    yield Span("".join(dot + part for part in parts), "dim")
    turned = len(ending.turned)
    if turned:
        yield Span(f"{dot}{turned} route{'s' if turned > 1 else ''} turned", "fork")


def _next_steps(ending: Ending, width: int | None) -> Iterator[Line]:
    where = [ending.opens, ending.key.thread_id]
    if ending.status == "interrupted":
        ids = [question.id for question in ending.result.questions]
        given = ["VALUE"] if len(ids) == 1 else [f"{id_}=VALUE" for id_ in ids]
        if len(set(ids)) == len(ids):  # else they cannot be told apart
            words = [word for value in given for word in ("--answer", value)]
            yield next_line("answer", ["resume", *where, *ending.options, *words])
    elif ending.status == "error":
        again = next_line("again", ["replay", *where, *ending.options])
        said = [*again, Span("  # your code is read anew", "dim")]
        yield said if fit(said, width) == said else again
    elif ending.status in ("paused", "cancelled", "died"):
        yield next_line("go on", ["replay", *where, *ending.options])
    yield next_line("look", ["tree", *where])


def next_line(name: str, words: Sequence[str]) -> Line:
    """A command to go on with, and what it is for."""
    command = " ".join(["retrograph", *map(quote, words)])
    return [Span(f"  {name.ljust(6)}  ", "dim"), Span(escape(command))]


def _traceback(text: str) -> Iterator[Line]:
    lines = text.rstrip("\n").split("\n")
    if len(lines) > _TRACEBACK:
        yield [Span(f"… {len(lines) - _TRACEBACK} lines before these", "dim")]
    for line in lines[-_TRACEBACK:]:
        yield [Span(f"  {escape(line)}", "" if line[:1].strip() else "dim")]
    yield []


def summary_lines(endings: Sequence[Ending], ascii: bool) -> Iterator[Line]:
    """What several runs of one plan have in common: how often each went which way."""
    signs = ASCII if ascii else UNICODE
    counts: dict[tuple[str, str], int] = {}
    for ending in endings:
        path = (
            f" {signs.arrow} ".join(names(nodes, signs) for nodes in ending.super_steps)
            or "nothing ran"
        )
        counts[ending.status, path] = counts.get((ending.status, path), 0) + 1
    yield []
    for (status, path), count in sorted(counts.items(), key=lambda item: -item[1]):
        glyph, plain, style = _GLYPH[status]
        yield [
            Span(f"{count:>4} {signs.times} ", "strong"),
            Span(f"{plain if ascii else glyph} {status}  ", style),
            Span(path),
        ]


def sandbox_shape(sandbox: Sandbox) -> dict[str, str]:
    return {"id": sandbox.id, "path": str(sandbox.path)}


def replay_shape(ending: Ending, source: str, redactor: Redactor) -> dict[str, Any]:
    """`replay` of the JSON contract."""
    result = ending.result
    return {
        "source": redactor.location(source),
        "thread_id": ending.key.thread_id,
        "ns": ending.key.ns,
        "from": ending.key.id,
        "sandbox": sandbox_shape(ending.sandbox),
        "langgraph": ending.langgraph,
        "seconds": ending.seconds,
        "ran": [
            {
                "step": ran.step,
                "ns": ran.ns,
                "node": ran.node,
                "policy": ran.policy,
                "seconds": ran.seconds,
                "tokens": ran.tokens,
                "error": None
                if ran.error is None
                else {name: redactor.text(str(text)) for name, text in ran.error.items()},
            }
            for ran in ending.ran
        ],
        "turned": [
            {
                "step": row.step,
                "ns": row.ns,
                "node": row.node,
                "to": list(row.route or ()),
                "original": list(row.original or ()),
            }
            for row in ending.turned
        ],
        "head": result.head,
        "status": ending.status,
        "error": None if ending.error is None else redactor.text(ending.error),
        "next": list(result.next),
        "interrupts": [
            {"id": q.id, "node": q.node, "value": to_json(redactor.value(q.value))}
            for q in result.questions
        ],
        "values": {
            name: to_json(value) for name, value in shown_state(result.values, redactor).items()
        },
        "warnings": list(ending.warnings),
    }
