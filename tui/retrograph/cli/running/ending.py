"""How a call's runs ended, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from retrograph.cli import talk
from retrograph.engine.model import CheckpointKey
from retrograph.engine.replay.driving import Ran, Status
from retrograph.engine.replay.results import Result
from retrograph.engine.replay.timeline import Row
from retrograph.engine.sandbox.file import Sandbox


@dataclass(frozen=True, slots=True)
class Ending:
    """Of one run, or of several that went on from each other."""

    key: CheckpointKey
    """The checkpoint that it began from."""
    start: CheckpointKey
    """The same, in the sandbox: of a forced route the child of it that was made."""
    sandbox: Sandbox
    opens: str
    """What opens the sandbox: `sandbox:ID`, or its path."""
    origin: str | None
    """What opens the sandbox's source, where that is not what it remembers."""
    options: Sequence[str]
    """The words of the call that say how the graph is run."""
    langgraph: str | None
    result: Result
    ran: Sequence[Ran]
    turned: Sequence[Row]
    """Tasks that went elsewhere than on the original line."""
    stopped: bool
    """Ctrl-C was pressed."""
    stepping: bool
    """Whether it was gone step by step to the end."""
    seconds: float
    error: str | None
    traceback: str | None
    warnings: Sequence[str]

    @property
    def status(self) -> Status:
        return self.result.status

    @property
    def code(self) -> int:
        """The exit code."""
        if self.status == "cancelled":
            return talk.CANCELLED
        return talk.FAILED if self.status in ("error", "died") else talk.DONE

    @property
    def super_steps(self) -> list[list[str]]:
        """The root graph's nodes that ran, super-step after super-step, sorted in each."""
        found: dict[int | None, list[str]] = {}
        for ran in self.ran:
            if not ran.ns:
                found.setdefault(ran.step, []).append(ran.node)
        return [sorted(nodes) for nodes in found.values()]

    def then(self, later: Ending) -> Ending:
        """This and what went on from it, as one."""
        return replace(
            later,
            key=self.key,
            start=self.start,
            origin=self.origin,
            ran=[*self.ran, *later.ran],
            turned=[*self.turned, *later.turned],
            seconds=self.seconds + later.seconds,
            warnings=list(dict.fromkeys([*self.warnings, *later.warnings])),
        )
