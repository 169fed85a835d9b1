"""The tree of the demo's main thread, walked by key."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from piloting import SMALL, opened, press, settle, text
from retrograph.tui.widgets.tree import HistoryTree

THREAD = "order-4412"


def tree(pilot: Pilot[Any]) -> HistoryTree:
    return pilot.app.screen.query_one(HistoryTree)


def words(pilot: Pilot[Any]) -> str:
    """What the selected row says."""
    row = tree(pilot).row(tree(pilot).cursor)
    assert row is not None
    return f"{row.step if row.step is not None else '-'} {row.text}"


async def test_begins_at_the_head(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        assert words(pilot) == "23 assist → END"
        assert "head" in text(pilot)
        assert "read-only" in text(pilot)
        assert "33 checkpoints · 3 lines" in text(pilot)


async def test_what_is_typed_faster_than_the_prompt_opens_is_for_the_prompt(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await press(pilot, "g")
        for key in ("slash", *"ship"):
            pilot.app.simulate_key(key)
        await settle(pilot)
        assert pilot.app.screen.query_one(Input).value == "ship"
        await press(pilot, "escape")
        for key in ("colon", *"13", "enter"):
            pilot.app.simulate_key(key)
        await settle(pilot)
        assert words(pilot) == "13 notify → END"
        assert not pilot.app.screen.query(Input)


@pytest.mark.parametrize("pause", [0, 0.002, 0.004])
@pytest.mark.parametrize(
    "keys",
    [
        "slash s h i p enter n",
        "slash s h i p enter N N k",
        "slash s h i p escape j j",
        "colon 1 1 enter k m",
    ],
)
async def test_what_is_typed_right_behind_a_prompt_is_for_what_had_the_focus(
    demo: Path, keys: str, pause: float
) -> None:
    async with opened(demo, THREAD) as pilot:
        await press(pilot, "g")
        for key in keys.split():
            await press(pilot, key)
        slowly = words(pilot), tree(pilot).searched, tree(pilot).marks
    async with opened(demo, THREAD) as pilot:
        await press(pilot, "g")
        for key in keys.split():
            pilot.app.simulate_key(key)
            await asyncio.sleep(pause)
        await settle(pilot)
        assert not pilot.app.screen.query(Input)
        assert (words(pilot), tree(pilot).searched, tree(pilot).marks) == slowly


@pytest.mark.parametrize(
    ("keys", "ends_at"),
    [
        ("k", "22 receive → assist"),
        ("g", "-1 input"),
        ("g j", "0 START → receive"),
        ("g G", "23 assist → END"),
        ("left left", "21 START → receive"),
        ("g right", "0 START → receive"),
        ("g o", "10 price → hold | ship"),
        ("O", "10 price → hold | ship"),
        ("g o right", "11 edit path"),
        ("g o right left_square_bracket", "11 copy"),
        ("g o right left_square_bracket left_square_bracket", "11 hold → notify"),
        ("g o right left_square_bracket right_square_bracket", "11 edit path"),
        ("g i", "10 price → hold | ship"),
        ("g i i", "11 copy"),
        ("I", "11 copy"),
        ("g full_stop", "23 assist → END"),
        ("colon 7 enter", "7 receive → assist"),
        ("g colon 1 1 enter", "11 hold → notify"),
        ("g colon 1 1 enter n", "11 copy"),
        ("g slash s h i p enter", "10 price → hold | ship"),
        ("g slash s h i p enter n", "- ship · 5 checkpoints"),
        ("g slash s h i p enter N", "12 ship → notify"),
        ("k k k slash s h i p escape", "20 input"),
        ("k m k k apostrophe", "22 receive → assist"),
    ],
)
async def test_moves(demo: Path, keys: str, ends_at: str) -> None:
    async with opened(demo, THREAD) as pilot:
        await press(pilot, *keys.split())
        assert words(pilot) == ends_at


async def test_sub_graphs_open_and_close(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        rows = tree(pilot).row_count
        await press(pilot, "g", "slash", *"ship", "enter", "n")
        assert words(pilot) == "- ship · 5 checkpoints"
        await press(pilot, "space")
        assert tree(pilot).row_count == rows + 5
        await press(pilot, "right")
        assert words(pilot) == "-1 input"
        await press(pilot, "left")
        assert words(pilot) == "- ship · 5 checkpoints"
        await press(pilot, "left")
        assert tree(pilot).row_count == rows
        await press(pilot, "left")
        assert words(pilot) == "11 edit path"


async def test_long_runs_fold_and_unfold(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        rows = tree(pilot).row_count
        await press(pilot, "c")
        folded = tree(pilot).row_count
        assert folded < rows
        assert "steps" in text(pilot)
        assert words(pilot) == "23 assist → END"
        await press(pilot, "c")
        assert tree(pilot).row_count == rows


async def test_every_row_in_sight_is_read(demo: Path) -> None:
    async with opened(demo, THREAD, SMALL) as pilot:
        for key in ("g", "pagedown", "pagedown", "pageup"):
            await press(pilot, key)
            sight = [tree(pilot).row(row) for row in tree(pilot).in_sight]
            assert all(row is not None and (row.label or row.kind == "group") for row in sight)


async def test_a_held_key_loads_one_checkpoint(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        screen = pilot.app.screen
        before = screen.__dict__["_tickets"]["checkpoint"]
        for _ in range(20):
            pilot.app.simulate_key("k")
        await settle(pilot)
        assert words(pilot) == "7 receive → assist"
        assert screen.__dict__["_tickets"]["checkpoint"] == before + 1


async def test_one_pane_at_a_time_where_it_is_narrow(demo: Path) -> None:
    async with opened(demo, THREAD, SMALL) as pilot:
        assert "history" in text(pilot)
        assert "State" not in text(pilot)
        await press(pilot, "enter")
        assert "State" in text(pilot)
        assert "assist → END" not in text(pilot)
        await press(pilot, "escape")
        assert "assist → END" in text(pilot)


async def test_eighteen_rows_of_content_at_80_by_24(demo: Path) -> None:
    async with opened(demo, THREAD, SMALL) as pilot:
        assert tree(pilot).size.height >= 18


async def test_zoom_and_splitter(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        width = tree(pilot).outer_size.width
        await press(pilot, "greater_than_sign")
        assert tree(pilot).outer_size.width == width + 4
        await press(pilot, "z")
        assert tree(pilot).outer_size.width > 130
        await press(pilot, "tab")
        assert "State" in text(pilot)
        await press(pilot, "z")
        assert tree(pilot).outer_size.width == width + 4


async def test_ascii(demo: Path) -> None:
    async with opened(demo, THREAD, ascii=True) as pilot:
        inside = [line[1:-1] for line in text(pilot).splitlines()]
        assert "* 23 assist -> END" in text(pilot)
        rows = [line for line in inside if "->" in line]
        assert rows
        assert all(line.replace("│", "").isascii() for line in rows)


async def test_an_unknown_thread_ends_the_app_with_a_sentence(demo: Path) -> None:
    async with opened(demo, "nope") as pilot:
        assert str(pilot.app.failure) == "There is no thread 'nope' in the source."  # type: ignore[attr-defined]
        assert pilot.app.return_code == 2
