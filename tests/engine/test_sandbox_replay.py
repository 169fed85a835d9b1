"""A sandbox holds what a run needs: run on from any checkpoint, it goes as the thread went."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

from retrograph.engine.history import NONE
from retrograph.engine.model import ROOT
from retrograph.engine.sandbox.closure import begins_fresh, for_replay
from retrograph.engine.sandbox.make import make_sandbox
from retrograph.engine.thread import Thread
from retrograph.loaders.registry import open_source
from zoo import SCENARIOS
from zoo.jsonform import to_json
from zoo.run import Run

CHANGED = {
    "error", "error_beside", "sub_fails", "one_of_each", "functional_fails", "retry", "handler",
    "cached", "limit", "static", "race", "chance",
    "agent", "agent_v1", "resume_with", "sends_given", "mended",
}  # fmt: skip
"""Scenarios whose nodes do otherwise the second time, or that somebody steered in between."""
PLAYED = [s for s in SCENARIOS if not s.dies and not s.asynchronous and s.name not in CHANGED]


class Played(NamedTuple):
    """A scenario that was run here: the store, and the graphs of its threads."""

    path: Path
    graphs: dict[str, Any]


def play(scenario: Any, path: Path) -> Played:
    module = importlib.import_module(f"zoo.graphs.{scenario.module}")
    with SqliteSaver.from_conn_string(str(path)) as saver:
        run = Run(scenario.name, saver, "sync")
        getattr(module, scenario.name)(run)
    return Played(path, run.graphs)


@contextmanager
def thread_of(path: Path, thread_id: str) -> Iterator[Thread]:
    loader = open_source(str(path))
    try:
        yield Thread(loader, thread_id)
    finally:
        loader.close()


def went_on(thread: Thread) -> Iterator[list[int]]:
    """The line from each checkpoint with something due that was run on from."""
    history = thread.history
    for i, _, step in thread.walk(ROOT):
        line = []
        at = i
        while at != NONE:
            line.append(at)
            children = history.children(at)
            run_on = [c for c in children if c in thread.made_by_running(ROOT, children)]
            at = run_on[0] if len(run_on) == 1 and len(children) == 1 else NONE
        if step.next and len(line) > 1:
            yield line


def shown(graph: Any, saver: Any, thread_id: str, ids: list[str] | None = None) -> list[Any]:
    """(what is due, the values) of some checkpoints, or of all from the oldest on."""
    where: dict[str, Any] = {"thread_id": thread_id, "__pregel_checkpointer": saver}
    states = list(graph.get_state_history({"configurable": where}))[::-1]
    known = {s.config["configurable"]["checkpoint_id"]: s for s in states}
    chosen = [known[i] for i in ids] if ids is not None else states
    return [(sorted(s.next), to_json(s.values)) for s in chosen]


@pytest.mark.parametrize("scenario", PLAYED, ids=lambda s: s.name)
def test_as_it_went(scenario: Any, tmp_path: Path) -> None:
    played = play(scenario, tmp_path / "zoo.db")
    found = []
    for thread_id, graph in played.graphs.items():
        with thread_of(played.path, thread_id) as thread:
            for line in went_on(thread):
                ids = [thread.history.ids[k] for k in line]
                closure = for_replay(thread, ROOT, ids[0])
                made = make_sandbox(thread, closure, "zoo", folder=tmp_path / "sandboxes")
                with thread_of(made.path, thread_id) as copy:
                    fresh = begins_fresh(copy, closure.key)
                    due = copy.step(ROOT, ids[0]).next
                    # Of an entrypoint that has not run nothing tells the name.
                    assert due in (thread.step(ROOT, ids[0]).next, ("__start__",))
                ended = differences(played, graph, thread_id, ids, made.path, fresh)
                if isinstance(ended, str):
                    found.append(ended)
                elif ended < len(ids) - 1:
                    assert thread.step(ROOT, ids[ended]).questions, "it stopped for no question"
    assert not found, "\n".join(found)


def differences(
    played: Played, graph: Any, thread_id: str, ids: list[str], path: Path, fresh: bool
) -> str | int:
    """Run the graph on a sandbox. How far it went along the line, or what differs."""
    with SqliteSaver.from_conn_string(str(played.path)) as saver:
        theirs = shown(graph, saver, thread_id, ids)
    with SqliteSaver.from_conn_string(str(path)) as saver:
        where: dict[str, Any] = {"thread_id": thread_id}
        if fresh:
            where["__pregel_resuming"] = False
        copy = graph.copy(update={"checkpointer": saver, "cache": None})
        copy.invoke(None, {"configurable": where}, durability="sync")
        states = shown(copy, saver, thread_id)
    ours = states[-len(states) :]
    while ours and ours[0] != theirs[0]:
        ours.pop(0)  # a stub
    both = min(len(ours), len(theirs))  # somebody may have stopped or forked theirs
    if not both or ours[:both] != theirs[:both]:
        return f"{thread_id} {ids[0]}:\n  ours   {ours}\n  theirs {theirs}"
    return both - 1
