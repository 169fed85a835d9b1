"""A thread's tree as the screen holds it: one frozen picture, made off the screen's thread."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, replace

from retrograph.engine.history import NONE, History
from retrograph.engine.model import ROOT
from retrograph.engine.tree.lanes import Layout
from retrograph.engine.tree.layout import goes_on, lay_out


@dataclass(frozen=True, slots=True)
class Picture:
    """A history, laid out."""

    history: History
    layout: Layout
    top: str
    """The namespace that the picture begins with."""
    forks: array[int]
    """The rows of fork points in the layout, ascending."""
    lines: int
    """Leaves of that namespace."""
    step_width: int
    """Columns of the head's step, and two at least."""
    complete: bool
    """Whether the whole index has been read."""


def make_picture(
    history: History, owners: Mapping[int, int] | None = None, complete: bool = True
) -> Picture:
    """Lay out a history. Without `owners` sub-graphs are left out, unless there is nothing else."""
    top = ROOT if history.span(ROOT) or not len(history) else history.namespaces()[0]
    if owners is None and top == ROOT:
        layout = lay_out(history, ns=ROOT)
    else:
        layout = lay_out(history, owners)
    entries = (layout.entry(i) for ns in history.namespaces() for i in history.fork_points(ns))
    forks = array("i", sorted(entry for entry in entries if entry != NONE))
    lines, width = len(history.leaves(top)), _step_width(history, top)
    return Picture(history, layout, top, forks, lines, width, complete)


def grown_picture(before: Picture, history: History) -> Picture:
    """The picture of a history that has grown since."""
    layout = goes_on(before.layout, history)
    if layout is None:
        return make_picture(history)
    width = _step_width(history, before.top)
    return replace(before, history=history, layout=layout, step_width=width)


def _step_width(history: History, top: str) -> int:
    head = history.head(top)
    # Steps are told all at once: here, off the screen's thread.
    return max(len(str(history.step(head))), 2) if head != NONE else 2
