"""Texts as Markdown, in the conversation and in the reading view."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piloting import SMALL, opened, press, text
from retrograph.tui.reading.markdown import LONGEST, markdown
from retrograph.tui.spans import width

ANSWER = """# The order

It is **late**, and `ship` comes next; see [the plan](https://example.com/plan).

1. pack
2. send

```
send --now
```

| who | what |
|-----|------|
| ann | pays |
"""


def drawn(source: str, wide: int = 60, ascii: bool = False) -> list[str]:
    lines = markdown(source, wide, ascii)
    return ["".join(span.text for span in line).rstrip() for line in lines]


def test_each_kind_of_block() -> None:
    assert drawn(ANSWER) == [
        "The order",
        "",
        "It is late, and ship comes next; see the plan",
        "(https://example.com/plan).",
        "",
        "1. pack",
        "2. send",
        "",
        "│ send --now",
        "",
        "who  what",
        "─────────",
        "ann  pays",
    ]


def test_nested_lists_and_quotes() -> None:
    source = "- one\n  - two\n\n    three\n> said\n> again"
    assert drawn(source) == ["• one", "  • two", "", "    three", "", "│ said again"]
    assert drawn(source, ascii=True) == ["- one", "  - two", "", "    three", "", "| said again"]


def test_what_is_no_text_is_named() -> None:
    assert drawn("![a cat](http://x/c.png) <script>x</script>") == [
        "[a cat] (http://x/c.png) <script>x</script>"
    ]


def test_nothing_in_it_reaches_the_terminal() -> None:
    source = "a\x1b[2J `\x07` [x](http://y/\x1b)\n\n    \x9b2J\n\n| \x1b |\n|--|\n| \x08 |"
    assert all(line.isprintable() for line in drawn(source))


def test_a_very_long_text_is_plain_in_its_end() -> None:
    lines = drawn("word " * (LONGEST // 5) + "**end**")
    assert "The rest, 7 characters, is plain:" in lines
    assert lines[-1] == "**end**"


@given(st.text("ab *_`#[]()!~\\<&線\n", max_size=80), st.sampled_from([20, 40]))
def test_every_line_fits(source: str, wide: int) -> None:
    assert all(width(line) <= wide for line in markdown(source, wide))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """One checkpoint whose conversation has an answer in Markdown."""
    path = tmp_path / "said.db"
    checkpoint = {
        "v": 4,
        "ts": "2026-01-01T00:00:00+00:00",
        "id": "1f1ebf22-64d4-6001-8001-a4fccffb8001",
        "channel_values": {
            "messages": [
                {"type": "human", "content": "**How** is it?", "id": "1"},
                {"type": "ai", "content": ANSWER, "id": "2"},
            ]
        },
        "channel_versions": {"messages": f"{1:032}.0.1"},
        "versions_seen": {},
        "updated_channels": ["messages"],
    }
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            """create table checkpoints(thread_id, checkpoint_ns, checkpoint_id,
                 parent_checkpoint_id, type, checkpoint blob, metadata blob,
                 primary key (thread_id, checkpoint_ns, checkpoint_id));
               create table writes(thread_id, checkpoint_ns, checkpoint_id, task_id,
                 idx integer, channel, type, value blob,
                 primary key (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));"""
        )
        db.execute(
            "insert into checkpoints values ('t', '', ?, null, 'msgpack', ?, ?)",
            (checkpoint["id"], ormsgpack.packb(checkpoint), b'{"source": "loop", "step": 1}'),
        )
        db.commit()
    return path


async def test_the_conversation_as_markdown_and_back(store: Path) -> None:
    async with opened(store, "t", SMALL) as pilot:
        await press(pilot, "3")
        assert "**How** is it?" in text(pilot)
        await press(pilot, "m")
        assert "**How**" not in text(pilot)
        assert "How is it?" in text(pilot)
        assert "more lines" in text(pilot)
        await press(pilot, "c")
        assert "│ send --now" in text(pilot)
        await press(pilot, "m")
        assert "**How** is it?" in text(pilot)


async def test_a_message_is_read_as_it_was_shown(store: Path) -> None:
    async with opened(store, "t", SMALL) as pilot:
        await press(pilot, "3", "G", "r")
        assert "# The order" in text(pilot)
        await press(pilot, "m")
        assert "# The order" not in text(pilot)
        assert "1. pack" in text(pilot)
        await press(pilot, "m", "escape", "m", "r")
        assert "# The order" not in text(pilot)
