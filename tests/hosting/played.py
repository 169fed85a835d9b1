"""The zoo played by every LangGraph, and hosts that play it again: fixtures."""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hosting import TESTS, VERSIONS, python_of
from hosting.replays import Again, Told
from zoo import SCENARIOS

NEWEST = VERSIONS[-1]
EVERYWHERE = "ZOO_EVERYWHERE" in os.environ
LACKS = {
    "0.6": {"delta", "handler", "schemas"},
    "1.0": {"delta", "handler"},
    "1.1": {"delta", "handler"},
    "1.2": set[str](),
}
"""Scenarios of DeltaChannels, error handlers and `Overwrite` in LangGraphs that have none."""
FEW = frozenset(
    (
        *("join_loop", "deferred_join", "sends", "commands", "two_deep", "stateful", "to_parent"),
        *("sub_fails", "parallel_questions", "static", "asked_below", "error_beside", "cached"),
        *("functional_asks", "pydantic_state", "messages", "agent", "asynchronous", "names"),
    )
)
"""Scenarios for older LangGraphs: one of each kind."""


def _is_played(version: str, scenario: str) -> bool:
    """Whether a scenario is for this LangGraph: all for the newest, and each of `FEW` for one of
    the older."""
    if scenario in LACKS[version]:
        return False
    if EVERYWHERE or version == NEWEST:
        return True
    older = VERSIONS[:-1]
    return scenario in sorted(FEW)[older.index(version) :: len(older)]


SOME = pytest.mark.parametrize(
    ("version", "scenario"),
    [(v, s.name) for v in VERSIONS for s in SCENARIOS if _is_played(v, s.name)],
)
Played = Callable[[str, str], Told]
Hosts = Callable[[str], Again]


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The zoo as one LangGraph's `zoo.calls` has played it, or another worker of this session."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def once(version: str, scenario: str) -> Told:
        folder = shared / f"calls-{version}"
        with Path(f"{folder}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "whole").exists():
                _play(python_of(version), folder)
        return Told(folder / scenario)

    return once


def _play(python: str, folder: Path) -> None:
    command = [python, "-W", "ignore", "-m", "zoo.calls", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "LANGSMITH_TRACING": "false"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    (folder / "whole").touch()


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    """A host of each LangGraph, shared by all tests of this worker."""
    started: dict[str, Again] = {}

    def of(version: str) -> Again:
        if version not in started:
            folder = tmp_path_factory.mktemp(f"host-{version}")
            started[version] = Again(python_of(version), folder)
        return started[version]

    yield of
    for again in started.values():
        again.close()
