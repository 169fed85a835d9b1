"""`show --sizes` and `threads --sizes`: what takes the room, and when that is worth a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.running import Run
from made import Made, make


@pytest.fixture
def store(tmp_path: Path) -> Path:
    states = [Made({"log": ["x" * 100_000] * n, "n": n}) for n in range(13)]
    make(tmp_path / "s.db", states)
    make(tmp_path / "s.db", [Made({"c": "small"})], "small")
    return tmp_path / "s.db"


def test_by_channel_and_step(run: Run, store: Path) -> None:
    document = run("show", store, "t", "--sizes", "--json").json
    assert document["step"] == 11
    assert "values" not in document, "nothing is decoded"
    sizes = document["sizes"]
    assert [(c["channel"], c["size"]) for c in sizes["channels"]] == [("log", 1_200_061), ("n", 1)]
    assert 100_000 < sizes["channels"][0]["growth"] < 100_010
    assert len(sizes["channels"][0]["along"]) == 9
    assert sizes["line"]["checkpoints"] == 13
    assert sizes["line"]["steps"][0]["more"] > 100_000
    only = run("show", store, "t", "--sizes", "--channel", "n", "--json").json["sizes"]
    assert [c["channel"] for c in only["channels"]] == ["n"]
    assert run("show", store, "t", "--sizes", "--channel", "nope").code == 2


def test_a_megabyte_is_worth_a_warning(run: Run, store: Path) -> None:
    done = run("show", store, "t", "--sizes")
    assert "log" in done.out
    assert "+100 KB" in done.out
    assert "This checkpoint takes 1.2 MB; 'log' grows by 100 KB a checkpoint." in done.err
    assert run("show", store, "t~4", "--sizes").err == ""
    done = run("threads", store, "--sizes")
    assert done.err == "", "its checkpoints are smaller on the average"
    large = store.parent / "large.db"
    make(large, [Made({"log": "x" * 2_000_000})] * 2, "big one")
    done = run("threads", large, "--sizes")
    assert "1 thread stores more than 1.0 MB a checkpoint, 'big one' 2.0 MB" in done.err
    assert run("threads", large).err == ""


def test_hostile_names(run: Run, tmp_path: Path) -> None:
    make(tmp_path / "s.db", [Made({"c\x1b[2J\n": 1, "d": 2})], "t\x1b")
    done = run("show", tmp_path / "s.db", "--thread", "t\x1b", "--sizes")
    assert done.code == 0
    assert "\x1b" not in done.out
    assert r"c\x1b[2J\n" in done.out
