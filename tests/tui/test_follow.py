"""Following a thread that another process writes."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO

import pytest
from textual.message import Message

from piloting import opened, press, settle, text
from piloting.waiting import PATIENCE, until
from retrograph.engine.errors import SourceError
from retrograph.engine.model import ThreadRow
from retrograph.loaders.sqlite.loader import SQLiteLoader
from retrograph.tui.reading.threads import ThreadPages
from retrograph.tui.screens.thread import ThreadScreen
from retrograph.tui.screens.threads import ThreadsScreen
from retrograph.tui.widgets.threadlist import ThreadList
from retrograph.tui.widgets.tree import HistoryTree
from retrograph.tui.work import Job


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


async def test_a_change_while_the_list_is_being_read_is_not_lost(
    writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Writer(tmp_path / "live.db", "other")
    read, go_on = threading.Event(), threading.Event()
    more = ThreadPages.more

    def slow(pages: ThreadPages, job: Job, count: int) -> Message:
        found = more(pages, job, count)
        read.set()
        assert go_on.wait(PATIENCE)
        return found

    try:
        async with opened(tmp_path / "live.db") as pilot:
            screen = pilot.app.screen
            assert isinstance(screen, ThreadsScreen)
            monkeypatch.setattr(ThreadPages, "more", slow)
            screen.source_changed()
            await asyncio.to_thread(read.wait, PATIENCE)
            await asyncio.to_thread(other.run, "hello")
            await until(lambda: screen.missed_change)
            assert screen.list.row_count == 1
            go_on.set()
            await until(lambda: screen.list.row_count == 2)
    finally:
        go_on.set()
        other.close()


async def test_a_change_that_could_not_be_read_is_read_later(
    writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    thread = SQLiteLoader.thread

    def busy_at_first(loader: SQLiteLoader, thread_id: str) -> ThreadRow | None:
        asked.append(thread_id)
        if len(asked) < 3:
            raise SourceError("It is being written.")
        return thread(loader, thread_id)

    async with opened(tmp_path / "live.db", "live") as pilot:
        screen = pilot.app.screen
        tree = screen.query_one(HistoryTree)
        rows = tree.row_count
        assert isinstance(screen, ThreadScreen)
        screen._pause = 0.05
        monkeypatch.setattr(SQLiteLoader, "thread", busy_at_first)
        await asyncio.to_thread(writer.run, "two")
        await until(lambda: tree.row_count == 2 * rows)
        await settle(pilot)
        assert len(asked) >= 3
        said = [notification.message for notification in pilot.app._notifications]
        assert said == ["It is being written."], "it is said once"


async def test_a_job_is_under_way_from_its_start_until_its_end_is_told(demo: Path) -> None:
    async with opened(demo) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, ThreadsScreen)
        told = []
        screen.read("other", lambda job: told.append(screen.reading("other")))
        assert screen.reading("other"), "its worker has not begun"
        await until(lambda: not screen.reading("other"))
        assert told == [True]
        screen.read("other", lambda job: job.wait(PATIENCE))  # type: ignore[arg-type,return-value]
        assert screen.stop("other")
        assert not screen.reading("other")
        assert not screen.stop("other")
