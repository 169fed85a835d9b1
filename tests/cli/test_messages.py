"""`--messages`: what models say, for people under their nodes, and as events."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.running import Done, Run
from hosting import VERSIONS, python_of
from hosting.speaking import GRAPHS

WRITE = """
import sys
import agent
from langgraph.checkpoint.sqlite import SqliteSaver

with SqliteSaver.from_conn_string("store.db") as saver:
    for name in ("draft", "beside", "nested", "failing", "hostile", "keys"):
        graph = getattr(agent, name)
        graph.checkpointer = saver
        try:
            graph.invoke({"topic": "t"}, {"configurable": {"thread_id": name}})
        except ValueError:
            pass
"""
MORE = """
odd = "red \\x1b[31m\\x07 alert\\n\\n\\ttabbed\\n" + "word " * 40
hostile = line(hostile=asks(Whole(says=odd)))


def spells(state):
    for part in Spelled(says="").stream("hi"):
        pass
    print("sk-", end="", flush=True)
    time.sleep(0.1)
    print("12345 printed")
    return {"topic": "x"}


class Spelled(Model):
    def _stream(self, messages, stop=None, run_manager=None, **more):
        for piece in ("key: s", "k-1", "2345\\nno", "thing else", " sk-99", "999"):
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))


keys = line(spells=spells)
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("speaking")
    (folder / "agent.py").write_text(GRAPHS + MORE)
    (folder / "pyproject.toml").write_text("[project]\nname = 'speaking'\nversion = '0'\n")
    (folder / "write.py").write_text(WRITE)
    environment = {**os.environ, "LANGSMITH_TRACING": "false"}
    subprocess.run([sys.executable, "write.py"], cwd=folder, env=environment, check=True)
    return folder


@pytest.fixture
def replay(run: Run, written: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(written)

    def once(name: str, *words: str) -> Done:
        where = f"{name}@root"
        return run("replay", "store.db", where, "--graph", f"agent.py:{name}", "--messages", *words)

    return once


def events(done: Done) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [json.loads(line) for line in done.out.splitlines()]
    return found


def said(told: list[dict[str, Any]]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for event in told:
        if event["event"] == "message":
            texts[event["node"]] = texts.get(event["node"], "") + event["text"]
    return texts


@pytest.mark.parametrize("version", VERSIONS)
def test_events(replay: Any, version: str) -> None:
    told = events(replay("nested", "--jsonl", "--python", python_of(version)))
    first = next(event for event in told if event["event"] == "message")
    assert list(first) == ["event", "at", "step", "ns", "node", "id", "text"]
    assert (first["node"], first["text"], first["step"]) == ("write", "from ", 1)
    assert first["ns"].startswith("sub:")
    assert said(told) == {"write": "from below from inside "}
    ran = {(r["node"], r["ns"].split(":")[0]): r["tokens"] for r in told[-1]["ran"]}
    assert ran == {
        ("write", "sub"): 9,
        ("quiet", "sub"): None,
        ("sub", ""): None,
        ("write", "calls"): 9,
        ("calls", ""): None,
    }


def test_only_when_asked(run: Run, written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(written)
    done = run("replay", "store.db", "draft@root", "--graph", "agent.py:draft", "--jsonl")
    assert "message" not in {event["event"] for event in events(done)}
    assert events(done)[-1]["ran"][0]["tokens"] == 9


def test_under_its_node(replay: Any) -> None:
    lines = replay("beside").out.splitlines()
    for node, text in (("a", "alpha beta gamma delta"), ("b", "one two three four")):
        (at,) = [n for n, line in enumerate(lines) if f"● {node} → END" in line]
        assert "11 tokens" in lines[at]
        assert lines[at + 1].strip() == f"“ {text}"


def test_in_sub_graphs(replay: Any) -> None:
    lines = replay("nested").out.splitlines()
    (at,) = [n for n, line in enumerate(lines) if "● sub:write" in line]
    assert lines[at + 1] == " " * 8 + "“ from below"


def test_what_was_said_before_a_failure(replay: Any) -> None:
    done = replay("failing")
    assert done.code == 1
    lines = done.out.splitlines()
    (at,) = [n for n, line in enumerate(lines) if "× fails" in line]
    assert lines[at + 1].strip() == "“ half of"


def test_escaped_line_by_line(replay: Any) -> None:
    lines = replay("hostile").out.splitlines()
    (at,) = [n for n, line in enumerate(lines) if "“" in line]
    assert lines[at : at + 4] == [
        r"      “ red \x1b[31m\x07 alert",
        "",
        "            tabbed",
        "        " + "word " * 39 + "word",
    ]


def test_what_is_hidden_is_not_torn(
    replay: Any, written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither of what a model says nor of what a node prints."""
    monkeypatch.setenv("RETROGRAPH_REDACT", r"/sk-\d+/")
    done = replay("keys", "--jsonl")
    assert "2345" not in done.out
    told = events(done)
    pieces = [event["text"] for event in told if event["event"] == "message"]
    assert pieces == ["key: [redacted]\n", "nothing else [redacted]"]
    printed = [event["text"] for event in told if event["event"] == "output"]
    assert "".join(printed) == "[redacted] printed\n"
    shown = replay("keys")
    assert "2345" not in shown.out
    assert "“ key: [redacted]" in shown.out
    monkeypatch.setenv("RETROGRAPH_REDACT", "content")
    assert "key" not in "".join(said(events(replay("keys", "--jsonl"))).values())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["replay", "store.db", "draft@root", "--json"], "take --jsonl"),
        (["resume", "store.db", "draft", "--json"], "take --jsonl"),
        (["fork", "store.db", "draft@root", "--set", "topic=x"], "--messages.* go with --run"),
    ],
)
def test_refused(
    run: Run, written: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], why: str
) -> None:
    monkeypatch.chdir(written)
    done = run(*words, "--messages")
    assert (done.code, done.out) == (2, "")

    assert re.search(why, done.err)
