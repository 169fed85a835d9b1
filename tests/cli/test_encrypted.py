"""A thread with encrypted checkpoints between plain ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.running import Run
from made import Made, make
from retrograph.engine.serde import Serde

KEY = "sixteen byte key"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    thread = [
        Made({}, source="input"),
        Made({"n": 1}, {"a": {"n": 1}}),
        Made({"n": 2}, {"b": {"n": 2}}, kind="msgpack+aes"),
        Made({"n": 3}, {"c": {"n": 3}}),
        Made({"n": 4}, {"d": {"n": 4}}, kind="msgpack+aes"),
    ]
    make(tmp_path / "s.db", thread, serde=Serde(KEY.encode()))
    return tmp_path / "s.db"


def test_the_tree_stands_without_the_key(
    run: Run, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LANGGRAPH_AES_KEY", raising=False)
    closed = run("tree", store, "t", "--json").json["checkpoints"]
    assert [c["step"] for c in closed] == [-1, 0, 1, 2, 3]
    assert [c.get("unreadable") for c in closed] == [
        *(None, None, "encrypted (aes)", None, "encrypted (aes)")
    ]
    assert [c["ran"] for c in closed][1:4] == [["a"], ["b"], ["c"]]
    assert run("tree", store, "t").out.count("encrypted (aes)") == 2
    assert "encrypted (aes)" in run("show", store, "t").out
    assert run("show", store, "t~1", "--json").json["values"] == {"n": 3}
    assert [t["thread_id"] for t in run("threads", store, "--json").json] == ["t"]


def test_the_key_opens_it(run: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGGRAPH_AES_KEY", KEY)
    assert run("show", store, "t", "--json").json["values"] == {"n": 4}
    assert "encrypted" not in run("tree", store, "t").out
    monkeypatch.setenv("LANGGRAPH_AES_KEY", "another 16 bytes")
    assert "wrong key" in run("show", store, "t").out
    assert run("show", store, "t~1", "--json").json["values"] == {"n": 3}
    monkeypatch.setenv("LANGGRAPH_AES_KEY", "short")
    done = run("show", store, "t")
    assert (done.code, done.out) == (2, "")
    assert "16, 24 or 32 bytes" in done.err
