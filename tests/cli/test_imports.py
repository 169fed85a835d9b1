"""What the commands import, each in a process of its own: nothing that runs or is slow."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"langgraph", "langchain_core", "pydantic", "textual"}

PROBE = """
import json, sys
from retrograph.cli.main import main
code = main(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


def modules(*words: object) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *map(str, words)], capture_output=True, check=True, text=True
    )
    code, names = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return set(names)


def tops(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize(
    "words",
    [
        ["threads", "STORE"],
        ["threads", "STORE", "--json"],
        ["tree", "STORE", "chat"],
        ["tree", "STORE", "nested", "--json"],
        ["show", "STORE", "chat"],
        ["show", "STORE", "chat", "--json"],
        ["open", "STORE"],
        ["config", "show"],
        ["--help"],
    ],
    ids=" ".join,
)
def test_reading_imports_nothing_of_langgraph(newest: Path, words: list[str]) -> None:
    names = modules(*(newest if word == "STORE" else word for word in words))
    assert not tops(names) & HEAVY
    assert "sqlalchemy" not in tops(names)


def test_json_needs_no_drawing(newest: Path) -> None:
    names = modules("threads", newest, "--json")
    assert "rich" not in tops(names)
    assert not {name for name in names if name.startswith("retrograph.cli.draw")}
    assert not {"concurrent", "logging"} & tops(names)


def test_the_version_needs_next_to_nothing() -> None:
    assert not tops(modules("--version")) & (HEAVY | {"typer", "rich", "sqlite3"})


def test_python_m() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "retrograph", "--version"], capture_output=True, check=True
    )
    assert done.stdout.startswith(b"retrograph ")
