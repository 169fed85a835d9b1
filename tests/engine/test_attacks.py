"""Stored bytes that want something to happen: nothing does, and the value is still shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from blobs.attacks import corpus

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """What each attack became, read in a process that fails on any import, exec, open …"""
    run = subprocess.run(
        [sys.executable, "-m", "blobs.attacks"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stderr == ""
    results: dict[str, Any] = json.loads(run.stdout)
    return results


def test_nothing_runs(shown: dict[str, Any]) -> None:
    assert list(shown) == list(corpus())


def test_names_are_shown(shown: dict[str, Any]) -> None:
    assert shown["os.system"]["x"]["$type"] == "os.system"
    assert shown["popen by kwargs"]["x"]["shell"] is True
    assert shown["method"]["x"]["$method"] == "expanduser"
    assert shown["pickle protocol 0"]["names"] == ["os.system"]
    assert shown["pickle"]["names"] == ["builtins.print"]


def test_constructor_dicts_in_data_are_data(shown: dict[str, Any]) -> None:
    lc = {"lc": 1, "type": "constructor", "id": ["os", "system"]}
    found = shown["json lc 1"]["x"]
    assert found == lc | {"kwargs": found["kwargs"]}
    assert shown["constructor dict in data"]["x"]["lc"] == 2
    assert shown["json lc 1 secret"]["x"] == {"lc": 1, "type": "secret", "id": ["OPENAI_API_KEY"]}


def test_marks_in_data_are_data(shown: dict[str, Any]) -> None:
    assert shown["marks in data"]["x"]["$map"][0] == ["$type", "os.system"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("string of 2^32", "truncated"),
        ("array of 2^32", "truncated"),
        ("10 MB of NULs", "9999999 bytes after the value"),
        ("json 100,000 deep", "nested too deep"),
        ("reserved byte", "corrupt (byte 0xc1 at 2)"),
        ("yaml", "unknown type 'yaml'"),
    ],
)
def test_what_is_broken_says_why(shown: dict[str, Any], name: str, why: str) -> None:
    assert shown[name]["$unreadable"] == why


def test_the_rest_is_shown(shown: dict[str, Any]) -> None:
    """One bad part does not take the others with it."""
    assert shown["cut in half"]["partial"]["a"][:3] == [0, 1, 2]
    assert shown["not UTF-8"] == {"a": "\udcff\udcfe", "b": 1}
    assert shown["json long number"]["a"]["$unreadable"] == "a number of 1000000 digits"
    assert "nested too deep" not in shown["payload of garbage"]["x"]["$unreadable"]
