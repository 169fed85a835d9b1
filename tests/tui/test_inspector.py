"""The inspector's tabs on the demo's main thread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from piloting import SMALL, opened, press, text
from retrograph.tui.screens.reader import ReaderScreen
from retrograph.tui.screens.thread import ThreadScreen

THREAD = "order-4412"


def screen(pilot: Pilot[Any]) -> ThreadScreen:
    found = pilot.app.screen
    assert isinstance(found, ThreadScreen)
    return found


def right(pilot: Pilot[Any]) -> list[str]:
    """The lines of the inspector, without its border."""
    region = screen(pilot).inspector.region
    lines = text(pilot).splitlines()[region.y + 1 : region.bottom - 1]
    return [line[region.x + 2 : region.right - 2].rstrip() for line in lines]


async def at_step(pilot: Pilot[Any], step: int, *keys: str) -> None:
    await press(pilot, "g", "colon", *str(step), "enter", *keys)


async def test_state_tells_what_is_new_and_what_changed(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 10)
        rows = right(pilot)
        assert any(row.startswith("+  ") and "total" in row and "1195.1" in row for row in rows)
        await at_step(pilot, 11, "n", "n")
        assert any("path" in row and 'was "review"' in row for row in right(pilot))


async def test_state_opens_and_what_is_open_stays_open(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 10, "tab", "j", "j", "right")
        assert any("customer" in row for row in right(pilot))
        await press(pilot, "tab", "k")
        assert any("customer" in row for row in right(pilot))
        await press(pilot, "tab", "left")
        assert not any("customer" in row for row in right(pilot))


async def test_state_expands_by_level(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 10, "tab")
        rows = len([row for row in right(pilot) if row])
        await press(pilot, "plus")
        one = len([row for row in right(pilot) if row])
        assert one > rows
        await press(pilot, "minus")
        assert len([row for row in right(pilot) if row]) == rows


async def test_long_text_opens_whole_and_comes_back(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 10, "tab", "right", "j", "right", "j", "enter")
        if not isinstance(pilot.app.screen, ReaderScreen):
            await press(pilot, "j", "enter")
        assert isinstance(pilot.app.screen, ReaderScreen)
        await press(pilot, "escape")
        assert screen(pilot).inspector.has_focus_within


async def test_diff_against_the_parent(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 9, "2")
        assert right(pilot)[:3] == [
            "  … 3 unchanged",
            "+ in_stock  {3} espresso machine, coffee grinder, set of six cups",
            "+ risk  0.5",
        ]
        assert "since the parent" in text(pilot)


async def test_diff_against_the_mark_and_side_by_side(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 8, "m", "full_stop", "d")
        assert "since the mark" in text(pilot)
        assert any(row.startswith("- wish") for row in right(pilot))
        await press(pilot, "tab", "s")
        assert any('"order"' in row and '"question"' in row for row in right(pilot))
        await press(pilot, "a")
        assert "since the parent" in text(pilot)


async def test_diff_of_a_root_says_that_there_is_nothing_before(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await press(pilot, "g", "2")
        assert "This is a root" in text(pilot)


async def test_folds_of_a_diff_open(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 9, "2", "tab", "enter")
        assert any(row.startswith("  messages") for row in right(pilot))
        await press(pilot, "c", "c")
        assert any(row.startswith("+ risk") for row in right(pilot))


async def test_messages_with_calls_beside_their_results(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 8, "3")
        rows = right(pilot)
        call = next(k for k, row in enumerate(rows) if "look_up_order(order_id=" in row)
        assert "order-4412 of Ada Lindqvist" in rows[call + 1]
        assert any("new" in row and row.startswith("ai") for row in rows)
        assert any("more characters" in row for row in rows)
        await press(pilot, "tab", "c")
        assert not any("more characters" in row for row in right(pilot))


async def test_writes_by_task(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 9, "4")
        rows = right(pilot)
        assert "price · finished" in rows[0]
        assert any("went to" in row and "hold" in row for row in rows)
        assert any("total" in row and "1195.1" in row for row in rows)
        assert any("next checkpoint after" in row for row in rows)


async def test_questions_and_answers_in_writes(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 10, "4")
        assert any("question" in row for row in right(pilot))
        assert any("answered" in row and "true" in row for row in right(pilot))


async def test_graph_shows_the_ways_and_this_step_s(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 8, "5")
        rows = "\n".join(right(pilot))
        assert "→ fraud, stock  1×  led here" in rows
        assert "● fraud" in rows
        assert "split" not in rows, "nodes of the sub-graph are not the root's"


async def test_info_with_metadata_redacted(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await press(pilot, "6")
        rows = "\n".join(right(pilot))
        assert "checkpoint" in rows
        assert '"[redacted]"' in rows
        assert "growth" in rows


@pytest.mark.parametrize("tab", ["1", "2", "3", "4", "5", "6"])
async def test_each_tab_at_each_kind_of_checkpoint(demo: Path, tab: str) -> None:
    async with opened(demo, THREAD, SMALL) as pilot:
        await press(pilot, tab, "escape", "g")
        for _ in range(28):
            pilot.app.simulate_key("j")
            await press(pilot)
        assert not pilot.app._notifications, "nothing went wrong on the way"


async def test_copy_menu_of_a_value(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 10, "tab", "G", "y")
        shown = text(pilot)
        assert "/path" in shown
        assert ".path" in shown
        assert "retrograph show" in shown
        await press(pilot, "v")
        assert pilot.app.clipboard == "review"
        await press(pilot, "y", "q")
        assert pilot.app.clipboard == ".path"


async def test_place_in_the_breadcrumb(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 10, "tab", "j", "j", "right", "j")
        assert "order-4412 › main › step 10" in text(pilot)
        assert "› /order/id" in text(pilot)


async def test_history_of_a_value_and_a_jump_into_it(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await press(pilot, "tab", "G", "k", "b")
        shown = text(pilot)
        assert "history of /path" in shown
        assert '"express"' in shown
        assert '"review"' in shown
        assert "Set 2 times on this line." in shown
        await press(pilot, "j", "enter")
        assert "step 10" in text(pilot)


async def test_diff_against_any_checkpoint(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 10, "2", "tab", "v")
        assert "compare with" in text(pilot)
        assert "step:3, the end of an id" in text(pilot)
        await press(pilot, *"step:3")
        assert "step 3 · tools → assist · 85d4f2" in text(pilot)
        await press(pilot, "enter")
        assert "step 10 · a5b48a since step 3 85d4f2" in text(pilot)
        assert any(row.startswith("+ total") for row in right(pilot))
        await press(pilot, "tab", "k")
        assert "step 9 · ef56a7 since step 3 85d4f2" in text(pilot), "it stays while one walks"
        await press(pilot, "tab", "a")
        assert "since the parent 9038d5" in text(pilot)
        await press(pilot, "a")
        assert "since step 3 85d4f2" in text(pilot)


async def test_diff_against_so_many_parents_up_moves_with_the_cursor(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 10, "2", "tab", "v", *"~2", "enter")
        assert "since step 8 9038d5" in text(pilot)
        await press(pilot, "tab", "k")
        assert "since step 7 18aad1" in text(pilot)


async def test_choosing_completes_and_refuses(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await at_step(pilot, 10, "2", "tab", "v", *"st", "right", "enter")
        assert "since step 9" in text(pilot), "the nearest is offered first"
        await press(pilot, "v", *"step:77")
        assert "no such checkpoint" in text(pilot)
        await press(pilot, "enter")
        assert "There is no checkpoint 'step:77' in this thread." in text(pilot)
        await press(pilot, "v", *"root", "escape")
        assert "since step 9" in text(pilot), "left, it stays as it was"
        await press(pilot, "v", *"root", "enter")
        assert "since step -1 f924f3" in text(pilot)
        await press(pilot, "s")
        assert any("+ total" in row for row in right(pilot))


async def test_where_one_pane_is_seen_choosing_leaves_it_in_sight(demo: Path) -> None:
    async with opened(demo, THREAD, SMALL) as pilot:
        await at_step(pilot, 10, "2", "v")
        assert "+ total" in text(pilot)
        await press(pilot, *"step:3", "enter", "j")
        assert "since step 3 85d4f2" in text(pilot)
        assert screen(pilot).inspector.has_focus_within


async def test_the_log_has_the_command_of_each_thing_looked_at(demo: Path) -> None:
    async with opened(demo, THREAD, (150, 40)) as pilot:
        await at_step(pilot, 10, "2", "tab", "v", *"step:3", "enter", "6")
        await press(pilot, "ctrl+l")
        shown = text(pilot)
        assert "--sizes" in shown
        assert "compared" in shown
        entries = pilot.app.journal.entries  # type: ignore[attr-defined]
        diffs = [entry.command for entry in entries if " diff " in entry.command]
        assert len(diffs) == 2, "against the parent, then against step 3"
        assert diffs[1].split()[-2].endswith("85d4f2")
        assert diffs[1].split()[-1].endswith("a5b48a")
