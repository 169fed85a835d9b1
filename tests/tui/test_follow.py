"""Following a thread that another process writes."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO

import pytest

from piloting import opened, press, settle, text
from piloting.waiting import PATIENCE, until
from retrograph.loaders.sqlite.loader import SQLiteLoader
from retrograph.tui.screens.threads import ThreadsScreen
from retrograph.tui.widgets.threadlist import ThreadList
from retrograph.tui.widgets.tree import HistoryTree


class Writer:
    """A process that writes a run when it is told to."""

    def __init__(self, store: Path, thread: str) -> None:
        script = Path(__file__).parents[1] / "piloting" / "writer.py"
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", str(script), str(store), thread],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, said: str) -> None:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        _say(stdin, said)
        assert stdout.readline().strip() == said

    def close(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(PATIENCE)
        if self.process.stdout is not None:
            self.process.stdout.close()


def _say(stdin: IO[str], said: str) -> None:
    stdin.write(f"{said}\n")
    stdin.flush()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    found = Writer(tmp_path / "live.db", "live")
    found.run("one")
    yield found
    found.close()


async def test_at_the_head_one_goes_on_with_it(writer: Writer, tmp_path: Path) -> None:
    async with opened(tmp_path / "live.db", "live") as pilot:
        tree = pilot.app.screen.query_one(HistoryTree)
        rows = tree.row_count
        await asyncio.to_thread(writer.run, "two")
        await until(lambda: tree.row_count == 2 * rows)
        await settle(pilot)
        assert tree.cursor == tree.row_count - 1
        assert "heard two" in text(pilot)


async def test_elsewhere_the_cursor_stays(writer: Writer, tmp_path: Path) -> None:
    async with opened(tmp_path / "live.db", "live") as pilot:
        tree = pilot.app.screen.query_one(HistoryTree)
        rows = tree.row_count
        await press(pilot, "k", "m")
        await asyncio.to_thread(writer.run, "two")
        await until(lambda: tree.row_count == 2 * rows)
        await settle(pilot)
        assert tree.cursor == rows - 2
        assert tree.marks == [rows - 2]
        shown = [tree.row(row) for row in range(tree.row_count)]
        assert all(row is not None and row.label is not None for row in shown)


async def test_only_what_is_new_is_read(
    writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path / "live.db", "live") as pilot:
        tree = pilot.app.screen.query_one(HistoryTree)
        rows = tree.row_count
        monkeypatch.setattr(SQLiteLoader, "rows", None)  # the whole index
        for runs in (2, 3):
            await asyncio.to_thread(writer.run, f"run {runs}")
            await until(lambda wanted=runs * rows: tree.row_count == wanted)
        await settle(pilot)
        assert tree.cursor == tree.row_count - 1
        shown = [tree.row(row) for row in range(tree.row_count)]
        assert all(row is not None and row.label is not None for row in shown)


async def test_a_thread_that_was_pruned_is_read_anew(writer: Writer, tmp_path: Path) -> None:
    async with opened(tmp_path / "live.db", "live") as pilot:
        tree = pilot.app.screen.query_one(HistoryTree)
        rows = tree.row_count
        await asyncio.to_thread(writer.run, "two")
        await until(lambda: tree.row_count == 2 * rows)
        with closing(sqlite3.connect(tmp_path / "live.db")) as db:
            oldest = "SELECT min(checkpoint_id) FROM checkpoints WHERE thread_id = 'live'"
            db.execute(f"DELETE FROM checkpoints WHERE checkpoint_id = ({oldest})")
            db.commit()
        await until(lambda: tree.row_count == 2 * rows - 1)
        await settle(pilot)


async def test_new_threads_come_to_the_list(writer: Writer, tmp_path: Path) -> None:
    other = Writer(tmp_path / "live.db", "other")
    try:
        async with opened(tmp_path / "live.db") as pilot:
            threads = pilot.app.screen.query_one(ThreadList)
            assert [info.row.thread_id for info in threads.threads] == ["live"]
            await asyncio.to_thread(other.run, "hello")
            await until(lambda: threads.row_count == 2)
            await settle(pilot)
            assert [info.row.thread_id for info in threads.threads] == ["other", "live"]
            selected = threads.selected
            assert selected is not None
            assert selected.row.thread_id == "live", "the cursor stays with its thread"
    finally:
        other.close()


async def test_a_list_that_nobody_sees_is_read_when_it_is_seen(
    writer: Writer, tmp_path: Path
) -> None:
    other = Writer(tmp_path / "live.db", "other")
    try:
        async with opened(tmp_path / "live.db") as pilot:
            below = pilot.app.screen
            assert isinstance(below, ThreadsScreen)
            await press(pilot, "enter")
            await asyncio.to_thread(other.run, "hello")
            await until(lambda: below.missed_change)
            await settle(pilot)
            assert below.list.row_count == 1
            await press(pilot, "escape")
            await until(lambda: below.list.row_count == 2)
            assert not below.missed_change
    finally:
        other.close()
