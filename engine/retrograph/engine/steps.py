"""Steps: which nodes are due, which ran, and where each went, told from stored data alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """An interrupt that a node raised, and whether it has been answered."""

    id: str | None
    node: str | None
    value: Any
    """Inert."""
    answered: bool


@dataclass(frozen=True, slots=True)
class Task:
    """One due node of a super-step, and what its stored writes say of it."""

    id: str | None
    """`None` where the store does not tell it (it did not run, and its id cannot be computed)."""
    node: str
    path: str
    """LangGraph's task path (`~__pregel_pull, price`), "" where unknown."""
    finished: bool
    """It has at least one output write: `read_task_statuses` in LangGraph decides so."""
    error: str | None
    """What LangGraph stored of the exception: its repr."""
    questions: tuple[Question, ...]
    wrote: tuple[str, ...]
    """State channels written, in order, without control channels."""
    route: tuple[str, ...] | None
    """Destinations of its stored writes; `None` when it has not run."""


@dataclass(frozen=True, slots=True)
class Step:
    """All that is known of one checkpoint's place in the run; the fields as in the JSON contract."""

    next: tuple[str, ...]
    """Due when the step began, sorted, one entry a task."""
    next_exact: bool
    repaired: str | None
    tasks: tuple[Task, ...]
    """Due here: Sends first, then nodes by name."""
    ran: tuple[str, ...]
    came_by: Mapping[str, tuple[str, ...]]
    route: Mapping[str, tuple[str, ...]]
    questions: tuple[Question, ...]
    errors: tuple[tuple[str | None, str], ...] = field(default=())
    """(node, error)."""

    @property
    def waiting(self) -> tuple[str, ...]:
        """Nodes of the tasks that have no output yet, sorted."""
        return tuple(sorted(t.node for t in self.tasks if not t.finished))
