"""What a replay would do, worked out before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from retrograph.engine.errors import UsageError
from retrograph.engine.history import NONE
from retrograph.engine.host.client import Host
from retrograph.engine.host.requests import CheckpointRow, Loaded, Topology, topology
from retrograph.engine.host.runs import Begin, Policy
from retrograph.engine.host.target import Launch
from retrograph.engine.model import ROOT, CheckpointKey
from retrograph.engine.replay.asked import (
    Asked,
    Key,
    PolicyName,
    named,
    nodes_of,
)
from retrograph.engine.replay.carried import config_of
from retrograph.engine.replay.forcing import forced
from retrograph.engine.replay.recordings import Recordings, bare
from retrograph.engine.replay.scope import may_run
from retrograph.engine.sandbox.closure import (
    Closure,
    begins_fresh,
    for_going_on,
    for_replay,
)
from retrograph.engine.steps.step import Step
from retrograph.engine.thread import Thread
from retrograph.engine.values import from_json


@dataclass(frozen=True, slots=True)
class NodePlan:
    """A node that may run, and what it is to do."""

    key: Key
    policy: PolicyName
    recorded: int
    """Super-steps in which it is recorded."""
    side_effects: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """A replay that has not begun."""

    key: CheckpointKey
    closure: Closure | None
    """What is copied; `None`: it goes on in the sandbox that it was asked of."""
    begin: Begin
    nodes: Sequence[NodePlan]
    policies: Sequence[Policy]
    recordings: Recordings
    config: Mapping[str, Any]
    context: Any
    recursion_limit: int | None
    launch: Launch
    loaded: Loaded
    versions: Mapping[str, Any]
    due: Sequence[str]
    others: Sequence[NodePlan] = ()
    """Nodes that no edge leads to from what is due, and that must not run unasked if a `Command`
    does all the same."""
    edited: Sequence[CheckpointRow] = ()
    """Children of the checkpoint that the run begins from instead: a forced route."""
    warnings: Sequence[str] = field(default=())

    @property
    def does(self) -> Mapping[Key, PolicyName]:
        """What each node does; "live" where it is not among them."""
        return {node.key: node.policy for node in (*self.nodes, *self.others)}


def plan_replay(
    host: Host,
    launch: Launch,
    loaded: Loaded,
    thread: Thread,
    key: CheckpointKey,
    asked: Asked,
    *,
    recordings: Recordings,
    edited: Sequence[str] = (),
    in_place: bool = False,
) -> Plan:
    """Work out a replay. Nothing runs. `edited`: channels that a fork has changed here;
    `in_place`: the checkpoint is a sandbox's newest, which can go on itself.

    Raises `UsageError` for a policy that makes no sense, `SourceError` where the checkpoint cannot
    be copied.
    """
    if loaded.context_required and launch.context is None:
        raise UsageError(
            f"The graph takes a context ({loaded.context}), which is not stored: give --context."
        )
    opened = topology(host, xray=True)
    known = nodes_of(opened)
    stated = asked.policies(known)
    envelope = thread.envelopes_of(key.ns, [thread.history.find(key.ns, key.id)])
    found = next(iter(envelope.values()))
    metadata, source = found.metadata, found.source
    step = thread.step(key.ns, key.id)
    goes_on = is_leaf(thread, key) and not (asked.again or asked.goto) and key.ns == ROOT
    finished = sorted(t.node for t in step.tasks if t.finished) if goes_on else []
    due = asked.goto or (step.waiting if goes_on else step.next)
    every = _nodes(known, stated, recordings, finished, asked)
    runs = may_run(opened, thread, key, recordings, goes_on=goes_on, goto=asked.goto)
    nodes = [node for node in every if node.key in runs or node.key in stated]
    others = [node for node in every if node not in nodes and _is_put(node)]
    closure = None
    if not (in_place and (goes_on or key.ns != ROOT)):
        make = for_going_on if goes_on else None
        closure = make(thread, key.id) if make else for_replay(thread, key.ns, key.id)
    edited_rows = []
    if asked.goto and closure is not None:
        edited_rows.append(forced(thread, closure, asked.goto, _deferred(opened, key.ns)))
    return Plan(
        key=key,
        closure=closure,
        begin=Begin("go on", fresh=_fresh(thread, key, goes_on)),
        nodes=nodes,
        others=others,
        policies=[_policy(node, asked, recordings, thread) for node in every if _is_put(node)],
        recordings=recordings,
        config=config_of(metadata, launch.config),
        context=launch.context,
        recursion_limit=launch.recursion_limit,
        launch=launch,
        loaded=loaded,
        versions=host.greeting,
        due=due,
        edited=edited_rows,
        warnings=[
            *_surroundings(host, launch),
            *(closure.warnings if closure is not None else ()),
            *(() if asked.goto else _about(step, goes_on, finished, source)),
            *_overwritten(nodes, recordings, edited),
        ],
    )


def _surroundings(host: Host, launch: Launch) -> Iterator[str]:
    """What differs from where the graph usually runs."""
    yield from launch.warnings
    wanted, there = launch.python_version, str(host.greeting["python"])
    if wanted is not None and not there.startswith(f"{wanted}."):
        yield f"langgraph.json asks for Python {wanted}, and this is {there}."


def _deferred(opened: Topology, ns: str) -> dict[str, bool]:
    """The nodes of one level, and whether each waits for the run's end."""
    above = bare(ns).split("|") if ns else []
    depth = len(above)
    found: dict[str, bool] = {}
    for node in opened.nodes:
        parts = node.name.split(":")
        if parts[:depth] != above or parts[-1] in ("__start__", "__end__"):
            continue
        if len(parts) > depth + 1:  # of the graph that this node is
            found.setdefault(parts[depth], False)
        elif len(parts) > depth:
            found[parts[depth]] = node.deferred
    return found


def is_leaf(thread: Thread, key: CheckpointKey) -> bool:
    i = thread.history.find(key.ns, key.id)
    return i != NONE and not thread.history.has_children(i)


def _fresh(thread: Thread, key: CheckpointKey, goes_on: bool) -> bool:
    """Whether due sub-graphs with a memory of their own must be told not to resume."""
    if key.ns != ROOT:
        return False
    return begins_fresh(thread, key) if goes_on else True


def _is_put(node: NodePlan) -> bool:
    return node.policy in ("recorded", "stub", "pause")


def _nodes(
    known: Sequence[Key],
    stated: Mapping[Key, PolicyName],
    recordings: Recordings,
    finished: Sequence[str],
    asked: Asked,
) -> list[NodePlan]:
    found = []
    for key in known:
        count = len(recordings.get(key, ()))
        reaches_out = named(key) in asked.side_effects or key[1] in asked.side_effects
        policy: PolicyName = stated.get(key, "live")
        if key not in stated and key[0] == ROOT and key[1] in finished:
            policy = "finished"
        elif key not in stated and reaches_out:
            policy = "recorded" if count else "pause"
        if policy == "recorded" and not count:
            raise UsageError(
                f"Nothing is recorded of '{named(key)}' from here on, so it cannot stand in: "
                "--stub it, or --pause-before it."
            )
        found.append(NodePlan(key, policy, count, reaches_out))
    return found


def _policy(node: NodePlan, asked: Asked, recordings: Recordings, thread: Thread) -> Policy:
    ns, name = node.key
    if node.policy == "recorded":
        return Policy(ns, name, "recorded", steps=recordings[node.key])
    if node.policy == "stub":
        given = asked.stubs[name if named(node.key) not in asked.stubs else named(node.key)]
        return Policy(ns, name, "stub", value=thread.serde.encode(from_json(given)))
    return Policy(ns, name, "pause")


def _about(step: Step, goes_on: bool, finished: Sequence[str], source: str | None) -> list[str]:
    said = []
    if not step.next:
        said.append("Nothing is due here, so nothing would run.")
    elif goes_on and not step.waiting:
        said.append(
            "All of this step had finished, and what came of it is not saved: it is first, and "
            "what is due then runs."
        )
    if not goes_on:
        done = sorted(t.node for t in step.tasks if t.finished)
        left = list(step.waiting)
        if done and left:
            said.append(
                f"Of this step {', '.join(done)} had finished, and {', '.join(left)} had not: all "
                "of them run again."
            )
        return said
    quiet = [
        task.node
        for task in step.tasks
        if not task.finished and task.error is None and not task.questions
    ]
    # After an edit nothing has run yet.
    if quiet and quiet != ["__start__"] and source != "update":
        verb = "were" if len(quiet) > 1 else "was"
        run = "run" if len(quiet) > 1 else "runs"
        said.append(
            f"{', '.join(quiet)} {verb} due when the thread stopped, and may have run in part: "
            f"{'they' if len(quiet) > 1 else 'it'} {run} again."
        )
    failed = sorted(t.node for t in step.tasks if t.finished and t.error is not None)
    if finished:
        whole = [node for node in finished if node not in failed]
        if whole:
            said.append(f"{', '.join(whole)} had finished in this step: not run again.")
        said.extend(
            f"{node} failed once it had given its values, in choosing where to go: LangGraph takes "
            "it for finished, so it does not run again and leads nowhere. --again runs it again."
            for node in dict.fromkeys(failed)
        )
    return said


def _overwritten(
    nodes: Sequence[NodePlan], recordings: Recordings, edited: Sequence[str]
) -> list[str]:
    """A recorded output that writes what was edited takes the edit back."""
    said = []
    for node in nodes:
        if node.policy == "recorded":
            wrote = {c for step in recordings[node.key] for task in step for c, _ in task.writes}
            said += [
                f"The recorded output of '{named(node.key)}' writes '{channel}', which was edited: "
                "the edit may not outlive it."
                for channel in sorted(wrote.intersection(edited))
            ]
    return said
