"""The host: its start, a preview in it, a long run in it, and how soon its end is noticed.

Both sides run in turn, the clock's seconds, of which the medians count; of the start processor
time, since processes are compared.
"""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.bench.measure import in_turn
from tests.bench.report import Row, at_most, seconds
from tests.bench.stores.growing import THREAD, growing

from retrograph.engine.host.client import Host
from retrograph.engine.host.environ import environment
from retrograph.engine.host.requests import Begin, Edit, launch, load, preview, run
from retrograph.engine.host.target import GraphTarget, Launch
from retrograph.engine.model import ROOT
from retrograph.engine.sandbox.closure import for_replay
from retrograph.engine.thread import Thread
from retrograph.engine.threads.producers import producers
from retrograph.loaders.registry import open_source

STEPS = 1_000
AGENT = """
import os, signal, time
from typing import TypedDict
from langgraph.graph import END, START, StateGraph

class State(TypedDict, total=False):
    n: int

g = StateGraph(State)
g.add_node("count", lambda s: {"n": s["n"] + 1})
g.add_edge(START, "count")
g.add_conditional_edges("count", lambda s: "count" if s["n"] < 1000 else END, ["count", END])
graph = g.compile()

def die(state):
    with open("died", "w") as file:
        file.write(repr(time.time()))
    os.kill(os.getpid(), signal.SIGKILL)

g = StateGraph(State)
g.add_node("die", die)
g.add_edge(START, "die")
dying = g.compile()
"""


def rows(quick: bool) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "agent.py").write_text(AGENT)
        yield _start(folder, 5 if quick else 15)
        yield from _preview(40 if quick else 200)
        yield _run(folder, 3 if quick else 25)
        yield _noticed(folder, 3 if quick else 10)


def _launch(project: Path, path: Path, attribute: str) -> Launch:
    target = GraphTarget(f"{path.name}:{attribute}", attribute, path=str(path))
    return Launch(sys.executable, "here", str(project), target, environment(os.environ))


@contextmanager
def _host(plan: Launch) -> Iterator[Host]:
    with launch(plan) as host:
        load(host, plan)
        yield host


def _start(folder: Path, rounds: int) -> Row:
    plan = _launch(folder, folder / "agent.py", "graph")
    command = [sys.executable, "-c", "import langgraph.graph, agent"]

    def plain() -> None:
        subprocess.run(command, cwd=folder, check=True)

    def ours() -> None:
        with _host(plan):
            pass

    timing = in_turn(_processor(ours), _processor(plain), rounds)
    return at_most(
        "a host, started and the graph loaded; python -c 'import langgraph.graph, agent'",
        timing,
        1.15,
    )


def _processor(call: Callable[[], None]) -> Callable[[], float]:
    """The call, giving the seconds of processor time that it and its children took."""

    def used() -> float:
        every = [
            resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        ]
        return sum(usage.ru_utime + usage.ru_stime for usage in every)

    def timed() -> float:
        before = used()
        call()
        return used() - before

    return timed


def _clock(call: Callable[[], object]) -> Callable[[], float]:
    def timed() -> float:
        began = time.perf_counter()
        call()
        return time.perf_counter() - began

    return timed


def _preview(rounds: int) -> Iterator[Row]:
    from tests.bench.stores import growing as module

    path = Path(module.__file__)
    with _host(_launch(path.parents[3], path, "builder")) as host:
        for count in (1_000, 10_000):
            with closing(open_source(str(growing(count)))) as loader:
                ours, plain = _both(host, Thread(loader, THREAD))
                timing = in_turn(_clock(ours), _clock(plain), rounds)
            yield at_most(
                f"preview of an edit that turns a router, {count // module.MESSAGE_EVERY} "
                "messages, host up; held and asked again in one process, InMemorySaver",
                timing,
                1.3,
            )


def _both(host: Host, thread: Thread) -> tuple[Callable[[], object], Callable[[], object]]:
    """A preview in the host, and the same by LangGraph's own means in this process."""
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import StateUpdate
    from tests.bench.stores.growing import builder

    history = thread.history
    i = history.parent(history.parent(history.head()))
    id_ = history.ids[i]
    if "check" not in thread.step(ROOT, id_).next:
        id_ = history.ids[history.parent(i)]
    rows_ = for_replay(thread, ROOT, id_).rows
    (row,) = rows_.checkpoints
    led = producers(thread, ROOT, id_)
    edit = Edit("wanted", "set", thread.serde.encode(1))

    def ours() -> object:
        seen = preview(host, rows_, ROOT, id_, [edit], led.writes, nodes=led.nodes)
        assert (seen.rerouted, seen.next_before, seen.next) == (True, ["check"], []), seen
        return seen

    graph = builder.compile()

    def plain() -> object:
        saver = InMemorySaver()
        graph.checkpointer = saver
        where: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        stored = saver.serde.loads_typed((str(row.checkpoint.type), row.checkpoint.data))
        base = saver.put(where, stored, {"step": 1}, stored["channel_versions"])
        assert graph.get_state(base).next == ("check",)
        graph.bulk_update_state(base, [[StateUpdate(None, "work", str(uuid.uuid4()))]])
        child = {**stored, "id": empty_checkpoint()["id"]}
        child["channel_values"] = {**stored["channel_values"], "wanted": 1}
        held = saver.put(base, child, {"step": 2}, stored["channel_versions"])
        made = graph.bulk_update_state(held, [[StateUpdate(None, "work", str(uuid.uuid4()))]])
        assert graph.get_state(made).next == ()
        found = saver.get_tuple(made)
        assert found is not None
        return saver.serde.dumps_typed(found.checkpoint)

    return ours, plain


def _run(folder: Path, rounds: int) -> Row:
    """Both save each step before the next begins, with SQLite's `synchronous=NORMAL`."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    sys.path.insert(0, str(folder))
    import agent  # type: ignore[import-not-found]

    config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": STEPS + 10}
    with _host(_launch(folder, folder / "agent.py", "graph")) as host:
        begin = Begin("input", _packed({"n": 0}))

        def ours() -> None:
            job = run(host, _fresh(folder), "t", begin, recursion_limit=STEPS + 10)
            assert sum(event.name == "checkpoint" for event in job) > STEPS
            assert job.reply["status"] == "done"

        def plain() -> None:
            with closing(sqlite3.connect(_fresh(folder), check_same_thread=False)) as connection:
                connection.execute("PRAGMA synchronous = NORMAL")
                graph = agent.graph.copy(update={"checkpointer": SqliteSaver(connection)})
                assert graph.invoke({"n": 0}, config, durability="sync")["n"] == STEPS

        timing = in_turn(_clock(ours), _clock(plain), rounds)
    return at_most(
        f"a run of {STEPS:,} steps in the host, every event told; graph.invoke with SqliteSaver "
        "(both durability sync, synchronous=NORMAL)",
        timing,
        1.15,
    )


def _packed(value: Any) -> Any:
    from retrograph.engine.serde import Serde
    from retrograph.engine.values import from_json

    return Serde().encode(from_json(value))


def _fresh(folder: Path) -> Path:
    made = folder / "run"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    return made / "run.db"


def _noticed(folder: Path, rounds: int) -> Row:
    found = []
    plan = _launch(folder, folder / "agent.py", "dying")
    for _ in range(rounds):
        with _host(plan) as host:
            job = run(host, _fresh(folder), "t", Begin("input", _packed({"n": 0})))
            try:
                for _event in job:
                    pass
            except Exception:
                found.append(time.time() - float((folder / "died").read_text()))
    slowest = max(found)
    return Row(
        f"a host killed in a node, until it is told, the slowest of {rounds}",
        seconds(slowest),
        "",
        "",
        "≤ 50 ms",
        slowest <= 0.05,
    )
