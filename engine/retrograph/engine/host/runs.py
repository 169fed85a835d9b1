"""The request that runs the graph, and what its nodes are to do in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from retrograph.engine.host.client import Blobs, Host, Job
from retrograph.engine.model import Typed


@dataclass(frozen=True, slots=True)
class Begin:
    """What a run is started with."""

    how: Literal["go on", "input", "resume"]
    """`invoke(None)`, `invoke(value)`, `invoke(Command(resume=value))`."""
    value: Typed | None = None
    fresh: bool = False
    """`__pregel_resuming: False` is passed: due sub-graphs with a memory of their own run."""


class Task(NamedTuple):
    """What was recorded of one task."""

    send: int | None
    """Which of its super-step's Sends; `None` for a node that its channels triggered."""
    writes: Sequence[tuple[str, Typed]]


@dataclass(frozen=True, slots=True)
class Policy:
    """What a node does in a run, if it is not to run itself."""

    ns: str
    """The sub-graph without task ids: "", "sub", "sub|inner"."""
    node: str
    policy: Literal["recorded", "stub", "pause"]
    value: Typed | None = None
    """Of a stub: what it gives; `{"$goto": …, "$update": …}` is a `Command`."""
    steps: Sequence[Sequence[Task]] = ()
    """Of a recording: what the node gave in each of its super-steps. When they run out, the run
    is held before the node, which then runs itself."""


def run(
    host: Host,
    database: Path,
    thread_id: str,
    begin: Begin,
    *,
    policies: Sequence[Policy] = (),
    config: Mapping[str, Any] | None = None,
    context: Any = None,
    recursion_limit: int | None = None,
    messages: bool = False,
    paused: bool = False,
    asynchronous: bool | None = None,
) -> Job:
    """Run the loaded graph on a SQLite file, from the thread's head.

    `messages`: also events of tokens. `paused`: hold before the first super-step. `asynchronous`:
    `None` lets the graph decide. While it runs, `host.tell("pause")` holds before the next
    super-step of the root graph, `"step"` lets one run, `"go"` all, `"stop"` ends it there; what is
    held inside a sub-graph can only go on, or be killed.

    Events: see `worker/run.py`. The reply:

        {"status": "done|interrupted|paused|error|limit", "seconds", "error": null | error,
         "asynchronous": bool, "interrupts": [{"id", "ns", "task", "node", "value": typed}]}

    `done` also where the graph's own `interrupt_before` or `interrupt_after` held it, which leaves
    no trace: then nodes are due in the file.

        error = {"type", "message", "traceback", "node", "file", "line", "sentence"}
    """
    blobs = Blobs()
    return host.job(
        "run",
        blobs=blobs,
        database=str(database),
        thread_id=thread_id,
        begin={
            "how": begin.how,
            "value": None if begin.value is None else blobs.add(begin.value),
            "fresh": begin.fresh,
        },
        policies=[_policy(policy, blobs) for policy in policies],
        config=dict(config or {}),
        context=context,
        recursion_limit=recursion_limit,
        messages=messages,
        paused=paused,
        asynchronous=asynchronous,
    )


def _policy(policy: Policy, blobs: Blobs) -> dict[str, Any]:
    return {
        "ns": policy.ns,
        "node": policy.node,
        "policy": policy.policy,
        "value": None if policy.value is None else blobs.add(policy.value),
        "steps": [
            [[t.send, [[channel, blobs.add(value)] for channel, value in t.writes]] for t in step]
            for step in policy.steps
        ],
    }
