"""What a row of the tree says: who ran, and where it went.

    input                     a new input
    START → receive           the input's first nodes are due
    price → ship              price ran, ship is due
    price → ship | hold       … and a line that was edited here took the other route
    stock, fraud → ship       ran side by side
    split → pack ×3           one Send each
    edit path                 `update_state` wrote this channel
    copy                      the row that a replay or a copy begins with

A label is plain data (`Label`), so that a screen can colour its parts; `Label.text` is the words.
Names come from the store: `text` escapes them, the fields do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from retrograph.engine.history import History
from retrograph.engine.model import Envelope
from retrograph.engine.steps.step import Step
from retrograph.engine.text import escape

Kind = Literal["input", "step", "edit", "copy"]
"""How a checkpoint came to be: LangGraph's source input, loop, update or fork."""

Trouble = Literal["", "question", "failed"]
"""What holds up the nodes due at a checkpoint."""

MANY = 4
"""More names than this are counted instead of listed."""

_SIBLINGS = 64
"""So many children of a fork point are asked for other routes."""

_KINDS: Mapping[str | None, Kind] = {
    "input": "input",
    "loop": "step",
    "update": "edit",
    "fork": "copy",
}
_NOT_STATE = ("branch:", "join:", "start:", "__")


class Signs(NamedTuple):
    """The glyphs of rows and the signs inside their texts."""

    input: str
    step: str
    edit: str
    copy: str
    question: str
    failed: str
    answered: str
    closed: str
    open: str
    arrow: str
    times: str
    cut: str
    dot: str


UNICODE = Signs("○", "●", "◆", "◇", "?", "×", "✓", "▶", "▼", "→", "×", "…", "·")
ASCII = Signs("o", "*", "#", "=", "?", "x", "v", ">", "v", "->", "x", "...", "-")


@dataclass(frozen=True, slots=True)
class Label:
    """What is said of one checkpoint."""

    kind: Kind
    ran: tuple[str, ...]
    """Nodes that led here, one entry a task; `START` after an input; empty where not known."""
    routes: tuple[tuple[str, ...], ...]
    """What is due here, then what other lines made due instead; an empty one is END."""
    parts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(node, its destinations), where nodes that ran side by side went different ways."""
    changed: tuple[str, ...] = ()
    """Channels that the edit wrote, or that the nodes that ran wrote."""
    trouble: Trouble = ""
    answered: bool = False
    """Its questions all have answers."""
    exact: bool = True
    """Whether `routes` is certain (stores of old versions do not tell all)."""
    unreadable: str | None = None

    def glyph(self, signs: Signs = UNICODE) -> str:
        """One character: the trouble, else the kind."""
        if self.trouble:
            return signs.failed if self.trouble == "failed" else signs.question
        return {
            "input": signs.input,
            "step": signs.step,
            "edit": signs.edit,
            "copy": signs.copy,
        }[self.kind]

    def text(self, signs: Signs = UNICODE) -> str:
        """The words of the row, escaped, in one line."""
        return _text(self, signs)


@lru_cache(maxsize=4096)
def _text(label: Label, signs: Signs) -> str:
    """Kept, since a thread's many rows say few different things."""
    if label.kind == "edit" and label.changed:
        words = f"edit {names(label.changed, signs)}"
    else:
        words = label.kind
    if label.kind != "step":
        return f"{words} {signs.arrow} {_destinations(label, signs)}" if label.routes else words
    if label.parts:
        return f" {signs.dot} ".join(
            f"{names((node,), signs)} {signs.arrow} {names(to, signs)}" for node, to in label.parts
        )
    left = names(label.ran, signs) if label.ran else signs.cut
    return f"{left} {signs.arrow} {_destinations(label, signs)}"


def _destinations(label: Label, signs: Signs) -> str:
    if not label.exact and not any(label.routes):
        return "?"
    return " | ".join(names(route, signs) if route else "END" for route in label.routes)


def names(nodes: Iterable[str], signs: Signs = UNICODE) -> str:
    """`a, b ×3, c`: each name once, in order, with how often; escaped; many are cut short."""
    counts = Counter(nodes)
    shown = [
        escape(name) if n == 1 else f"{escape(name)} {signs.times}{n}"
        for name, n in list(counts.items())[:MANY]
    ]
    if len(counts) > MANY:
        shown.append(f"+{len(counts) - MANY}")
    return ", ".join(shown)


def summary(parts: Sequence[str], signs: Signs = UNICODE) -> str:
    """What a run of rows did, in few words: `agent, tools ×7` for agent and tools in turn, seven
    times; else each with its count."""
    count = len(parts)
    for period in range(1, min(MANY, count // 2) + 1):
        if count % period == 0 and all(parts[k] == parts[k - period] for k in range(period, count)):
            return f"{', '.join(map(escape, parts[:period]))} {signs.times}{count // period}"
    return names(parts, signs)


class Labels:
    """Labels of one history, made when asked for, from steps that may be read page by page."""

    def __init__(
        self,
        history: History,
        step: Callable[[int], Step | None],
        envelope: Callable[[int], Envelope | None],
    ) -> None:
        """`step`, `envelope`: of a checkpoint, `None` while they have not been read."""
        self._history = history
        self._step = step
        self._envelope = envelope

    def kind(self, i: int) -> Kind:
        """The checkpoint's kind, guessed from the step where the source is not stored."""
        envelope = self._envelope(i)
        kind = _KINDS.get(envelope.source if envelope else None)
        if kind is not None:
            return kind
        step = self._step(i)
        if step is not None and step.next == ("__start__",):
            return "input"
        return "input" if self._history.step(i) == -1 else "step"

    def label(self, i: int) -> Label | None:
        """What the row of a checkpoint says; `None` while its step has not been read."""
        step, envelope = self._step(i), self._envelope(i)
        if step is None:
            return None
        kind = self.kind(i)
        parent = self._history.parent(i)
        before = self._step(parent) if parent >= 0 else None
        ran = step.ran
        if not ran and kind == "step" and before is not None and "__start__" in before.next:
            ran = ("START",)
        return Label(
            kind,
            ran,
            self._routes(i, kind, step, before),
            _parts(step) if kind == "step" else (),
            self._changed(i, kind, before),
            _trouble(step),
            bool(step.questions) and all(q.answered for q in step.questions),
            step.next_exact,
            envelope.unreadable if envelope else None,
        )

    def _routes(
        self, i: int, kind: Kind, step: Step, before: Step | None
    ) -> tuple[tuple[str, ...], ...]:
        children = self._history.children(i)
        if kind == "step":
            routes = {step.next: None}
            if len(children) > 1:
                routes.update(dict.fromkeys(self._turned(children)))
            return tuple(routes)
        # An edit that turned the route where no other line shows it: say so in its own row.
        parent = self._history.parent(i)
        if (
            kind == "edit"
            and before is not None
            and before.next != step.next
            and "__start__" not in before.next
            and not self._history.forks(parent)
        ):
            return (step.next,)
        return ()

    def _turned(self, children: Sequence[int]) -> Iterable[tuple[str, ...]]:
        """What edited lines made due. Copies are passed through: one that stands beside the
        checkpoint that it copies is due what comes after that one, which is no other route."""
        todo = list(children[:_SIBLINGS])
        for child in todo:
            kind = self.kind(child)
            step = self._step(child)
            if kind == "edit" and step is not None:
                yield step.next
            elif kind == "copy" and len(todo) < _SIBLINGS:
                todo += self._history.children(child)[:_SIBLINGS]

    def _changed(self, i: int, kind: Kind, before: Step | None) -> tuple[str, ...]:
        if kind == "step" and before is not None:
            return _of_state(tuple(task.wrote for task in before.tasks))
        envelope = self._envelope(i)
        if kind != "edit" or envelope is None:
            return ()
        parent = self._history.parent(i)
        above = self._envelope(parent) if parent >= 0 else None
        return edited(envelope, above)


@lru_cache(maxsize=4096)
def _of_state(wrote: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """The state's channels among those that tasks wrote, each once."""
    channels = (channel for some in wrote for channel in some)
    return tuple(dict.fromkeys(c for c in channels if not c.startswith(_NOT_STATE)))


def edited(envelope: Envelope, parent: Envelope | None) -> tuple[str, ...]:
    """The state channels that an `update_state` wrote: `updated_channels`, which it leaves out,
    else those whose version is not the parent's."""
    channels: Iterable[str] = envelope.updated or ()
    if envelope.updated is None and parent is not None:
        before = parent.versions
        channels = (c for c, version in envelope.versions.items() if before.get(c) != version)
    return tuple(c for c in channels if not c.startswith(_NOT_STATE) and c not in envelope.seen)


def _parts(step: Step) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Each node's own destinations, where they differ and none is unknown."""
    ways = {node: tuple(sorted(to)) for node, to in step.came_by.items() if to}
    if len(set(ways.values())) < 2 or set(ways) != set(step.ran) or len(ways) > MANY:
        return ()
    return tuple(ways.items())


def _trouble(step: Step) -> Trouble:
    open_tasks = [task for task in step.tasks if not task.finished]
    if any(task.error is not None for task in open_tasks) or (step.errors and not step.tasks):
        return "failed"
    if any(not question.answered for question in step.questions):
        return "question"
    return ""
