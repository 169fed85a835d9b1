"""Small projects of a user's, each a graph and a store that it has written: what tests of forks and
replays travel in. Every node leaves a line in `effects.txt`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from stories.graphs import AGENT, WRITE


def make(folder: Path) -> Path:
    """Write the project into `folder`; returns the store. Threads: see `graphs.WRITE`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent.py").write_text(AGENT)
    (folder / "pyproject.toml").write_text("[project]\nname = 'story'\nversion = '0'\n")
    (folder / "write.py").write_text(WRITE)
    environment = {**os.environ, "LANGSMITH_TRACING": "false"}
    done = subprocess.run(
        [sys.executable, "write.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (folder / "write.py").unlink()
    effects(folder)
    return folder / "store.db"


def effects(folder: Path) -> list[str]:
    """The nodes that have run since the last look."""
    path = folder / "effects.txt"
    if not path.exists():
        return []
    found = path.read_text().split()
    path.unlink()
    return found
