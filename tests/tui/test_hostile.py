"""Data that wants to reach the terminal: on every screen and tab it is drawn escaped."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from textual.pilot import Pilot

from piloting import opened, press, text

NASTY = (
    "[red]m[/] nul\x00 esc\x1b[2J\x1b]0;owned\x07 c1\x9b2J del\x7f back\x08 cr\r lf\n tab\t "
    "bidi\u202eabc\u202c\u2066 zero\u200b mark \u0301 tag\U000e0041"
)
FIRST, SECOND = (f"1f1ebf22-64d4-6{n:03x}-8001-a4fccffb8{n:03x}" for n in (1, 2))


def _message(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "content": NASTY, "id": NASTY + kind, "name": NASTY, **more}


def _values(n: int) -> dict[str, Any]:
    call = {"name": NASTY, "args": {NASTY: NASTY}, "id": "c1" + NASTY}
    return {
        NASTY: NASTY,
        "text": NASTY * 40 + str(n),
        "map": {NASTY: [NASTY, n], "n": n},
        "messages": [
            _message("human"),
            _message("ai", tool_calls=[call]),
            _message("tool", tool_call_id=call["id"], status="error"),
            _message("ai" if n == 1 else "system"),
        ],
    }


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two checkpoints, as langgraph 1.2 lays them out, whose every text is nasty."""
    path = tmp_path / "nasty.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            """create table checkpoints(thread_id, checkpoint_ns, checkpoint_id,
                 parent_checkpoint_id, type, checkpoint blob, metadata blob,
                 primary key (thread_id, checkpoint_ns, checkpoint_id));
               create table writes(thread_id, checkpoint_ns, checkpoint_id, task_id, task_path,
                 idx integer, channel, type, value blob,
                 primary key (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));"""
        )
        thread = f"t {NASTY}".replace("\0", "")
        for n, (id_, parent) in enumerate(((FIRST, None), (SECOND, FIRST)), 1):
            checkpoint = {
                "v": 4,
                "ts": "2026-01-01T00:00:00+00:00",
                "id": id_,
                "channel_values": {**_values(n), f"branch:to:node{NASTY}": None},
                "channel_versions": dict.fromkeys(
                    [*_values(n), f"branch:to:node{NASTY}"], f"{n:032}.0.1"
                ),
                "versions_seen": {},
                "updated_channels": [NASTY],
            }
            metadata = {"source": "loop", "step": n, "parents": {}, NASTY: NASTY}
            db.execute(
                "insert into checkpoints values (?,?,?,?,?,?,?)",
                (
                    thread,
                    "",
                    id_,
                    parent,
                    "msgpack",
                    ormsgpack.packb(checkpoint),
                    json.dumps(metadata).encode(),
                ),
            )
            writes: list[tuple[str, int, str, Any]] = [
                ("a", 0, NASTY, NASTY),
                ("a", 1, "text", NASTY),
                ("b", -3, "__interrupt__", [{"value": NASTY, "id": NASTY}]),
                ("c", -1, "__error__", NASTY),
            ]
            for task, idx, channel, value in writes:
                row = (thread, "", id_, task, f"~__pregel_pull, node{NASTY}", idx, channel)
                db.execute(
                    "insert into writes values (?,?,?,?,?,?,?,?,?)",
                    (*row, "msgpack", ormsgpack.packb(value)),
                )
        db.commit()
    return path


def drawn_safely(pilot: Pilot[Any]) -> None:
    shown = text(pilot)
    bad = {
        character
        for line in shown.split("\n")
        for character in line
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")
    }
    lines = [ascii(line) for line in shown.split("\n") if bad & set(line)]
    assert not bad, f"drawn as they are: {sorted(map(ascii, bad))} in {lines[:3]}"


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_nothing_reaches_the_terminal(store: Path, size: tuple[int, int]) -> None:
    async with opened(store, size=size) as pilot:
        drawn_safely(pilot)
        assert "[red]m[/] nul" in text(pilot)
        await press(pilot, "enter")
        drawn_safely(pilot)
        for tab in "123456":
            await press(pilot, tab)
            drawn_safely(pilot)
        await press(pilot, "1", "plus", "plus")
        drawn_safely(pilot)
        assert "[red]m[/]" in text(pilot)
        await press(pilot, "y")
        drawn_safely(pilot)
        await press(pilot, "escape", "3", "c", "m")
        drawn_safely(pilot)
        await press(pilot, "r")
        drawn_safely(pilot)
        await press(pilot, "m")
        drawn_safely(pilot)
        await press(pilot, "escape", "2", "s", "c")
        drawn_safely(pilot)
        await press(pilot, "v", *"~1")
        drawn_safely(pilot)
        await press(pilot, "enter", "5", "j", "j")
        drawn_safely(pilot)
        await press(pilot, "1", "b")
        drawn_safely(pilot)
        await press(pilot, "escape")
        await press(pilot, "question_mark")
        drawn_safely(pilot)


async def test_a_search_for_what_is_there_escaped(store: Path) -> None:
    async with opened(store, size=(120, 30)) as pilot:
        await press(pilot, "enter", "slash", *"red", "enter")
        drawn_safely(pilot)
        await press(pilot, "ctrl+l")
        drawn_safely(pilot)
