"""Stores from public bug reports, in every tab: the app stays up, and says what is wrong."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import unicodedata
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from piloting import opened, press, text
from piloting.stores import filling, uuid6
from piloting.waiting import until
from retrograph.tui.widgets.tree import HistoryTree

TABS = "123456"


async def every_tab(pilot: Pilot[Any]) -> dict[str, str]:
    """What each tab shows of the selected checkpoint."""
    found = {}
    for tab in TABS:
        await press(pilot, tab)
        found[tab] = text(pilot)
        assert pilot.app.is_running
        assert "Retrograph has a fault" not in said(pilot) + found[tab]
    return found


def said(pilot: Pilot[Any]) -> str:
    return "\n".join(note.message for note in pilot.app._notifications)


async def test_texts_that_no_terminal_should_get(tmp_path: Path) -> None:
    nasty = "nul \0 esc \x1b[2J rtl \u202eabc he \u05d0\u05d1 mark e\u0301\u0301 lone \ud800 end"
    path = tmp_path / "nasty.db"
    with filling(path) as store:
        for n in (1, 2):
            message = {"type": "ai", "content": nasty * n, "id": f"m{n}", "name": nasty}
            values = {"text": nasty * n, nasty: [nasty], "messages": [message]}
            store.checkpoint(
                uuid6(n), uuid6(n - 1) if n > 1 else None, values, step=n, kind="json",
                metadata={nasty: nasty},
            )  # fmt: skip
    async with opened(path, "t", (100, 40)) as pilot:
        shown = "\n".join((await every_tab(pilot)).values())
        bad = {c for c in shown if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs")}
        assert not bad
        assert "end" in shown


async def test_another_process_writes_all_the_time(tmp_path: Path) -> None:
    path = tmp_path / "busy.db"
    with filling(path) as store:
        store.checkpoint(uuid6(1), None, {"n": 1}, step=1)
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma journal_mode = wal")
    stop = threading.Event()
    trouble: list[str] = []
    written = 1

    def write() -> None:
        nonlocal written
        with closing(sqlite3.connect(path, timeout=0)) as db:
            from piloting.stores import Filling

            while not stop.wait(0.01):
                try:
                    with db:
                        Filling(db).checkpoint(
                            uuid6(written + 1), uuid6(written), {"n": written}, step=written + 1
                        )
                    written += 1
                    busy = db.execute("pragma wal_checkpoint(truncate)").fetchone()[0]
                    if busy and stop.wait(0.05):
                        return
                except sqlite3.OperationalError as error:
                    trouble.append(str(error))

    thread = threading.Thread(target=write)
    thread.start()
    try:
        async with opened(path, "t") as pilot:
            tree = pilot.app.screen.query_one(HistoryTree)
            rows = tree.row_count
            for _ in range(3):
                await press(pilot, "g", *TABS, "G", "ctrl+r")
            assert tree.row_count > rows
            assert "locked" not in said(pilot) + text(pilot)
    finally:
        stop.set()
        thread.join()
    assert trouble == []
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("pragma wal_checkpoint(truncate)").fetchone()[0] == 0, "nobody is in it"


async def test_a_checkpoint_of_many_megabytes_among_small_ones(tmp_path: Path) -> None:
    path = tmp_path / "large.db"
    message = {"type": "human", "content": "word " * 200}
    large = {"messages": [{**message, "id": str(k)} for k in range(20_000)], "blob": "x" * 10**7}
    with filling(path) as store:
        for n in range(1, 201):
            values = large if n == 100 else {"n": n}
            store.checkpoint(uuid6(n), uuid6(n - 1) if n > 1 else None, values, step=n)
    async with opened(path, "t") as pilot:
        await press(pilot, "colon", *"100", "enter")
        shown = await every_tab(pilot)
        assert "[20000] human" in shown["1"]
        assert "10 MB" in shown["1"]
        assert "MB" in shown["6"]
        await press(pilot, "1", "tab", "right", "j", "right", "G", "enter")
        assert pilot.app.is_running


@pytest.mark.parametrize(
    "blob",
    [
        pytest.param(b"\x91" * 100_000 + b"\x01", id="nested"),
        pytest.param(b"\xdd\xff\xff\xff\xff\x01", id="claims"),
        pytest.param(b"\0" * 10_000_000, id="nuls"),
        pytest.param(b"", id="empty"),
        pytest.param(b"\xc1", id="never used"),
    ],
)
async def test_blobs_that_cannot_be_read(tmp_path: Path, blob: bytes) -> None:
    path = tmp_path / "bad.db"
    with filling(path) as store:
        store.checkpoint(uuid6(1), None, {"n": 1}, step=1)
        store.checkpoint(uuid6(2), uuid6(1), blob, step=2)
        store.checkpoint(uuid6(3), uuid6(2), {"n": 3}, step=3)
        store.write(uuid6(1), "task", 0, "n", blob)
    async with opened(path, "t") as pilot:
        assert pilot.app.screen.query_one(HistoryTree).row_count == 3
        await press(pilot, "G")
        shown = await every_tab(pilot)
        assert "fb8002 cannot be read: " in shown["2"], "there is nothing to compare with"
        await press(pilot, "k")
        shown = await every_tab(pilot)
        for tab in "123":
            assert "This checkpoint cannot be read: " in shown[tab]
        assert "unreadable" in shown["6"]
        await press(pilot, "k")
        writes = (await every_tab(pilot))["4"]
        assert "unreadable" in writes or "▶ n  " in writes


@pytest.mark.parametrize("how", ["half", "page", "tail"])
async def test_damaged_files(demo: Path, tmp_path: Path, how: str) -> None:
    path = tmp_path / "damaged.db"
    shutil.copyfile(demo, path)
    body = bytearray(path.read_bytes())
    if how == "half":
        body = body[: len(body) // 2]
    elif how == "page":
        middle = len(body) // 2 // 4096 * 4096
        body[middle : middle + 4096] = b"\xa5" * 4096
    else:
        body = body[:-5000]
    path.write_bytes(bytes(body))
    async with opened(path) as pilot:
        if pilot.app.is_running:
            await press(pilot, "j", "enter")
            await every_tab(pilot)
            await press(pilot, "g", "G", "ctrl+r", "ctrl+l")
        else:
            failure: Any = pilot.app.failure  # type: ignore[attr-defined]
            assert "damaged" in str(failure) or "malformed" in str(failure)


async def test_what_is_damaged_is_told_and_stands_in_the_log(demo: Path, tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    body = demo.read_bytes()
    path.write_bytes(body[: len(body) // 2])
    async with opened(path) as pilot:
        await until(lambda: "is damaged: " in said(pilot))
        await press(pilot, "ctrl+l")
        assert text(pilot).count("damaged.db is damaged: ") >= 2
        await press(pilot, "enter")
        assert pilot.app.is_running


async def test_ids_that_are_no_uuids_and_one_id_in_two_namespaces(tmp_path: Path) -> None:
    path = tmp_path / "odd.db"
    with filling(path) as store:
        store.checkpoint("first", None, {"n": 1}, step=-1)
        store.checkpoint("second", "first", {"n": 2}, step=0)
        store.checkpoint("second", "first", {"n": 3}, ns="child:x", step=0)
        store.checkpoint("ünï cödé 線 ", "second", {"n": 4}, step=1)
        store.checkpoint("lost", "nowhere", {"n": 5}, step=2)
    async with opened(path, "t") as pilot:
        tree = pilot.app.screen.query_one(HistoryTree)
        for _ in range(tree.row_count):
            await every_tab(pilot)
            await press(pilot, "k")
        await press(pilot, "colon", *"cond", "enter", "v", "escape")
        assert "parent not stored" in text(pilot)


async def test_a_loop_in_the_chain_of_parents(tmp_path: Path) -> None:
    path = tmp_path / "loop.db"
    with filling(path) as store:
        store.checkpoint(uuid6(1), uuid6(3), {"n": 1}, step=1)
        store.checkpoint(uuid6(2), uuid6(1), {"n": 2}, step=2)
        store.checkpoint(uuid6(3), uuid6(2), {"n": 3}, step=3)
        store.checkpoint(uuid6(4), uuid6(4), {"n": 4}, step=4)
        store.checkpoint(uuid6(5), uuid6(1), {"n": 5}, ns="a|b:c", step=5)
    async with opened(path, "t") as pilot:
        for key in ("G", "g", "j", "left", "left", "left", "right", "o", "O", "c"):
            await press(pilot, key)
            await every_tab(pilot)
