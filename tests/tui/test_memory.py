"""What the app remembers from one time to the next."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from piloting import opened, press, settle
from retrograph.tui.app import RetrographApp
from retrograph.tui.memory import Memory, OfSource, load, save
from retrograph.tui.widgets.threadlist import ThreadList
from retrograph.tui.widgets.tree import HistoryTree


def test_written_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "app.json"
    memory = Memory("light", 0.4).with_source("a.db", thread="t")
    memory = memory.with_marks("a.db", "t", (("", "one"), ("sub:1", "two")))
    save(path, memory)
    assert load(path) == memory
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["app.json"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "3",
        "{",
        '{"sources": 3}',
        '{"sources": {"a": {"marks": {"t": [[1]]}}}}',
        "[" * 5000,
    ],
)
def test_a_broken_file_counts_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "app.json"
    path.write_text(text)
    assert load(path) == Memory()


def test_the_oldest_sources_are_forgotten() -> None:
    memory = Memory()
    for number in range(150):
        memory = memory.with_source(f"{number}.db", thread="t")
    assert len(memory.sources) == 100
    assert memory.of("149.db") == OfSource("t")
    assert memory.of("0.db") == OfSource()


async def test_theme_split_thread_and_marks_come_back(demo: Path, tmp_path: Path) -> None:
    path = tmp_path / "app.json"
    async with opened(demo, "order-4412", memory=path) as pilot:
        app = pilot.app
        assert isinstance(app, RetrographApp)
        await press(pilot, "T", "greater_than_sign", "k", "m")
        width = app.screen.query_one(HistoryTree).outer_size.width
    app.put_down()
    async with opened(demo, memory=path) as pilot:
        again = pilot.app
        assert isinstance(again, RetrographApp)
        assert again.theme == "light"
        assert again.remembered().thread == "order-4412"
        threads = again.screen.query_one(ThreadList)
        assert threads.selected is not None
        assert threads.selected.row.thread_id == "order-4412"
        await press(pilot, "enter")
        await settle(pilot)
        tree = again.screen.query_one(HistoryTree)
        assert tree.outer_size.width == width
        assert len(tree.marks) == 1
