"""Naming another checkpoint of a thread: by step, by the end of an id, or from the selected one."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from retrograph.engine.history import NONE, History
from retrograph.engine.text import escape

if TYPE_CHECKING:
    from retrograph.engine.tree.labels import Signs
    from retrograph.tui.reading.known import Known

FORMS = "step:3, the end of an id, ~2, root, head"
"""What can be typed, for the user."""

_STEP = re.compile(r"(?:step:)?(-?\d{1,9})")
_UP = re.compile(r"~(\d{0,9})")
_OFFERED = 300
"""So many checkpoints of the line are offered while somebody types."""


def choose(history: History, known: Known, start: int, text: str) -> list[int]:
    """The checkpoints that a text names, seen from `start`: those of its line first, the nearest
    before the others; of its own namespace where there are any."""
    text = text.strip().lstrip("@")
    if not text or start == NONE:
        return []
    ns = history.ns(start)
    if up := _UP.fullmatch(text):
        found = next(islice(_line(history, start), int(up[1] or 1), None), NONE)
        return [found] if found != NONE else []
    if text == "root":
        return _line(history, start)[-1:]
    if text == "head":
        return [history.head(ns)]
    span = history.span(ns)
    if step := _STEP.fullmatch(text):
        wanted = int(step[1])
        steps = [i for i in span if known.step(i) == wanted]
        if steps or text.startswith("step:"):
            return _nearest(history, start, steps)
    ends = [i for i in range(len(history)) if history.ids[i].endswith(text)]
    return _nearest(history, start, [i for i in ends if i in span] or ends)


def _line(history: History, i: int) -> list[int]:
    """A checkpoint and what came before it, upward."""
    found = []
    while i != NONE:
        found.append(i)
        i = history.parent(i)
    return found


def _nearest(history: History, start: int, found: list[int]) -> list[int]:
    if len(found) < 2:
        return found
    line = set(_line(history, start))
    return sorted(found, key=lambda i: (i not in line, abs(i - start)))


def offered(history: History, known: Known, start: int) -> list[str]:
    """What may be typed, the likeliest first: steps and ends of ids along the line."""
    if start == NONE:
        return []
    line = _line(history, start)[1 : _OFFERED + 1]
    steps = [f"step:{step}" for i in line if (step := known.step(i)) is not None]
    return [*steps, "root", "head", *(history.ids[i][-6:] for i in line)]


def said(history: History, known: Known, i: int, signs: Signs) -> str:
    """A checkpoint in a few words, safe to draw: `step 8 · assist → tools · 9038d5`."""
    step, note = known.step(i), known.note(i)
    parts = [
        "" if step is None else f"step {step}",
        "" if note is None else note.label.text(signs),
        escape(history.ids[i][-6:]),
    ]
    return f" {signs.dot} ".join(filter(None, parts))
