"""Runs scenarios with a real saver and writes the oracle."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from zoo import oracle
from zoo.run import Run
from zoo.table import SCENARIOS, Scenario

Saver = BaseCheckpointSaver[Any]


@dataclass(frozen=True)
class Savers:
    """How to open a backend's savers; each is opened, used and closed more than once.

    Without `asynchronous`, scenarios that need it are left out.
    """

    synchronous: Callable[[], AbstractContextManager[Saver]]
    asynchronous: Callable[[], AbstractAsyncContextManager[Saver]] | None = None


def sqlite_savers(path: Path) -> Savers:
    return Savers(
        lambda: SqliteSaver.from_conn_string(str(path)),
        lambda: AsyncSqliteSaver.from_conn_string(str(path)),
    )


def write(savers: Savers, out: Path, *, durability: str = "async", only: Sequence[str] | None = None
          ) -> None:  # fmt: skip
    """Run the scenarios one after the other, then ask LangGraph about all of their threads."""
    wanted = [s for s in SCENARIOS if only is None or s.name in only]
    if savers.asynchronous is None:
        wanted = [s for s in wanted if not s.asynchronous]
    for scenario in wanted:
        if scenario.dies:
            _die(savers, scenario, durability)
    runs: list[tuple[Scenario, Run]] = []
    with savers.synchronous() as saver:
        for scenario in wanted:
            if not scenario.asynchronous:
                run = Run(scenario.name, saver, durability, dead=scenario.dies)
                _function(scenario)(run)
                runs.append((scenario, run))
    runs += [
        (s, asyncio.run(_asynchronous(savers, s, durability))) for s in wanted if s.asynchronous
    ]
    with savers.synchronous() as saver:
        threads = {
            thread_id: {
                "scenario": scenario.name,
                "now": oracle.now(saver, graph, thread_id),
                "namespaces": oracle.describe(saver, graph, thread_id, run.seen[thread_id]),
            }
            for scenario, run in runs
            for thread_id, graph in run.graphs.items()
        }
    document = {"langgraph": version("langgraph"), "durability": durability, "threads": threads}
    out.write_text(json.dumps(document, indent=1, ensure_ascii=True))


def _function(scenario: Scenario) -> Callable[[Run], Any]:
    module = importlib.import_module(f"zoo.graphs.{scenario.module}")
    function: Callable[[Run], Any] = getattr(module, scenario.name)
    return function


def _die(savers: Savers, scenario: Scenario, durability: str) -> None:
    """Run a scenario that ends its process, in a process of its own; no saver is open here yet."""
    function = _function(scenario)
    child = os.fork()
    if child == 0:
        with savers.synchronous() as saver:
            function(Run(scenario.name, saver, durability))
        os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        raise RuntimeError(f"{scenario.name}: its process ended with {code}, not with 0")


async def _asynchronous(savers: Savers, scenario: Scenario, durability: str) -> Run:
    assert savers.asynchronous is not None
    async with savers.asynchronous() as saver:
        run = Run(scenario.name, saver, durability)
        await _function(scenario)(run)
        return run
