"""What goes on, painted below what stays: never higher than the terminal."""

from __future__ import annotations

import pytest

from retrograph.cli.draw.live import LiveLines
from retrograph.cli.paint import plain, width
from retrograph.engine.replay.timeline import Going


def going(node: str, *said: str, ns: str = "") -> Going:
    return Going(1, ns, node, "live", 0.0, f"t-{node}", said)


LONG = " ".join(f"word{n}" for n in range(200))


def test_the_end_of_what_is_said_stands_below_its_node() -> None:
    tasks = [going("a", "before", LONG), going("b"), going("c", "inside", ns="sub:1")]
    lines = [plain(line) for line in LiveLines(False, 40).going(tasks, 2.0, False, 24)]
    assert [line.split()[0] for line in lines].count("●") == 3
    at = lines.index(next(line for line in lines if "● b" in line))
    assert lines[at - 1].endswith("word199")
    assert at == 9, "eight lines of it"
    assert lines[-2] == "        “ inside"


@pytest.mark.parametrize("rows", [4, 6, 9, 12, 24, 50])
@pytest.mark.parametrize("columns", [12, 28, 80])
def test_no_higher_and_no_wider_than_the_terminal(rows: int, columns: int) -> None:
    tasks = [going(name, LONG) for name in "abc"] + [going("日本語", "長い" * 80, ns="s:1|t:2")]
    lines = list(LiveLines(True, columns).going(tasks, 2.0, False, rows))
    assert len(lines) < max(rows, len(tasks) + 2)
    assert all(width(line) < max(columns, 23) for line in lines[:-1])
