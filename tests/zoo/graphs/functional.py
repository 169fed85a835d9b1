"""The functional API: entrypoints and tasks."""

from __future__ import annotations

import os
import time
from typing import Any

from langgraph.func import entrypoint, task
from langgraph.types import Command, interrupt

from zoo.run import Run


@task
def square(n: int) -> int:
    return n * n


@task
def shaky(n: int) -> int:
    if n == 13:
        raise ValueError("unlucky")
    return n + 1


def functional(run: Run) -> None:
    """Three turns with `previous`; tasks side by side; a question; a failing task."""

    @entrypoint(checkpointer=run.saver)
    def total(n: int, *, previous: Any = None) -> Any:
        squares = [square(i) for i in range(n)]
        return {"sum": sum(s.result() for s in squares), "before": previous}

    for n in (2, 3, 1):
        run.go(total, n, run.thread())


def functional_final(run: Run) -> None:
    """What is returned and what is kept differ (`entrypoint.final`)."""

    @entrypoint(checkpointer=run.saver)
    def final(word: str, *, previous: list[str] | None = None) -> Any:
        kept = [*(previous or []), word]
        return entrypoint.final(value=f"{len(kept)} words", save=kept)

    run.go(final, "one", run.thread())
    run.go(final, "two", run.thread())


def functional_asks(run: Run) -> None:
    @entrypoint(checkpointer=run.saver)
    def asks(n: int) -> Any:
        first = square(n).result()
        answer = interrupt({"square": first})
        return {"first": first, "answer": answer, "second": shaky(first).result()}

    run.go(asks, 3, run.thread("open"))
    run.go(asks, 4, run.thread())
    run.go(asks, Command(resume="ok"), run.thread())
    run.go(asks, 5, run.thread())
    run.go(asks, Command(resume="again"), run.thread())


def functional_killed(run: Run) -> None:
    """Killed after its first task, on the first turn."""

    @entrypoint(checkpointer=run.saver)
    def dies(n: int) -> int:
        first = square(n).result()
        time.sleep(0.1)  # long enough for the task's result to be saved
        os._exit(0)
        return first

    run.to_death(dies, 3, run.thread())


def functional_fails(run: Run) -> None:
    @entrypoint(checkpointer=run.saver)
    def fails(n: int) -> int:
        return square(n).result() + shaky(n).result()

    run.go(fails, 13, run.thread(), fails=ValueError)
    run.go(fails, 2, run.thread())
