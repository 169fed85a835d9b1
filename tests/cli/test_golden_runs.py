"""What runs say for people, over the demo, against files in `golden/`; times, ids of sandboxes,
folders and versions are left out.

`GOLDEN=write pytest tests/cli/test_golden_runs.py` writes them anew; look at what changed.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from cli.running import Run

GOLDEN = Path(__file__).parent / "golden"

STUB = """--stub 'price={"total": 900, "path": "express"}'"""
CASES = {
    "run-plan": "replay order-4412@step:9 --plan --recorded price --pause-before notify",
    "run-turned": f"replay order-4412@step:9 {STUB}",
    "run-asks": "replay order-4412@step:9",
    "run-failed": "replay order-4414",
    "run-crashed": "replay order-4415",
    "run-paused": "replay order-4412@step:9 --step",
    "run-goto": "replay order-4412@step:10 --goto notify",
    "run-answered": "resume order-4413 --answer yes",
    "run-forked": "fork order-4412@step:10 --set path=express --run",
    "run-repeated": "replay order-4411@step:0 --repeat 2",
}
_LEFT_OUT = (
    (r" +\d+(\.\d)? m?s$", "  TIME"),
    (r" · \d+(\.\d)? m?s", " · TIME"),
    (r"sandbox:[0-9a-f]{8}", "sandbox:ID"),
    (r'"/.*/support_agent', '"/FOLDER/support_agent'),
    (r"langgraph [\d.]+", "langgraph VERSION"),
    (r"Python +\d[\d.]+, .*", "Python  VERSION"),
    (r"(?m)^(id +)[0-9a-f-]{36}", r"\1ID"),
)


@pytest.mark.parametrize("name", CASES)
def test_golden(run: Run, demo_folder: Path, name: str) -> None:
    command, *words = shlex.split(CASES[name])
    done = run(command, "demo.db", *words, "--yes")
    text = done.out
    for pattern, instead in _LEFT_OUT:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("GOLDEN") == "write":
        file.write_text(text)
    assert text == file.read_text()
    assert done.code == (1 if name == "run-failed" else 0), done.err
