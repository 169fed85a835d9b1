"""Hosts for tests: users' environments with each LangGraph, and projects to run in them.

`make test` makes the environments; where one is absent its tests are skipped, with the reason.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from retrograph.engine.host.client import Host
from retrograph.engine.host.environ import environment
from retrograph.engine.host.requests import Loaded, launch, load
from retrograph.engine.host.target import GraphTarget, Launch
from retrograph.engine.model import Typed

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
VERSIONS = ("0.6", "1.0", "1.1", "1.2")
OWN = sys.executable
"""The interpreter of the tests themselves, with the newest LangGraph."""


def python_of(version: str) -> str:
    """The interpreter of a user's environment with that LangGraph; skips the test without it."""
    python = ROOT / ".envs" / f"langgraph-{version}" / "bin" / "python"
    if not python.exists():
        pytest.skip(f"{python.parents[1]} is absent: `make test` makes it")
    return str(python)


def plan_of(project: Path, graph: str, python: str = OWN, **options: Any) -> Launch:
    """A launch of `file.py:attribute` or `module:attribute` in a project."""
    where, _, attribute = graph.rpartition(":")
    target = (
        GraphTarget(graph, attribute, path=str(project / where))
        if where.endswith(".py")
        else GraphTarget(graph, attribute, module=where)
    )
    stated = options.pop("environment", None) or environment(
        os.environ, trace=options.get("trace", False)
    )
    return Launch(
        python=python,
        python_from="the test",
        project=str(project),
        target=options.pop("target", target),
        environment=stated,
        **options,
    )


def environment_with(**stated: str) -> dict[str, str]:
    """A host's environment, with more in it."""
    return environment(os.environ, stated=stated)


@contextmanager
def hosted(
    project: Path, graph: str, python: str = OWN, **options: Any
) -> Iterator[tuple[Host, Loaded]]:
    """A host with the graph loaded."""
    plan = plan_of(project, graph, python, **options)
    with launch(plan) as host:
        yield host, load(host, plan)


def typed(value: Any) -> Typed:
    """Plain data as LangGraph stores it."""
    import ormsgpack

    return Typed("msgpack", ormsgpack.packb(value))


def plain(value: Typed) -> Any:
    """What a typed value without classes holds."""
    import ormsgpack

    return None if value.type == "null" else ormsgpack.unpackb(value.data)
