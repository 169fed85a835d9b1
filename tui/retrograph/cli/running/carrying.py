"""A plan carried out: the sandbox made, the graph run and watched, its questions answered."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrograph.cli import talk
from retrograph.cli.hosting import hosted
from retrograph.cli.running.asking import Chooser
from retrograph.cli.running.ending import Ending
from retrograph.cli.running.steering import Interrupts
from retrograph.engine.errors import HostError, UsageError
from retrograph.engine.history import NONE
from retrograph.engine.host.folding import folded
from retrograph.engine.host.runs import Begin
from retrograph.engine.model import ROOT, CheckpointKey, Loader
from retrograph.engine.replay.asked import Asked, named
from retrograph.engine.replay.driving import Driver
from retrograph.engine.replay.plan import Plan, plan_replay
from retrograph.engine.replay.recordings import Recordings, recordings_of
from retrograph.engine.replay.results import Result, result_of
from retrograph.engine.replay.timeline import Timeline
from retrograph.engine.sandbox.closure import levels_of
from retrograph.engine.sandbox.make import make_sandbox
from retrograph.engine.thread import Thread
from retrograph.engine.values import from_json
from retrograph.loaders.registry import open_source, opens_sandbox, reopens
from retrograph.loaders.sqlite import SQLiteLoader

if TYPE_CHECKING:
    from retrograph.cli.running.tellers import Teller
    from retrograph.engine.host.client import Event, Host
    from retrograph.engine.host.requests import Loaded
    from retrograph.engine.host.target import Launch
    from retrograph.engine.sandbox.file import Sandbox
    from retrograph.loaders.launch import HostOptions
    from retrograph.loaders.project import Config


@dataclass(frozen=True, slots=True)
class Call:
    """What all runs of one call of the program share."""

    stated: HostOptions
    config: Config
    asked: Asked
    stepping: bool
    asks: bool
    """Somebody at the terminal can be asked."""
    source: str | None = None
    """What was opened, as it was typed: it may have a password."""
    origin: str | None = None
    """Of a sandbox: what opens its source, where that is said."""
    anew: bool = False
    """In a new sandbox even where it could go on in the one that it is asked of."""
    messages: bool = False
    """Models stream, and what they say is told."""

    def origin_of(self, sandbox: Sandbox, loader: Loader) -> str | None:
        """What opens the source of a sandbox that a run of this call is in; `None`: what it
        remembers. `loader`: of what was opened."""
        there = getattr(loader, "sandbox", None)
        if there is not None:
            return self.origin if there.path == sandbox.path else None
        return None if self.source in (None, "", ".") else self.source

    @property
    def options(self) -> list[str]:
        """The words that say how the graph is run, for the next call."""
        stated = self.stated
        pairs = [
            ("--graph", stated.graph),
            ("--python", stated.python),
            ("--config", stated.config),
            ("--context", stated.context),
            ("--env-file", stated.env_file),
            ("--source", self.origin),
            *(("--allow", name) for name in stated.allow),
        ]
        return [word for name, value in pairs if value is not None for word in (name, value)]


Line = tuple[Thread, str]
"""A checkpoint of a thread, for the line that leads to it."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A graph in its process, and what is to be done with it."""

    host: Host
    plan: Plan
    thread: Thread


@contextmanager
def made_ready(
    call: Call,
    thread: Thread,
    key: CheckpointKey,
    *,
    line: Line | None = None,
    begin: Begin | None = None,
) -> Iterator[Ready]:
    """The user's graph loaded, fresh, and the plan worked out. The process ends with the block."""
    with hosted(call.stated, call.config) as (host, launch, loaded):
        with talk.Waiting("reading what is recorded · Ctrl-C stops"):
            prepared = ready(call, host, launch, loaded, thread, key, line=line, begin=begin)
        yield prepared


def ready(
    call: Call,
    host: Host,
    launch: Launch,
    loaded: Loaded,
    thread: Thread,
    key: CheckpointKey,
    *,
    line: Line | None = None,
    begin: Begin | None = None,
    edited: Sequence[str] = (),
) -> Ready:
    """The plan, for a graph that is loaded. `edited`: channels that a fork has changed there."""
    plan = plan_replay(
        host,
        launch,
        loaded,
        thread,
        key,
        call.asked,
        recordings=_recordings(thread, key, line),
        edited=edited,
        in_place=not call.anew and _can_go_on_in(thread, key),
    )
    return Ready(host, plan if begin is None else replace(plan, begin=begin), thread)


def _recordings(thread: Thread, key: CheckpointKey, line: Line | None) -> Recordings:
    if line is None:
        return recordings_of(thread, key)
    other, leaf = line
    history = other.history
    start, end = history.find(key.ns, key.id), history.find(key.ns, leaf)
    if NONE in (start, end) or start not in history.line(end):
        raise UsageError(f"--line: {leaf} is on no line below {key.id}.")
    return recordings_of(other, key, leaf)


def _can_go_on_in(thread: Thread, key: CheckpointKey) -> bool:
    """Whether it is where a sandbox stands."""
    history, sandbox = thread.history, getattr(thread.loader, "sandbox", None)
    if sandbox is None or history.find(key.ns, key.id) != history.head(key.ns):
        return False
    if not sandbox.is_writable:
        return False
    if key.ns == ROOT:
        return True
    # In a sub-graph: where the graph around it has not gone on since.
    around = levels_of(thread, key.ns, key.id)[0]
    return sandbox.origin.ns == key.ns and history.ids[history.head(ROOT)] == around.id


def carry_out(call: Call, ready: Ready, teller: Teller) -> Ending:
    """Run it, in the sandbox that it is asked of or in a new one."""
    host, plan, thread = ready.host, ready.plan, ready.thread
    sandbox: Sandbox
    if plan.closure is None:
        sandbox = thread.loader.sandbox  # type: ignore[attr-defined]
    else:
        sandbox = make_sandbox(
            thread,
            plan.closure,
            reopens(thread.loader),
            edited=plan.edited,
            recorded=plan.recordings,
        )
    timeline = Timeline(plan)

    def tell(event: Event) -> None:
        teller.take(event, timeline.take(event), timeline)

    chooser = Chooser(
        asks=call.asks,
        stepping=call.stepping,
        due=lambda: _due(sandbox.path, plan.key.thread_id),
        paused=[named(n.key) for n in (*plan.nodes, *plan.others) if n.policy == "pause"],
        stopping=lambda: interrupts.asked,
        quiet=teller.quiet,
    )
    driver = Driver(
        host,
        plan,
        sandbox.path,
        tell=tell,
        choose=chooser,
        stepping=call.stepping,
        messages=call.messages,
    )
    interrupts = Interrupts(driver, teller.pausing)
    began = time.monotonic()
    with interrupts, teller:
        outcome = driver.run()
        teller.left(timeline.flush())
    seconds = time.monotonic() - began - chooser.waited
    with closing(SQLiteLoader(sandbox.path)) as loader:
        result = result_of(Thread(loader, plan.key.thread_id), outcome)
        result = _folded(host, Thread(loader, plan.key.thread_id), result)
    return Ending(
        key=plan.key,
        start=_start(plan),
        sandbox=sandbox,
        opens=opens_sandbox(sandbox),
        options=call.options,
        origin=call.origin_of(sandbox, thread.loader),
        langgraph=plan.versions.get("langgraph"),
        result=result,
        ran=outcome.ran,
        turned=timeline.turned,
        stopped=interrupts.asked,
        stepping=call.asks and chooser.stepping,
        seconds=seconds,
        error=outcome.error,
        traceback=outcome.traceback,
        warnings=plan.warnings,
    )


def answered(call: Call, ending: Ending, value: Any, teller: Teller) -> Ending:
    """Answer the open question of a run, and run on from it in its sandbox, with fresh code."""
    with closing(open_source(str(ending.sandbox.path), origin=ending.origin)) as loader:
        thread = Thread(loader, ending.key.thread_id)
        key = CheckpointKey(ending.key.thread_id, ROOT, ending.result.head)
        asked = still_asked(call.asked, recordings_of(thread, key))
        later = replace(call, asked=asked, anew=False, stepping=ending.stepping)
        with made_ready(later, thread, key, begin=resumed(thread, value)) as prepared:
            return ending.then(carry_out(later, prepared, teller))


def resumed(thread: Thread, value: Any) -> Begin:
    """The start of a run that answers a question."""
    return Begin("resume", thread.serde.encode(from_json(value)))


def still_asked(asked: Asked, left: Recordings) -> Asked:
    """What is asked for, once a part of it has run: where recordings have run out it waits."""
    names = {name for key in left for name in (named(key),)}
    gone = [name for name in asked.recorded if name.replace("|", ":") not in names]
    return replace(
        asked,
        again=False,
        goto=(),
        recorded=[name for name in asked.recorded if name not in gone],
        pause_before=[*asked.pause_before, *(n for n in gone if n not in asked.pause_before)],
    )


def _start(plan: Plan) -> CheckpointKey:
    return plan.key._replace(id=plan.edited[-1].id) if plan.edited else plan.key


def _due(path: Path, thread_id: str) -> Sequence[str]:
    """What is due at the head of a sandbox."""
    with closing(SQLiteLoader(path)) as loader:
        thread = Thread(loader, thread_id)
        return thread.step(ROOT, thread.history.ids[thread.history.head(ROOT)]).waiting


def _folded(host: Host, thread: Thread, result: Result) -> Result:
    """With DeltaChannels folded, where the graph's process is still there."""
    try:
        return replace(result, values=folded(host, thread, ROOT, result.values))
    except HostError:
        return result
