"""Hosts killed at odd moments, and runs that are told to stop while a program reads them."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stories import effects

PROGRAM = Path(sys.executable).with_name("retrograph")
CHILDREN = "/proc/{0}/task/{0}/children"
pytestmark = [
    pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not installed here"),
    pytest.mark.skipif(
        not Path(CHILDREN.format(os.getpid())).exists(), reason="/proc tells no children here"
    ),
]

STEPS = 30
GRAPH = f"""

def tick(state):
    effect(str(state["n"]))
    time.sleep(0.1 if (HERE / "slow").exists() else 0.02)
    return {{"n": state["n"] + 1, "log": [str(state["n"])]}}


ticking = builder("tick", tick=tick)
ticking.add_conditional_edges("tick", lambda s: "tick" if s["n"] < {STEPS} else END, ["tick", END])
ticking = ticking.compile()
"""


def begin(project: Path, *words: str) -> subprocess.Popen[str]:
    with (project / "agent.py").open("a") as file:
        file.write(GRAPH)
    call = [PROGRAM, "replay", "store.db", "asking@root", "--graph", "agent.py:ticking"]
    environment = {**os.environ, "XDG_DATA_HOME": str(project / "data")}
    return subprocess.Popen(
        [*call, "--recursion-limit", "99", *words],
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def goes_on(project: Path, sandbox: str) -> Any:
    """What became of it, once it has gone on in its sandbox."""
    call = [PROGRAM, "replay", sandbox, "asking", "--graph", "agent.py:ticking", "--json"]
    environment = {**os.environ, "XDG_DATA_HOME": str(project / "data")}
    done = subprocess.run(
        [*call, "--recursion-limit", "99"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def wait_for_a_node(project: Path, run: subprocess.Popen[str]) -> None:
    """Until the first one has begun."""
    while not (project / "effects.txt").exists():
        assert run.poll() is None
        time.sleep(0.01)


def host_of(pid: int) -> int:
    """The process that runs the graph."""
    (child,) = Path(CHILDREN.format(pid)).read_text().split()
    return int(child)


@pytest.mark.parametrize("seed", range(3))
def test_a_host_that_is_killed(project: Path, seed: int) -> None:
    moment = random.Random(seed).randrange(1, 3 * STEPS)
    run = begin(project, "--jsonl")
    assert run.stdout is not None
    events = []
    for line in run.stdout:
        events.append(json.loads(line))
        if len(events) == moment:
            os.kill(host_of(run.pid), signal.SIGKILL)
    assert run.wait() == 1
    assert run.stderr is not None
    run.stdout.close()
    run.stderr.close()
    end = events[-1]
    assert (end["event"], end["status"]) == ("end", "died")
    assert "SIGKILL" in end["error"]
    with closing(sqlite3.connect(end["sandbox"]["path"])) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    finished = end["values"].get("n", 2)
    assert effects(project)[: finished - 2] == [str(n) for n in range(2, finished)]

    if finished == STEPS:  # it was all but over
        return
    on = goes_on(project, end["sandbox"]["path"])
    assert on["status"] == "done"
    assert on["values"]["log"] == [str(n) for n in range(2, STEPS)]
    # A task whose output is on disk has finished, also where its step is not.
    left = finished if end["next"] else finished + 1
    assert effects(project) == [str(n) for n in range(left, STEPS)], "what had finished stays"


def test_a_program_that_is_ended(project: Path) -> None:
    (project / "slow").touch()
    run = begin(project, "--json")
    wait_for_a_node(project, run)
    host = host_of(run.pid)
    run.terminate()
    out, _ = run.communicate()
    assert (run.returncode, json.loads(out)["status"]) == (130, "cancelled")
    assert not Path(f"/proc/{host}").exists()


def test_ctrl_c_ends_repeated_runs(project: Path) -> None:
    (project / "slow").touch()
    run = begin(project, "--json", "--repeat", "3")
    wait_for_a_node(project, run)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate()
    assert [one["status"] for one in json.loads(out)] == ["paused"]


@pytest.mark.parametrize("how", ["--json", "--jsonl"])
def test_ctrl_c_while_a_program_reads(project: Path, how: str) -> None:
    (project / "slow").touch()
    run = begin(project, how)
    wait_for_a_node(project, run)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate()
    end = json.loads(out.splitlines()[-1])
    assert (run.returncode, end["status"], end["next"]) == (0, "paused", ["tick"])
    assert "Pausing before the next step" in err
    (project / "slow").unlink()
    assert goes_on(project, end["sandbox"]["path"])["status"] == "done"
    assert effects(project) == [str(n) for n in range(2, STEPS)]
