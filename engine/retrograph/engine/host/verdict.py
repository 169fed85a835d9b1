"""How a host ended, in one sentence that says whose fault it is.

The verdict is the process's exit and whether it said `done` first: a host that ends with code 0
but without a word was ended by a node.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from retrograph.engine.host.stacks import Where, fatal

LOST = 70
"""The exit code of a host whose channel was taken from it (`sysexits.h`, EX_SOFTWARE)."""
EXITED = "rg: os._exit"
"""What the worker writes among the crashes before `os._exit` that it did not call itself."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known of a host's end."""

    code: int | None
    """As `Popen.returncode`: negative is a signal. `None` where it still runs."""
    closed_channel: bool
    """Its channel is closed, and it still ran."""
    garbled: str | None
    """Why what came were no frames."""
    stopped: bool
    """We ended it."""
    doing: str | None
    """The request under way, or "starting"."""
    nodes: Sequence[str]
    """The nodes that were running."""
    crash: str
    """What faulthandler wrote."""
    at: Where | None
    project: Path
    last_line: str
    """The last line on stderr."""


def sentence(end: Ending) -> str:
    """One sentence: what happened, in which node, at which line of the user's code."""
    place = f" at {end.at.shown(end.project)}" if end.at else ""
    when = _when(end)
    if end.stopped:
        return "The graph's process was ended, as asked for."
    if end.garbled is not None:
        return (
            f"The graph's code wrote into a descriptor that is not its own{when}, "
            "so nothing more can be understood of its process."
        )
    if end.closed_channel or end.code == LOST:
        return (
            f"The graph's code closed a descriptor that is not its own{when}{place} "
            "(os.closerange?), and with it the way to its process, which was ended."
        )
    if EXITED in end.crash:
        return f"os._exit was called{place}{when}, which ends the graph's process at once."
    if end.code is not None and end.code < 0:
        return _by_signal(-end.code, end, place, when)
    if end.doing == "starting":
        said = f": {end.last_line}" if end.last_line else f" (exit code {end.code})"
        return f"The graph's Python ended before it was up{said}."
    if why := fatal(end.crash):
        return f"Python itself gave up{when}{place}: {why}."
    return f"The graph's process ended (exit code {end.code}){when}{place}, without a word."


def _by_signal(number: int, end: Ending, place: str, when: str) -> str:
    name = _name(number)
    if number == signal.SIGKILL:
        return (
            f"The graph's process was killed ({name}){when}: by somebody, "
            "or by the system because memory ran out."
        )
    said = fatal(end.crash)
    if said is not None and number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE):
        kind = said[:1].lower() + said[1:]
        return (
            f"The graph's process crashed ({kind}){when}{place}: "
            "a fault of native code that is called there."
        )
    because = f": {said}" if said else ""
    return f"The graph's process was ended by {name}{when}{place}{because}."


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _when(end: Ending) -> str:
    if end.nodes:
        names = sorted(set(end.nodes))
        shown = ", ".join(f"'{name}'" for name in names[:3])
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return f" while node{'s' if len(names) > 1 else ''} {shown}{more} ran"
    return {
        "starting": " while it started",
        "load": " while the graph was loaded",
        "preview": " while a router or reducer was asked",
        "run": " during the run, between two nodes",
    }.get(end.doing or "", "")
