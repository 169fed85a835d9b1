"""Fixtures: the stories' project, written once a session, and copies of it."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

import pytest

import stories


@pytest.fixture(scope="session")
def project_made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project. Shared by all tests of the session: copy it before running anything in it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "the-stories"
    with Path(f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "store.db").exists():
            stories.make(folder)
    return folder


@pytest.fixture
def project(project_made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project, as the current folder."""
    folder = tmp_path / "story"
    shutil.copytree(project_made, folder)
    monkeypatch.chdir(folder)
    return folder
