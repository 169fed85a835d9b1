"""The list of the demo's threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from piloting import SMALL, opened, press, text
from retrograph.tui.widgets.bars import Hints
from retrograph.tui.widgets.threadlist import ThreadList


def ids(pilot: Pilot[Any]) -> list[str]:
    found = pilot.app.screen.query_one(ThreadList).threads
    return [info.row.thread_id for info in found]


async def test_newest_activity_first(demo: Path) -> None:
    async with opened(demo) as pilot:
        assert ids(pilot)[0] == "order-4415"
        assert len(ids(pilot)) == 8
        shown = text(pilot)
        assert "8 threads" in shown
        assert "→ ship" in shown
        assert "LookupError" in shown


async def test_opens_a_thread_and_comes_back(demo: Path) -> None:
    async with opened(demo) as pilot:
        await press(pilot, "j", "j", "j", "enter")
        assert "33 checkpoints · 3 lines" in text(pilot)
        await press(pilot, "escape")
        assert "8 threads" in text(pilot)
        assert pilot.app.screen.query_one(ThreadList).cursor == 3


async def test_filters_as_it_is_typed_and_says_so(demo: Path) -> None:
    async with opened(demo) as pilot:
        await press(pilot, "slash", *"status:i")
        assert ids(pilot) == ["order-4413"]
        await press(pilot, "enter")
        assert "filter status:i" in text(pilot)
        await press(pilot, "escape")
        assert len(ids(pilot)) == 8


async def test_a_filter_that_makes_no_sense_is_said_and_the_list_stays(demo: Path) -> None:
    async with opened(demo, size=SMALL) as pilot:
        await press(pilot, "slash", *"status:x")
        assert "There is no status 'x'" in text(pilot)
        assert len(ids(pilot)) == 8


async def test_nothing_fits(demo: Path) -> None:
    async with opened(demo) as pilot:
        await press(pilot, "slash", *"zzz", "enter")
        assert "No thread fits the filter. Esc takes it off." in text(pilot)


async def test_sorts(demo: Path) -> None:
    async with opened(demo) as pilot:
        await press(pilot, "s")
        assert ids(pilot)[0] == "order-4412"
        assert "by checkpoints, of 8 read" in text(pilot)
        await press(pilot, "s")
        assert ids(pilot) == sorted(ids(pilot))


async def test_the_preview_shows_the_question_and_no_secret(demo: Path) -> None:
    async with opened(demo) as pilot:
        await press(pilot, "j", "j")
        shown = text(pilot)
        assert "interrupted" in shown
        assert "question:" in shown
        assert "[redacted]" in shown


async def test_in_a_narrow_list_what_it_waits_for_stays(demo: Path) -> None:
    async with opened(demo, size=(44, 20)) as pilot:
        assert "order-4415    → ship" in text(pilot)
        assert "hold: Rel" in text(pilot)


async def test_the_preview_tells_the_size(demo: Path) -> None:
    async with opened(demo) as pilot:
        await press(pilot, "j")
        assert "size" in text(pilot)
        assert " KB" in text(pilot)


async def test_going_back_is_hinted_at_where_there_is_something_to_go_back_from(demo: Path) -> None:
    async with opened(demo) as pilot:
        hints = pilot.app.screen.query_one(Hints)
        assert "Esc" not in hints.text
        await press(pilot, "slash", *"order", "enter")
        assert "Esc back" in hints.text
        await press(pilot, "escape")
        assert "Esc" not in hints.text
        await press(pilot, "enter")
        assert "Esc back" in pilot.app.screen.query_one(Hints).text
