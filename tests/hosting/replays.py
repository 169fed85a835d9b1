"""The zoo's calls made again in a host, on a sandbox, and held against what they had left.

One host serves many of them: the graph is loaded anew for each, by `zoo.calls.graph`, with all
around it as it was just before the call. (A command starts a host for each run; a host's start is
what tests cannot afford.)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hosting import TESTS, environment_with, plan_of, typed
from retrograph.engine.host.client import Host
from retrograph.engine.host.requests import Loaded, launch, load
from retrograph.engine.host.target import Launch
from retrograph.engine.model import ROOT, CheckpointKey
from retrograph.engine.replay.asked import Asked, named
from retrograph.engine.replay.driving import Driver, Outcome
from retrograph.engine.replay.forking import folded
from retrograph.engine.replay.plan import Plan, plan_replay
from retrograph.engine.replay.recordings import Recordings, bare, recordings_of
from retrograph.engine.sandbox.make import make_sandbox
from retrograph.engine.thread import Thread
from retrograph.engine.values import to_json
from retrograph.loaders.registry import open_source
from zoo.compare import normal

PLAYED = "zoo.calls:graph"


@dataclass
class Call:
    """One call of a scenario, and what was seen of it."""

    number: int
    thread: str
    turn: int
    how: str
    value: Any
    at: str | None
    given: str | None
    options: list[str]
    limit: int | None
    made: list[str] = field(default_factory=list)
    """Checkpoints of the root graph."""
    below: set[str] = field(default_factory=set)
    """Checkpoints of sub-graphs."""
    starts: list[tuple[int, str, str]] = field(default_factory=list)
    """(step of the root's task, sub-graph, node) of each node that began."""
    error: str | None = None
    ended: bool = False
    """False: its process ended in it."""

    @property
    def cut_short(self) -> bool:
        """By what the call was given, not by the graph."""
        limits = ("interrupt_before", "interrupt_after")
        return self.limit is not None or any(option in limits for option in self.options)

    def started(self, after: int) -> Counter[tuple[str, str]]:
        """How often each node began after a step."""
        return Counter((ns, node) for step, ns, node in self.starts if step > after)


class Told:
    """A scenario that was played by `zoo.calls`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scenario = folder.name
        self.calls: list[Call] = []
        self.absent: str | None = None
        for line in (folder / "calls.jsonl").read_text().splitlines():
            self._take(json.loads(line))

    def _take(self, seen: dict[str, Any]) -> None:
        kind = seen.pop("is")
        if kind == "absent":
            self.absent = seen["why"]
        elif kind == "call":
            self.calls.append(Call(seen.pop("call"), **seen))
        elif seen["call"] >= 0:
            call = self.calls[seen["call"]]
            if kind == "put" and seen["ns"] == ROOT:
                call.made.append(seen["id"])
            elif kind == "put":
                call.below.add(seen["id"])
            elif kind == "start":
                call.starts.append((seen["step"], bare(seen["ns"]), seen["node"]))
            else:
                call.error, call.ended = seen["error"], True

    def store(self, call: Call | None = None) -> Path:
        """The whole store, or the one just before a call."""
        return self.folder / ("zoo.db" if call is None else f"{call.number}.db")


@dataclass(frozen=True)
class Case:
    """A run of nodes that was seen, and that can be made again."""

    call: Call
    line: tuple[str, ...]
    """The checkpoint that it began from, and those that it made."""


@contextmanager
def thread_in(path: Path, thread_id: str) -> Iterator[Thread]:
    loader = open_source(str(path))
    try:
        yield Thread(loader, thread_id)
    finally:
        loader.close()


def replays(told: Told, thread: Thread) -> Iterator[Case]:
    """For each checkpoint with something due the call that first ran it, with nothing but what it
    holds. There is none where it was never run, or was given an answer, a goto or an update."""
    history = thread.history
    calls = [call for call in told.calls if call.thread == thread.thread_id]
    for i, _, step in thread.walk(ROOT):
        if not step.next:
            continue
        id_ = history.ids[i]
        number = history.step(i)
        assert number is not None
        own = [c for c in calls if id_ in c.made and c.started(number) and not _copied(c, id_)]
        again = [c for c in calls if c.at == id_ and c.how == "none" and c.started(number)]
        for call in (*own, *again):
            yield Case(call, (id_, *_below(thread, id_, call)))
            break


def _copied(call: Call, id_: str) -> bool:
    """Whether a checkpoint is the copy with which a call at an old one began that was given more
    than the checkpoint."""
    return call.given is not None and call.how in ("resume", "command") and call.made[0] == id_


def _below(thread: Thread, id_: str, call: Call) -> list[str]:
    history = thread.history
    return [
        made
        for made in dict.fromkeys(call.made)
        if made > id_ and history.find(ROOT, id_) in history.line(history.find(ROOT, made))
    ]


def goings_on(told: Told) -> Iterator[Case]:
    """Calls at a thread's head, where that is a leaf, that went on or gave an answer."""
    for call in told.calls:
        if call.how in ("none", "resume") and call.at is not None and call.given is None:
            with thread_in(told.store(call), call.thread) as before:
                if not before.history.has_children(before.history.find(ROOT, call.at)):
                    yield Case(call, (call.at, *dict.fromkeys(call.made)))


@dataclass
class Made:
    """A case that was made again."""

    plan: Plan
    outcome: Outcome
    path: Path
    """The sandbox."""
    called: Counter[tuple[str, str]]
    """How often each node's own function was called."""

    @property
    def started(self) -> Counter[tuple[str, str]]:
        return Counter((bare(ran.ns), ran.node) for ran in self.outcome.ran)


class Again:
    """A host in which cases are made again. One that a node has ended gives way to a new one."""

    def __init__(self, python: str, folder: Path) -> None:
        self._python = python
        self._folder = folder
        self._environment = environment_with(ZOO_RAN=str(folder / "ran"))
        self._rows: dict[tuple[str, str, str], Any] = {}
        self.host = self._start()

    def _start(self) -> Host:
        return launch(plan_of(TESTS, PLAYED, self._python, environment=self._environment))

    def close(self) -> None:
        self.host.kill()
        self.host.close()

    def loaded(self, scenario: str, call: Call) -> tuple[Launch, Loaded]:
        """Load the graph as it was just before a call."""
        stated = {"scenario": scenario, "thread": call.thread, "turn": call.turn}
        whole = {"configurable": stated}
        launching = plan_of(TESTS, PLAYED, self._python, config=whole)
        return replace(launching, config={}), load(self.host, launching)

    def make(
        self,
        scenario: str,
        case: Case,
        thread: Thread,
        *,
        asked: Asked | None = None,
        recorded: bool = False,
        going_on: bool = False,
    ) -> Made:
        """Replay a case; with `recorded`, every node that is recorded; `going_on`: with all that
        its step has already given, and the call's answer."""
        launching, loaded = self.loaded(scenario, case.call)
        key = CheckpointKey(thread.thread_id, ROOT, case.line[0])
        known: Recordings = recordings_of(thread, key, case.line[-1]) if recorded else {}
        names = [named(at) for at in known]
        plan = plan_replay(
            self.host,
            launching,
            loaded,
            thread,
            key,
            asked or Asked(recorded=names, again=not going_on),
            recordings=known,
        )
        plan = replace(plan, recursion_limit=case.call.limit)
        assert plan.closure is not None
        made = make_sandbox(thread, plan.closure, "zoo", folder=self._folder, recorded=known)
        begin = plan.begin
        if going_on and case.call.how == "resume":
            begin = replace(begin, how="resume", value=typed(case.call.value), fresh=False)
        (self._folder / "ran").write_text("")
        outcome = Driver(self.host, plan, made.path).run(begin)
        if outcome.status == "died":
            self.close()
            self.host = self._start()
            self.loaded(scenario, case.call)
        called = Counter(
            (bare(ns), node)
            for ns, node in map(json.loads, (self._folder / "ran").read_text().splitlines())
        )
        return Made(plan, outcome, made.path, called)

    def rows(self, thread: Thread, ids: Sequence[str]) -> list[Any]:
        """What is compared of checkpoints of the root graph: due, values; and of all but the
        first, to which what led there may not have been copied, ran."""
        rows = [self._row(thread, ROOT, id_) for id_ in ids]
        return [rows[0][1:], *rows[1:]]

    def below(self, thread: Thread, ids: Sequence[str], among: set[str] | None = None
              ) -> Counter[str]:  # fmt: skip
        """The same of the sub-graphs that ran during their steps, in no order."""
        history = thread.history
        keys = [
            CheckpointKey(thread.thread_id, ns, history.ids[i])
            for ns in history.namespaces()
            if ns != ROOT
            for i in history.span(ns)
            if among is None or history.ids[i] in among
        ]
        return Counter(
            json.dumps([bare(d.key.ns), *self._row(thread, d.key.ns, d.key.id)], sort_keys=True)
            for d in thread.loader.details(keys)
            if (d.metadata.get("parents") or {}).get("") in ids
        )

    def _row(self, thread: Thread, ns: str, id_: str) -> Any:
        known = (thread.loader.location, ns, id_)
        if known not in self._rows:
            snapshot = thread.snapshot(ns, id_)
            values = folded(self.host, thread, ns, snapshot.values)
            plain = {name: _named(normal(to_json(v))) for name, v in sorted(values.items())}
            self._rows[known] = list(snapshot.step.ran), list(snapshot.step.next), plain
        return self._rows[known]


def _named(value: Any) -> Any:
    """A value without the ids that LangGraph gives to messages that have none."""
    if isinstance(value, list):
        return [_named(item) for item in value]
    if isinstance(value, dict):
        made = {name: _named(item) for name, item in value.items()}
        if str(made.get("$type", "")).startswith("langchain_core.messages") and (
            len(str(made.get("id"))) == 36
        ):
            made["id"] = "made"
        return made
    return value


def status_of(call: Call, thread: Thread, last: str) -> str:
    """How a call ended: the status that a run has which ends so."""
    if not call.ended:
        return "died"
    if call.error is not None:
        return "error"
    if thread.history.find(ROOT, last) >= 0:
        step = thread.step(ROOT, last)
        number = thread.history.step(thread.history.find(ROOT, last))
        assert number is not None
        if step.next and call.started(number):
            return "interrupted"
    return "done"


def differences(again: Again, whole: Thread, case: Case, made: Made) -> Iterator[tuple[str, str]]:
    """(of what, in words): how a case made again differs from what it had left in `whole`."""
    call = case.call
    cut = call.cut_short or call.error == "GraphRecursionError"
    with thread_in(made.path, call.thread) as mine:
        ids = [i for i in mine.history.ids[mine.history.span(ROOT).start :] if i >= case.line[0]]
        ids = [i for i in ids if mine.history.find(ROOT, i) >= 0]
        ours, theirs = again.rows(mine, ids), again.rows(whole, case.line)
        for n, (one, two) in enumerate(zip(ours, theirs, strict=False)):
            if one != two and not (n == 0 and two[0] == ["__start__"] and one[1] == two[1]):
                # (Nothing tells the name of an entrypoint that has not run.)
                yield "checkpoint", f"{n} is\n  {one}, and was\n  {two}"
                return
        if cut:
            return
        if len(ours) != len(theirs):
            yield "number", f"{len(ours)} checkpoints, and there were {len(theirs)}"
        below = again.below(mine, ids), again.below(whole, case.line, call.below)
        if call.at != case.line[0] and below[0] != below[1]:
            yield "sub-graphs", f"{below[0] - below[1]}, and it was {below[1] - below[0]}"
    number = whole.history.step(whole.history.find(ROOT, case.line[0]))
    assert number is not None
    expected = Counter({k: n for k, n in call.started(number).items() if not _is_handler(k[1])})
    started = Counter({k: n for k, n in made.started.items() if not _is_handler(k[1])})
    if started != expected:
        yield "ran", f"{started} ran, and it was {expected}"
    status = status_of(call, whole, case.line[-1])
    if made.outcome.status != status:
        yield (
            "status",
            f"it ended {made.outcome.status} ({made.outcome.error}), and it was {status}",
        )


def _is_handler(node: str) -> bool:
    """Whether another task's error may end it before it starts."""
    return node.startswith("__error_handler__")
