"""The zoo on disk, written by a process of its own: a store that is complete and closed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]


def build(out: Path, durability: str = "async", only: Sequence[str] = ()) -> None:
    """Write OUT/zoo.db and OUT/oracle.json. A failing scenario fails this call."""
    command = [sys.executable, "-m", "zoo", str(out), "--durability", durability]
    for name in only:
        command += ["--only", name]
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "LANGSMITH_TRACING": "false"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the zoo could not be written:\n{done.stderr[-4000:]}")


class Store:
    """A zoo on disk: the database and what LangGraph says of it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "zoo.db"
        self._oracle = folder / "oracle.json"

    @cached_property
    def threads(self) -> dict[str, Any]:
        """Thread id to `{"scenario", "namespaces": {ns: [row, oldest first]}}`."""
        threads: dict[str, Any] = json.loads(self._oracle.read_text())["threads"]
        return threads

    def all(self) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
        """(thread id, namespace, rows) of everything."""
        for thread_id, thread in self.threads.items():
            for ns, rows in thread["namespaces"].items():
                yield thread_id, ns, rows

    def of(self, scenario: str) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
        """(thread id, namespace, rows) of one scenario."""
        for thread_id, ns, rows in self.all():
            if self.threads[thread_id]["scenario"] == scenario:
                yield thread_id, ns, rows
