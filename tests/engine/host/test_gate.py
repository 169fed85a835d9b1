"""What stored data names in a host: no attack runs anything, and no legitimate value is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hosting import TESTS
from retrograph.engine.host.client import WORKER

MODELS = """
import dataclasses, enum, typing, os
from subprocess import Popen
from os import system
import pydantic

class Tier(enum.Enum):
    GOLD = "gold"

@dataclasses.dataclass
class Customer:
    name: str
    tier: Tier = Tier.GOLD

class Order(pydantic.BaseModel):
    id: int
    customer: Customer | None = None

class Point(typing.NamedTuple):
    x: int
    y: int

class Plain:
    def __init__(self, text=""):
        os.environ["RAN"] = "Plain"

def function(text):
    os.environ["RAN"] = "function"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "bomb.py").write_text("open('hacked', 'w').close()")
    return tmp_path


def check(folder: Path, python: str, what: str, *allow: str) -> str:
    script = TESTS / "hosting" / "gates.py"
    done = subprocess.run(
        [python, str(script), str(WORKER), what, *allow],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("fine"), done.stderr[-3000:]
    return done.stdout


def test_legitimate_values(folder: Path, python: str) -> None:
    made = check(folder, python, "legitimate")
    assert "models.Customer" in made


def test_attacks(folder: Path, python: str) -> None:
    check(folder, python, "attacks")


def test_a_class_allowed_by_name(folder: Path) -> None:
    check(folder, sys.executable, "allowed", "models.Plain")
