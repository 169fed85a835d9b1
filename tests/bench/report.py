"""What was measured, as a table for the terminal and for `results.md`."""

from __future__ import annotations

import os
import platform
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tests.bench.measure import Timing

HEAD = ("what", "ours", "baseline", "ratio", "target", "met", "peak memory (ours, baseline)")
LIBRARIES = (
    "langgraph",
    "langgraph-checkpoint",
    "langgraph-checkpoint-sqlite",
    "langgraph-checkpoint-postgres",
    "ormsgpack",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; all cells but `met` are ready to be read."""

    what: str
    ours: str
    baseline: str
    ratio: str
    target: str
    met: bool | None
    """`None` where there is no target."""
    memory: str = ""

    def cells(self) -> tuple[str, ...]:
        met = "" if self.met is None else "yes" if self.met else "**no**"
        return (self.what, self.ours, self.baseline, self.ratio, self.target, met, self.memory)


def at_most(what: str, timing: Timing, limit: float, memory: str = "") -> Row:
    """Ours may take `limit` times what the baseline takes."""
    return Row(
        what,
        seconds(timing.ours),
        seconds(timing.baseline),
        f"{timing.ratio:.2f} ×",
        f"≤ {limit:g} ×",
        timing.ratio <= limit,
        memory,
    )


def times_faster(what: str, timing: Timing, least: float, memory: str = "") -> Row:
    """The baseline must take at least `least` times what ours takes."""
    faster = 1 / timing.ratio
    return Row(
        what,
        seconds(timing.ours),
        seconds(timing.baseline),
        f"{faster:.3g} × faster",
        f"≥ {least:g} × faster",
        faster >= least,
        memory,
    )


def seconds(value: float) -> str:
    if value < 0.001:
        return f"{value * 1e6:.0f} µs"
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"


def size(value: float) -> str:
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} GB"


def machine() -> str:
    """One line: what this was measured on, and when."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return (
        f"{datetime.now(UTC):%Y-%m-%d} · {_cpu()}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[1]:.1f}, "
        f"{memory / 2**30:.0f} GiB · {platform.system()} {platform.release()} · "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {libraries}"
    )


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else ():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def table(rows: list[Row]) -> str:
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    lines += ["| " + " | ".join(row.cells()) + " |" for row in rows]
    return "\n".join(lines)


def write(path: Path, rows: list[Row]) -> None:
    path.write_text(
        "# Benchmarks\n\n"
        "Written by `make bench`. Ours against a baseline in the same run, in turn: each round is\n"
        "a fresh process a side, of which the best call counts; medians of the rounds. Seconds\n"
        "are processor time, but for Postgres, where they are the clock's, as they are for the\n"
        "app where nothing else is said. Files are in the system's cache, and imports are not\n"
        "counted, except in whole commands. Memory is what the process grew by at most.\n\n"
        f"{machine()}\n\n{table(rows)}\n"
    )
