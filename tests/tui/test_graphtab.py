"""The Graph tab: the drawing of a thread's graph, and the way to the selected checkpoint in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from piloting import opened, press, text
from retrograph.tui.screens.thread import ThreadScreen
from retrograph.tui.widgets.graph import GraphTab

THREAD = "order-4412"


def tab(pilot: Pilot[Any]) -> GraphTab:
    screen = pilot.app.screen
    assert isinstance(screen, ThreadScreen)
    found = screen.inspector.tab
    assert isinstance(found, GraphTab)
    return found


def drawn(pilot: Pilot[Any]) -> str:
    return "\n".join("".join(span.text for span in line) for line in tab(pilot).lines)


async def test_the_way_here_and_what_is_due_stand_out(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await press(pilot, "g", "o", "5")
        shown = drawn(pilot)
        assert "● hold     ship" in shown, "due, and not on this line"
        assert "┏━━━━┹───╮" in shown, "to hold by the way here, to ship on another line"
        assert "✓ fraud   ✓ stock   ✓ tools" in shown


async def test_another_line_of_the_same_fork_took_the_other_way(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await press(pilot, "G", "5")
        assert "hold   ✓ ship" in drawn(pilot)
        await press(pilot, "colon", *"12", "enter")
        assert "✓ hold     ship" in drawn(pilot), "the shorter line went to hold"


async def test_the_cursor_goes_from_node_to_node_and_on_to_the_list(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await press(pilot, "g", "o", "5", "tab")
        seen = []
        for _ in range(10):
            seen.append(tab(pilot).place.partition(" ")[0])
            await press(pilot, "j")
        assert seen == [
            "START", "receive", "assist", "fraud", "price", "hold", "notify", "", "", ""
        ]  # fmt: skip
        await press(pilot, "g", "G", "k")
        assert "ship" in "".join(span.text for span in tab(pilot).lines[tab(pilot).cursor])


async def test_where_it_is_too_narrow_it_is_listed(demo: Path) -> None:
    async with opened(demo, THREAD, (34, 24)) as pilot:
        await press(pilot, "5")
        assert "The drawing takes 33 columns" in text(pilot)
        assert "receive → assist" in drawn(pilot)
        await pilot.resize_terminal(60, 24)
        await press(pilot)
        assert "✓ receive" in text(pilot)


async def test_in_characters_that_every_terminal_has(demo: Path) -> None:
    async with opened(demo, THREAD, ascii=True) as pilot:
        await press(pilot, "5")
        assert drawn(pilot).isascii()
        assert "v receive" in drawn(pilot)


async def test_the_graph_of_a_subgraph_is_its_own(demo: Path) -> None:
    async with opened(demo, THREAD) as pilot:
        await press(pilot, "g", "colon", *"12", "enter", "n", "k", "space", "j", "5")
        assert "split" in drawn(pilot)
        assert "receive" not in drawn(pilot)
