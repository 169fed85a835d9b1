"""Sources that block, vanish or hold odd things: the app stays up and says what is wrong."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from piloting import opened, press, settle, text
from retrograph.engine.model import CheckpointKey, RawCheckpoint
from retrograph.loaders.sqlite import SQLiteLoader
from retrograph.tui.app import RetrographApp
from retrograph.tui.widgets.tree import HistoryTree

THREAD = "order-4412"


class Blocking(SQLiteLoader):
    """Reads the body of a checkpoint only when it is let."""

    gate: threading.Event

    def read(self, key: CheckpointKey) -> RawCheckpoint:
        assert self.gate.wait(60)
        return super().read(key)


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


async def test_keys_answer_while_a_loader_blocks(demo: Path, gate: threading.Event) -> None:
    async with opened(demo, THREAD) as pilot:
        app = pilot.app
        assert isinstance(app, RetrographApp)
        assert app.source is not None
        loader = Blocking(demo)
        loader.gate = gate
        app.source = replace(app.source, loader=loader)
        tree = app.screen.query_one(HistoryTree)
        await pilot.press("ctrl+r")
        await pilot.pause()
        before = tree.cursor
        for key in ("k", "k", "question_mark", "escape", "k"):
            await pilot.press(key)
        assert tree.cursor == before - 3
        assert "step 20" in text(pilot), "the breadcrumb goes with the cursor"
        assert "step 23" in text(pilot), "and the inspector says what it still shows"
        gate.set()
        await settle(pilot)
        assert text(pilot).count("step 20") == 2


async def test_a_store_that_vanishes(demo: Path, tmp_path: Path) -> None:
    store = tmp_path / "gone.db"
    shutil.copyfile(demo, store)
    async with opened(store, THREAD) as pilot:
        store.unlink()
        await press(pilot, "k")
        assert "gone.db" in text(pilot)
        assert "23 assist → END" in text(pilot), "what is there stays"
        await press(pilot, "g", "G", "3", "6")
        assert pilot.app.is_running


async def test_one_checkpoint_that_cannot_be_read(demo: Path, tmp_path: Path) -> None:
    store = tmp_path / "broken.db"
    shutil.copyfile(demo, store)
    with closing(sqlite3.connect(store)) as db:
        ids = db.execute(
            "select checkpoint_id from checkpoints where thread_id = ? and checkpoint_ns = ''"
            " order by checkpoint_id",
            (THREAD,),
        ).fetchall()
        db.execute(
            "update checkpoints set checkpoint = substr(checkpoint, 1, 40) where checkpoint_id = ?",
            ids[-2],
        )
        db.commit()
    async with opened(store, THREAD) as pilot:
        await press(pilot, "k")
        for tab in "123456":
            await press(pilot, tab)
        assert pilot.app.is_running
        await press(pilot, "1", "k")
        assert "messages" in text(pilot)


@pytest.mark.parametrize(
    "thread", ["1", "user-42:conv@home", "線程", "", "x" * 2000, "a'b\"c", "-n", "@", "::"]
)
async def test_odd_thread_ids_are_listed_and_opened(
    demo: Path, tmp_path: Path, thread: str
) -> None:
    store = tmp_path / "odd.db"
    shutil.copyfile(demo, store)
    with closing(sqlite3.connect(store)) as db:
        for table in ("checkpoints", "writes"):
            db.execute(f"update {table} set thread_id = ? where thread_id = ?", (thread, THREAD))
        db.commit()
    async with opened(store) as pilot:
        screen: Any = pilot.app.screen
        place = [info.row.thread_id for info in screen.list.threads].index(thread)
        for _ in range(place):
            pilot.app.simulate_key("j")
        await press(pilot, "enter")
        assert pilot.app.screen.query_one(HistoryTree).row_count == 29


async def test_loops_and_missing_parents(demo: Path, tmp_path: Path) -> None:
    store = tmp_path / "loop.db"
    shutil.copyfile(demo, store)
    with closing(sqlite3.connect(store)) as db:
        ids = [
            row[0]
            for row in db.execute(
                "select checkpoint_id from checkpoints where thread_id = ? and checkpoint_ns = ''"
                " order by checkpoint_id",
                (THREAD,),
            )
        ]
        parent = "update checkpoints set parent_checkpoint_id = ? where checkpoint_id = ?"
        db.execute(parent, (ids[5], ids[0]))
        db.execute(parent, ("gone", ids[10]))
        db.commit()
    async with opened(store, THREAD) as pilot:
        for key in ("g", "G", "left", "left", "right", "o", "O", "c", "c"):
            await press(pilot, key)
        assert "parent not stored" in text(pilot)


async def test_an_empty_store_says_how_to_begin(tmp_path: Path, demo: Path) -> None:
    store = tmp_path / "empty.db"
    shutil.copyfile(demo, store)
    with closing(sqlite3.connect(store)) as db:
        db.execute("delete from checkpoints")
        db.commit()
    async with opened(store) as pilot:
        assert "There are no threads here" in text(pilot)
        await press(pilot, "enter", "y", "s", "j")
        assert pilot.app.is_running
        await asyncio.sleep(0)
