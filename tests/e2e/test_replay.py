"""Runs of a graph in a real terminal: confirmed, stepped, paused, killed, answered."""

from __future__ import annotations

import os
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pexpect
import pytest

from stories import effects

PROGRAM = Path(sys.executable).with_name("retrograph")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-B0]|\x1b[=>]")

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not installed here")

GATE = """

def wait(state):
    effect("wait")
    print("\\x1b[2Jwaiting" + " very" * 40 + " long")
    while not (HERE / "open").exists():
        time.sleep(0.01)
    return {"log": ["wait"]}


gate = builder("first", "wait", "last", wait=wait).compile()
"""
"""A node that waits until a file is there."""


SPEAKING = """

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk


class Slow(GenericFakeChatModel):
    def _stream(self, messages, stop=None, run_manager=None, **more):
        for word in ("Dear ", "customer,\\n", "we ", "wait"):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))
        while not (HERE / "open").exists():
            time.sleep(0.01)
        usage = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
        end = AIMessageChunk(content=" no more", usage_metadata=usage)
        yield ChatGenerationChunk(message=end)


def speak(state):
    return {"log": [Slow(messages=iter(())).invoke("hi").content]}


gate = builder("first", "speak", "last", speak=speak).compile()
"""
"""A node whose model does not end before a file is there."""


class Terminal:
    """The program at a terminal of 80 columns, in the stories' project."""

    def __init__(self, project: Path, data: Path, *words: str) -> None:
        others = ("RETROGRAPH_", "NO_COLOR", "LINES", "COLUMNS")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(others)}
        more = {"TERM": "xterm-256color", "TZ": "UTC", "LANG": "C.UTF-8", "XDG_CONFIG_HOME": "/no"}
        more["NO_COLOR"] = "1"
        self.project = project
        self.child = pexpect.spawn(
            str(PROGRAM),
            list(words),
            cwd=project,
            env={**kept, **more, "XDG_DATA_HOME": str(data)},
            dimensions=(40, 80),
            encoding="utf-8",
            timeout=60,
        )

    def sees(self, text: str) -> None:
        self.child.expect(text)

    def answers(self, question: str, key: str) -> None:
        self.child.expect(question)
        self.child.send(key)

    def ends(self) -> str:
        """What was drawn until its end, without codes."""
        self.child.expect(pexpect.EOF)
        self.child.close()
        return ESCAPES.sub("", str(self.child.before)).replace("\r", "")

    @property
    def code(self) -> int | None:
        return self.child.exitstatus


Start = Callable[..., Terminal]


@pytest.fixture
def start(project: Path, tmp_path: Path) -> Iterator[Start]:
    """`start("replay", "travel@step:1", graph="travel")`"""
    running: list[Terminal] = []

    def once(command: str, where: str, *words: str, graph: str) -> Terminal:
        call = (command, "store.db", where, "--graph", f"agent.py:{graph}", *words)
        running.append(Terminal(project, tmp_path / "data", *call))
        return running[-1]

    yield once
    for terminal in running:
        terminal.child.close(force=True)


@pytest.fixture
def gate(project: Path) -> Path:
    """The file that lets the node `wait` go on."""
    with (project / "agent.py").open("a") as file:
        file.write(GATE)
    return project / "open"


def sandboxes(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "data/retrograph/sandboxes").glob("*.db"))


def test_confirmed(start: Start, project: Path) -> None:
    run = start("replay", "travel@step:1", graph="travel")
    run.sees("due now")
    assert effects(project) == []
    run.answers(r"Run it\? \[y/N\] ", "y\n")
    text = run.ends()
    assert run.code == 0
    assert effects(project) == ["b", "c_main", "d"]
    assert "b → c_main" in text
    assert "✓ Done · 3 tasks" in text
    assert "retrograph tree sandbox:" in text


def test_not_confirmed(start: Start, project: Path, tmp_path: Path) -> None:
    run = start("replay", "travel@step:1", graph="travel")
    run.answers(r"Run it\?", "\n")
    run.ends()
    assert run.code == 130
    assert effects(project) == []
    assert sandboxes(tmp_path) == []


def test_ctrl_c_at_the_question(start: Start, project: Path) -> None:
    run = start("replay", "travel@step:1", graph="travel")
    run.sees(r"Run it\?")
    run.child.sendintr()
    assert "Traceback" not in run.ends()
    assert run.code == 130
    assert effects(project) == []


def test_ctrl_c_pauses(start: Start, project: Path, gate: Path, tmp_path: Path) -> None:
    run = start("replay", "travel@step:-1", "--yes", graph="gate")
    run.sees("wait …")
    run.child.sendintr()
    run.sees("Pausing before the next step")
    gate.touch()
    text = run.ends()
    assert run.code == 0
    assert "● Paused before last" in text
    (command,) = re.findall(
        r"go on +(retrograph replay sandbox:\w+ travel --graph agent.py:gate)", text
    )
    assert effects(project) == ["first", "wait"]
    on = Terminal(project, tmp_path / "data", *command.split()[1:], "--yes")
    assert "✓ Done · 1 task" in on.ends()
    assert effects(project) == ["last"]


def test_ctrl_c_twice_kills(start: Start, project: Path, gate: Path, tmp_path: Path) -> None:
    run = start("replay", "travel@step:-1", "--yes", graph="gate")
    run.sees("wait …")
    run.child.sendintr()
    run.sees("Pausing before the next step")
    run.child.sendintr()
    text = run.ends()
    assert run.code == 130
    assert "× Ended by you; wait had not finished" in text
    (sandbox,) = sandboxes(tmp_path)
    with closing(sqlite3.connect(sandbox)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT count(*) FROM checkpoints").fetchone() == (3,)


def test_what_nodes_print_cannot_touch_the_terminal(start: Start, gate: Path) -> None:
    gate.touch()
    run = start("replay", "travel@step:-1", "--yes", graph="gate")
    run.child.expect(pexpect.EOF)
    drawn = str(run.child.before)
    assert "\x1b[2J" not in drawn
    assert "\\x1b[2Jwaiting" in drawn
    lines = ESCAPES.sub("", drawn).replace("\r\n", "\n").split("\n")
    assert all(len(piece) <= 80 for line in lines for piece in line.split("\r"))


def test_what_a_model_says_as_it_says_it(start: Start, project: Path) -> None:
    with (project / "agent.py").open("a") as file:
        file.write(SPEAKING)
    run = start("replay", "travel@step:-1", "--messages", "--yes", graph="gate")
    run.sees("● speak")
    run.sees("“ Dear customer,")
    run.sees("we wait")
    (project / "open").touch()
    said = run.ends()
    assert run.code == 0
    row, first, second = said[said.rindex("● speak") :].splitlines()[:3]
    assert row.startswith("● speak → last")
    assert "7 tokens" in row
    assert [first.strip(), second.strip()] == ["“ Dear customer,", "we wait no more"]
    assert "· 7 tokens" in said


def test_step_by_step(start: Start, project: Path) -> None:
    run = start("replay", "travel@step:1", "--step", graph="travel")
    run.answers(r"Run it\?", "y\n")
    run.answers("Held before b", "\n")
    run.answers("Held before c_main", "x")
    assert effects(project) == ["b"]
    run.child.send("q")
    text = run.ends()
    assert run.code == 0
    assert "Paused before c_main" in text
    assert effects(project) == []


def test_stepping_goes_on(start: Start, project: Path) -> None:
    run = start("replay", "travel@step:1", "--step", graph="travel")
    run.answers(r"Run it\?", "y\n")
    run.answers("Held before b", "g")
    assert "✓ Done · 3 tasks" in run.ends()
    assert effects(project) == ["b", "c_main", "d"]


def test_ctrl_c_between_steps(start: Start, project: Path) -> None:
    run = start("replay", "travel@step:1", "--step", graph="travel")
    run.answers(r"Run it\?", "y\n")
    run.sees("Held before b")
    run.child.sendintr()
    assert "Paused before b" in run.ends()
    assert run.code == 0
    assert effects(project) == []


def test_held_before_a_node(start: Start, project: Path) -> None:
    run = start("replay", "travel@step:1", "--pause-before", "d", graph="travel")
    run.answers(r"Run it\?", "y\n")
    run.answers("Held before d, as asked for", "g")
    assert "✓ Done · 3 tasks" in run.ends()


def test_answered_at_once(start: Start, project: Path) -> None:
    run = start("replay", "asking@step:0", graph="asking")
    run.answers(r"Run it\?", "y\n")
    run.sees("ask asks question")
    run.answers("Answer now", "yes\n")
    text = run.ends()
    assert run.code == 0
    assert "ask → post" in text
    assert "✓ Done · 4 tasks" in text
    assert "--source" not in text
    assert effects(project) == ["pre", "ask", "ask", "post"]


TWO = """

two = builder("pre")
for name in ("left", "right"):
    two.add_node(name, lambda state, name=name: {"log": [interrupt(name)]})
    two.add_edge("pre", name)
two = two.compile()
"""
"""Nodes that ask side by side."""


def test_several_answered_at_once(start: Start, project: Path) -> None:
    """One after the other; what is left open can be answered later."""
    with (project / "agent.py").open("a") as file:
        file.write(TWO)
    run = start("replay", "travel@step:-1", graph="two")
    run.answers(r"Run it\?", "y\n")
    run.sees("left asks")
    run.answers("Answer now", "\n")
    run.sees("right asks")
    run.answers("Answer now", "R\n")
    run.sees("left asks")
    run.answers("Answer now", "L\n")
    assert "✓ Done" in run.ends()


def test_answered_later(start: Start) -> None:
    run = start("replay", "asking@step:0", graph="asking")
    run.answers(r"Run it\?", "y\n")
    run.answers("Answer now", "\n")
    assert re.search(r"answer +retrograph resume sandbox:\w+ asking", run.ends())


def test_resume_asks_for_the_answer(start: Start, project: Path) -> None:
    run = start("resume", "asking", graph="asking")
    run.sees("ask asks")
    run.answers("Answer now", "yes\n")
    run.answers(r"Run it\?", "y\n")
    assert "✓ Done" in run.ends()
    assert effects(project) == ["ask", "post"]


def test_a_fork_run_at_once(start: Start, project: Path) -> None:
    run = start("fork", "travel@step:2", "--set", "path=alt", "--run", graph="travel")
    run.sees("c_main → .*c_alt")
    assert effects(project) == []
    run.answers(r"Run it\?", "y\n")
    assert "c_alt → d" in run.ends()
    assert effects(project) == ["c_alt", "d"]


def test_in_the_background(project: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PS1": "$ ", "XDG_DATA_HOME": str(tmp_path), "NO_COLOR": "1"}
    child = pexpect.spawn("bash", ["--norc"], cwd=project, env=environment, encoding="utf-8")
    call = "replay store.db travel@step:1 --yes --graph agent.py:travel"
    child.sendline(f"set -m; '{PROGRAM}' {call} & wait; echo over")
    child.expect("Done · 3 tasks", timeout=60)
    child.close(force=True)


def test_the_terminal_is_left_as_it_was(project: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PS1": "$ ", "XDG_DATA_HOME": str(tmp_path)}
    child = pexpect.spawn("bash", ["--norc"], cwd=project, env=environment, encoding="utf-8")
    child.sendline(
        f"A=$(stty -g); '{PROGRAM}' replay store.db travel@step:1 --step --graph agent.py:travel; "
        'test "$A" = "$(stty -g)" && echo sa""me'
    )
    child.expect(r"Run it\?", timeout=60)
    child.send("y\n")
    child.expect("Held before", timeout=60)
    child.send("q")
    child.expect("same", timeout=60)
    child.close(force=True)
