"""What the user wants hidden is on no screen and tab; that it changed is."""

from __future__ import annotations

from pathlib import Path

import pytest

from made import Made, make, said
from piloting import opened, press, settle, text
from retrograph.engine.views.redact import Redactor

HIDDEN = "hunter2"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    state = {"ssn": HIDDEN, "note": f"sk-{HIDDEN} is it", "messages": [said(f"sk-{HIDDEN}", "m")]}
    later = {**state, "ssn": f"{HIDDEN} too", "note": f"sk-{HIDDEN} it is"}
    asks = [{"value": {"ssn": HIDDEN, "question": f"Use sk-{HIDDEN}?"}, "id": "q"}]
    asked = [("~__pregel_pull, ask", "__interrupt__", asks)]
    make(tmp_path / "s.db", [Made(state), Made(later, {"n": later}, writes=asked)])
    failed = [("~__pregel_pull, fail", "__error__", f"ValueError('sk-{HIDDEN}')")]
    make(tmp_path / "s.db", [Made(state, writes=failed)], "failed")
    return tmp_path / "s.db"


async def test_threads(store: Path) -> None:
    async with opened(store) as pilot:
        assert HIDDEN in text(pilot), "else this test shows nothing"
    async with opened(store, redactor=Redactor(["ssn", "/sk-\\w+/"])) as pilot:
        for _ in range(2):
            assert "[redacted]" in text(pilot)
            assert HIDDEN not in text(pilot)
            await press(pilot, "down")


async def test_every_tab(store: Path) -> None:
    async with opened(store, "t", redactor=Redactor(["ssn", "/sk-\\w+/"])) as pilot:
        seen = []
        for key in "123456":
            await press(pilot, key)
            await settle(pilot)
            seen.append(text(pilot))
        assert not [page for page in seen if HIDDEN in page]
        assert any("[redacted]" in page for page in seen)
        diff = next(page for page in seen if "- note" in page)
        assert "- ssn" in diff, "that it changed is told"
