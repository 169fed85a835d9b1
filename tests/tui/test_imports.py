"""What is imported before a screen first shows: nothing that reads or compares."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROBE = "import json, sys, retrograph.tui.app, {0}; print(json.dumps(sorted(sys.modules)))"
LATER = (
    *("retrograph.engine.diff", "retrograph.engine.serde", "retrograph.engine.steps"),
    *("retrograph.engine.thread", "retrograph.loaders", "ormsgpack", "sqlite3", "typer"),
    *("markdown_it", "langgraph", "langchain_core", "pydantic"),
)


@pytest.mark.parametrize("screen", ["thread", "threads"])
def test_before_the_first_frame(screen: str) -> None:
    probe = PROBE.format(f"retrograph.tui.screens.{screen}")
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True, text=True)
    names = json.loads(done.stdout)
    assert [n for n in names for late in LATER if n == late or n.startswith(f"{late}.")] == []
