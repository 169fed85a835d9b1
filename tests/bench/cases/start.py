"""How long the command takes to start."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.bench.measure import compare_commands
from tests.bench.report import Row, at_most
from tests.bench.stores.many_threads import many_threads

BASELINE = [sys.executable, "-c", "import typer"]


def rows(quick: bool) -> Iterator[Row]:
    command = str(Path(sys.executable).parent / "retrograph")
    rounds = 7 if quick else 31
    yield at_most(
        "retrograph --version; python -c 'import typer'",
        compare_commands([command, "--version"], BASELINE, rounds),
        1.5,
    )
    small = str(many_threads(20))
    yield at_most(
        "retrograph threads --json on a store of 20 threads; python -c 'import typer'",
        compare_commands([command, "threads", small, "--json"], BASELINE, rounds),
        2.5,
    )
