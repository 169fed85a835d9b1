"""The commands run in this process, and the demo's store made once a session."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.running import DATA, NOW, Done, Run
from retrograph.cli.demo import make_demo
from retrograph.cli.main import main


@pytest.fixture(autouse=True)
def _plain_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Neither configuration nor sandboxes of whoever runs the tests, and UTC."""
    for name in list(os.environ):
        if name.startswith("RETROGRAPH_") or name == "NO_COLOR":
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user-data"))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run a command: `run("tree", store, "loop")`."""

    def once(*words: object) -> Done:
        capfdbinary.readouterr()
        code = main([str(word) for word in words])
        out, err = capfdbinary.readouterr()
        return Done(code, out.decode(), err.decode())

    return once


@pytest.fixture(scope="session")
def demo_made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's folder. Shared by all tests of the session: read only."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "the-demo"
    with Path(f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        make_demo(folder, NOW)
    return folder


@pytest.fixture
def demo_folder(demo_made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the demo, as the current folder."""
    folder = tmp_path / "demo"
    shutil.copytree(demo_made, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def newest() -> Path:
    """A store of langgraph 1.2.24, with fixed ids and times."""
    return DATA / "langgraph-1.2.24.db"
