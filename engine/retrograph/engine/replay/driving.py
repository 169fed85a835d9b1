"""A replay that runs: the host is driven, and what happens is told and kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from retrograph.engine.errors import HostDiedError, HostError
from retrograph.engine.host.client import Event, Host, HostFailedError
from retrograph.engine.host.runs import Begin, run
from retrograph.engine.replay.asked import PolicyName
from retrograph.engine.replay.plan import Plan
from retrograph.engine.replay.recordings import bare

Status = Literal["done", "interrupted", "paused", "error", "cancelled", "died"]
Choice = Literal["go", "step", "stop"]
"""What to do where a run is held: go on, run one super-step, or leave it there."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One task that ran."""

    step: int | None
    ns: str
    node: str
    policy: PolicyName
    seconds: float | None
    """`None`: it had not ended when its process did."""
    tokens: int | None
    error: Mapping[str, Any] | None
    """`type`, `message`, `traceback`."""


@dataclass(slots=True)
class Outcome:
    """How a run ended."""

    status: Status = "done"
    ran: list[Ran] = field(default_factory=list)
    error: str | None = None
    """A sentence, where it failed or its process died."""
    traceback: str | None = None
    asynchronous: bool = False
    classes: Sequence[str] = ()


class Driver:
    """Runs a plan on a sandbox's file. `pause`, `cancel` may be called from a signal handler."""

    def __init__(
        self,
        host: Host,
        plan: Plan,
        database: Path,
        *,
        tell: Callable[[Event], None] = lambda event: None,
        choose: Callable[[Event], Choice] = lambda event: "stop",
        stepping: bool = False,
        messages: bool = False,
    ) -> None:
        """`tell` gets every event; `choose` is asked where the run is held. `stepping`: it is held
        before its first super-step, too. `messages`: models stream, and what they say is told."""
        self._host = host
        self._plan = plan
        self._does = plan.does
        self._database = database
        self._tell = tell
        self._choose = choose
        self._stepping = stepping
        self._messages = messages
        self._cancelled = False
        self._left_inside = False
        self._going: dict[int, Event] = {}
        self.outcome = Outcome()

    def pause(self) -> None:
        """Hold before the next super-step."""
        self._host.tell("pause")

    def cancel(self) -> None:
        """End it at once. What had been stored stays."""
        self._cancelled = True
        self._host.kill()

    def run(self, *begins: Begin) -> Outcome:
        """Run, by default as planned; several: each once the one before has asked a question."""
        for begin in begins or (self._plan.begin,):
            self._run(begin)
            if self.outcome.status != "interrupted":
                break
        return self.outcome

    def _run(self, begin: Begin) -> None:
        plan = self._plan
        try:
            with run(
                self._host,
                self._database,
                plan.key.thread_id,
                begin,
                policies=plan.policies,
                config=plan.config,
                context=plan.context,
                recursion_limit=plan.recursion_limit,
                messages=self._messages,
                paused=self._stepping,
            ) as job:
                for event in job:
                    self._note(event)
                    self._tell(event)
                    if event.name == "paused":
                        self._held(event)
                self._ended(job.reply.header)
        except HostDiedError as error:
            self._died(error)
        except HostFailedError as error:
            self.outcome.status = "error"
            self.outcome.error = str(error)
            self.outcome.traceback = error.error.get("traceback")

    def _held(self, event: Event) -> None:
        choice = self._choose(event)
        if choice == "stop" and event.get("ns"):
            # Inside a sub-graph nothing else ends it; what has finished is on disk.
            self._left_inside = True
            self._host.kill()
            return
        try:
            self._host.tell(choice)
        except HostError:  # its end is noticed by whoever waits for it
            pass

    def _note(self, event: Event) -> None:
        if event.name == "task_start":
            self._going[event["run"]] = event
        elif event.name == "task_end":
            self._going.pop(event["run"], None)
            error = event["error"]
            kept = ("type", "message", "traceback")
            self.outcome.ran.append(
                self._ran(
                    event,
                    event["seconds"],
                    event["tokens"],
                    None if error is None else {name: error[name] for name in kept},
                )
            )

    def _ran(
        self,
        event: Event,
        seconds: float | None,
        tokens: int | None,
        error: Mapping[str, Any] | None,
    ) -> Ran:
        ns, node = event["ns"], event["node"]
        policy = self._does.get((bare(ns), node), "live")
        return Ran(event["step"], ns, node, policy, seconds, tokens, error)

    def _ended(self, reply: Mapping[str, Any]) -> None:
        outcome = self.outcome
        status = reply["status"]
        outcome.status = "error" if status == "limit" else status
        outcome.asynchronous = reply["asynchronous"]
        outcome.classes = reply.get("classes", ())
        if reply["error"] is not None:
            outcome.error = reply["error"]["sentence"]
            outcome.traceback = None if status == "limit" else reply["error"]["traceback"]

    def _died(self, error: HostDiedError) -> None:
        outcome = self.outcome
        if self._left_inside:
            outcome.status = "paused"
            return
        outcome.status = "cancelled" if self._cancelled else "died"
        outcome.error = None if self._cancelled else str(error)
        for event in self._going.values():
            outcome.ran.append(self._ran(event, None, None, None))
