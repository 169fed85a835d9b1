"""Steps that were taken but not stored.

With `durability="exit"` LangGraph keeps one checkpoint a run, the last, whose step is several
after its parent's. Nothing is missing then: the rows between never were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from retrograph.engine.history import NONE, History


def after_gaps(
    history: History, some: Iterable[int], source: Callable[[int], str | None]
) -> list[int]:
    """Those of some checkpoints before which steps were not stored.

    Copies are left out, since a copy may stand beside what it copies, several steps after their
    parent; so is a checkpoint whose parent is named but gone.
    """
    found = []
    for i in some:
        step, parent = history.step(i), history.parent(i)
        if step is None or source(i) != "loop":
            continue
        if parent == NONE:
            if step > 0 and history.parent_id(i) is None:
                found.append(i)
            continue
        before = history.step(parent)
        if before is not None and step > before + 1 and source(parent) != "fork":
            found.append(i)
    return found


def explain(count: int) -> str:
    """A sentence about so many gaps."""
    where = "a row" if count == 1 else f"{count:,} rows"
    return (
        f'Before {where} steps were taken that are not stored: durability="exit" keeps one '
        "checkpoint a run."
    )
