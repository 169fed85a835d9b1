"""What several floors' tests share: the zoo of real threads, made once a session, and servers."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

from servers.postgres import database, postgres, postgres_zoo
from stories.fixtures import project, project_made
from zoo import Store, build

# Here, since any test module may import them: later it would be too late.
pytest.register_assert_rewrite("loaders.contract", "loaders.sqlite_files")

# No test judges by the clock: machines are busy at times.
hypothesis.settings.register_profile("timeless", deadline=None)
hypothesis.settings.load_profile("timeless")

# Where the tests run in the background, SIGINT is ignored, and every child would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

__all__ = [
    "database",
    "postgres",
    "postgres_zoo",
    "project",
    "project_made",
    "zoo_builder",
    "zoo_store",
]


@pytest.fixture(scope="session")
def zoo_builder(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Store]:
    """Builds a zoo, or takes the one that another worker of this session has built."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def once(durability: str = "async", only: tuple[str, ...] = ()) -> Store:
        folder = shared / "-".join(("zoo", durability, *only))
        with Path(f"{folder}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "oracle.json").exists():
                build(folder, durability, only)
        return Store(folder)

    return once


@pytest.fixture(scope="session")
def zoo_store(zoo_builder: Callable[..., Store]) -> Store:
    """Every scenario of `zoo.SCENARIOS` in one SQLite file, with what LangGraph says of it.

    Shared by all tests of the session: copy it before writing to it.
    """
    return zoo_builder()
