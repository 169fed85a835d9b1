"""`python -m tests.bench [NAME…] [--quick]`, from the root of the repository."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from tests.bench import report

NAMES = (
    "start",
    "threads",
    "history",
    "tree",
    "snapshot",
    "outline",
    "diff",
    "grep",
    "blame",
    "host",
    "sandbox",
    "postgres",
    "app",
    "keys",
)
RESULTS = Path(__file__).with_name("results.md")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="smaller stores, to try things out")
    given = parser.parse_args()
    if unknown := set(given.names) - set(NAMES):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    rows: list[report.Row] = []
    print(report.machine(), flush=True)
    for name in given.names or NAMES:
        case = importlib.import_module(f"tests.bench.cases.{name}")
        for row in case.rows(given.quick):
            rows.append(row)
            print("  ·  ".join(cell for cell in row.cells() if cell), flush=True)
    if not given.names and not given.quick:
        report.write(RESULTS, rows)
    return 0 if all(row.met is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
