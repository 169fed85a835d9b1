"""Measures two sides in turn, each in fresh processes: A B A B …

A side is a function `prepare(*args)` of a module: it imports and sets up, and returns the call
that is measured. Files are in the system's cache before a measured call, since each process makes
the call once unmeasured; imports are not counted.

Seconds are processor time wherever one process does all the work: with files in the cache that is
what a clock would show on an idle machine, and it stays so on a busy one. Where a server works
too, they are the clock's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

ROOT = Path(__file__).parents[2]

Clock = Literal["wall", "cpu"]


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one call: medians of the rounds, and the median of their ratios."""

    ours: float
    baseline: float
    ratio: float
    """ours / baseline"""


def compare(
    ours: Callable[..., Any],
    baseline: Callable[..., Any],
    *args: object,
    rounds: int = 5,
    calls: int = 3,
    clock: Clock = "wall",
) -> Timing:
    """Each round is a fresh process a side, which makes the call once and then `calls` times, of
    which the least disturbed one counts."""
    pairs = [
        (
            min(_child(clock, baseline, args, calls)["seconds"]),
            min(_child(clock, ours, args, calls)["seconds"]),
        )
        for _ in range(rounds)
    ]
    return _timing(pairs)


def compare_commands(ours: Sequence[str], baseline: Sequence[str], rounds: int = 21) -> Timing:
    """Whole processes, from start to end, in processor time."""
    for command in (ours, baseline):
        _seconds(command)
    return _timing([(_seconds(baseline), _seconds(ours)) for _ in range(rounds)])


def in_turn(ours: Callable[[], float], baseline: Callable[[], float], rounds: int) -> Timing:
    """Calls that time themselves, in this process, in pairs of which each side begins every other:
    the medians, of the ratio too. For what takes several processes, beside which others may run:
    there the least of each side is a matter of luck, while a slow moment is shared by a pair."""
    for call in (baseline, ours):
        call()
    pairs = []
    for number in range(rounds):
        if number % 2:
            ours_took, baseline_took = ours(), baseline()
        else:
            baseline_took, ours_took = baseline(), ours()
        pairs.append((ours_took, baseline_took))
    return Timing(
        ours=median(one for one, _ in pairs),
        baseline=median(two for _, two in pairs),
        ratio=median(one / two for one, two in pairs),
    )


def once(side: Callable[..., Any], *args: object, clock: Clock = "wall") -> tuple[float, int]:
    """Seconds and bytes of a single call, for what takes a minute."""
    found = _child("once", side, args)
    return found[clock], found["peak"]


def peak(side: Callable[..., Any], *args: object) -> int:
    """Bytes by which the process grew at most during one call (resident memory)."""
    bytes_: int = _child("once", side, args)["peak"]
    return bytes_


def kept(side: Callable[..., Any], *args: object) -> int:
    """Bytes that the result of the call holds, as Python counts its allocations."""
    bytes_: int = _child("kept", side, args)["kept"]
    return bytes_


def _child(mode: str, side: Callable[..., Any], args: Sequence[object], calls: int = 1) -> Any:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.bench.child",
            mode,
            str(calls),
            f"{side.__module__}:{side.__name__}",
            *map(str, args),
        ],
        cwd=ROOT,
        env=_environment(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def _seconds(command: Sequence[str]) -> float:
    process = subprocess.Popen(command, env=_environment(), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return used.ru_utime + used.ru_stime


def _environment() -> dict[str, str]:
    """Ours, but byte code is kept from run to run, as it is wherever a program is installed."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def _timing(pairs: list[tuple[float, float]]) -> Timing:
    return Timing(
        ours=median(ours for _, ours in pairs),
        baseline=median(baseline for baseline, _ in pairs),
        ratio=median(ours / baseline for baseline, ours in pairs),
    )
