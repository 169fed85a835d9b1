"""A database server that goes away while its threads are looked at, and comes back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from textual.pilot import Pilot

from piloting import opened, press, settle, text
from piloting.waiting import until
from retrograph.tui.app import RetrographApp
from retrograph.tui.screens.thread import ThreadScreen
from retrograph.tui.widgets.tree import HistoryTree
from servers.postgres import Zoo
from servers.proxy import Door

THREAD = "fork_update"


@pytest.fixture
def door(postgres_zoo: Zoo) -> Iterator[Door]:
    found = Door(postgres_zoo.database.server.port)
    yield found
    found.close()


def uri(zoo: Zoo, door: Door) -> str:
    server = zoo.database.server
    return f"postgresql://{server.user}@127.0.0.1:{door.port}/{zoo.database.name}"


def told(pilot: Pilot[Any]) -> str:
    """What has been said; it fades from the screen, and stays in the log."""
    app = pilot.app
    assert isinstance(app, RetrographApp)
    return "\n".join(entry.what for entry in app.journal.entries)


async def test_a_connection_that_breaks_is_opened_again_and_that_is_said(
    postgres_zoo: Zoo, door: Door
) -> None:
    async with opened(uri(postgres_zoo, door), THREAD) as pilot:
        before = [line[:60] for line in text(pilot).split("\n")[:6]]
        door.drop()
        await press(pilot, "k")
        await until(lambda: "was lost and has been opened again" in told(pilot))
        await settle(pilot)
        after = [line[:60] for line in text(pilot).split("\n")[:6]]
        assert after == before, "the tree is as it was"
        assert told(pilot).count("opened again") == 1


async def test_a_server_that_goes_away_and_comes_back(postgres_zoo: Zoo, door: Door) -> None:
    async with opened(uri(postgres_zoo, door), THREAD) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, ThreadScreen)
        rows = screen.query_one(HistoryTree).row_count
        door.shut()
        await until(lambda: "no answer" in text(pilot).split("\n")[0])
        await press(pilot, "k")
        assert "nothing listens there" in told(pilot)
        await press(pilot, "g", "2", "3", "4", "5", "6", "question_mark", "escape")
        assert pilot.app.is_running
        assert screen.query_one(HistoryTree).row_count == rows, "what is there stays"
        door.open()
        await until(lambda: "no answer" not in text(pilot).split("\n")[0])
        await settle(pilot)
        await press(pilot, "1", "G")
        await press(pilot, "ctrl+l")
        assert "nothing listens there" in text(pilot), "the log keeps it"


async def test_the_list_of_threads_stays_too(postgres_zoo: Zoo, door: Door) -> None:
    async with opened(uri(postgres_zoo, door)) as pilot:
        door.shut()
        await until(lambda: "no answer" in text(pilot).split("\n")[0])
        await press(pilot, "j", "j", "s", "ctrl+r")
        assert pilot.app.is_running
        door.open()
        await until(lambda: "no answer" not in text(pilot).split("\n")[0])
        await press(pilot, "ctrl+r", "slash", *THREAD, "enter")
        assert f" {THREAD} " in text(pilot)
