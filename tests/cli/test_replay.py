"""`replay`: the plan, the run, what came of it; for people and as JSON."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.running import Done, Run
from hosting import VERSIONS, python_of
from stories import effects

Replay = Any


@pytest.fixture
def called(run: Run, project: Path) -> Any:
    """`replay` of a story, as it ended."""

    def once(where: str, *words: str, source: str = "store.db", graph: str = "") -> Done:
        name = graph or re.split("[@~:]", where)[0]
        return run("replay", source, where, "--graph", f"agent.py:{name}", *words)

    return once


@pytest.fixture
def replay(called: Any) -> Replay:
    """The same as JSON; it must go well, or as `code` says."""

    def once(where: str, *words: str, code: int = 0, **more: str) -> Any:
        done = called(where, "--json", *words, **more)
        assert done.code == code, done.err
        return done.json

    return once


def nodes(document: dict[str, Any]) -> list[str]:
    return [ran["node"] for ran in document["ran"]]


def test_as_it_went(run: Run, replay: Replay, project: Path) -> None:
    before = {path: path.read_bytes() for path in project.glob("store.db*")}
    done = replay("travel@step:1")
    assert nodes(done) == effects(project) == ["b", "c_main", "d"]
    assert (done["status"], done["next"], done["turned"]) == ("done", [], [])
    assert done["values"]["log"] == ["a", "b", "c_main", "d"]
    assert [ran["step"] for ran in done["ran"]] == [2, 3, 4]
    assert {path: path.read_bytes() for path in project.glob("store.db*")} == before
    tree = run("tree", done["sandbox"]["path"], "travel", "--json").json
    assert (tree["head"], tree["leaves"]) == (done["head"], [done["head"]])
    assert done["from"] in {c["id"] for c in tree["checkpoints"]}
    assert run("sandboxes", "--json").json[0]["id"] == done["sandbox"]["id"]


def test_a_crash_as_users_know_it(run: Run, replay: Replay, project: Path) -> None:
    """Killed inside step3 of four: the plan says that it runs again; what had finished does not."""
    (thread,) = (t for t in run("threads", "store.db", "--json").json if t["thread_id"] == "crash")
    assert (thread["status"], thread["next"]) == ("unfinished", ["step3"])
    plan = replay("crash", "--plan")
    assert plan["due"] == ["step3"]
    assert any("step3 was due" in w and "runs again" in w for w in plan["warnings"])
    assert effects(project) == []
    done = replay("crash")
    assert nodes(done) == effects(project) == ["step3", "step4"]
    assert done["values"]["log"] == ["step1", "step2", "step3", "step4"]


def test_fresh_code_at_every_run(replay: Replay, project: Path) -> None:
    assert replay("travel@step:1")["values"]["log"][-1] == "d"
    agent = project / "agent.py"
    agent.write_text(agent.read_text().replace("step(name))", "step(name + '!'))"))
    assert replay("travel@step:1")["values"]["log"] == ["a", "b!", "c_main!", "d!"]


def test_plan(replay: Replay, project: Path) -> None:
    plan = replay("travel@step:1", "--plan", "--recorded", "b", "--stub", 'd={"log": ["x"]}')
    assert [(n["node"], n["policy"], n["recorded"]) for n in plan["nodes"]] == [
        ("b", "recorded", 1),
        ("c_main", "live", 1),
        ("c_alt", "live", 0),
        ("d", "stub", 1),
    ]
    assert plan["config"] == {"configurable": {"user": "ada"}}
    assert plan["langgraph"]
    assert effects(project) == []
    assert replay("shop@step:0", "--plan")["classes"] == ["agent.Order"]


def test_a_route_that_turned(called: Any, replay: Replay) -> None:
    words = ["--stub", 'b={"path": "alt", "log": ["b"]}']
    done = replay("travel@step:1", *words)
    assert nodes(done) == ["b", "c_alt", "d"]
    assert done["turned"] == [
        {"step": 2, "ns": "", "node": "b", "to": ["c_alt"], "original": ["c_main"]}
    ]
    shown = called("travel@step:1", *words).out
    assert "b → c_alt  stub  the original went c_main" in shown
    assert "1 route turned" in shown


def test_goto(replay: Replay, project: Path) -> None:
    assert replay("travel@step:1", "--goto", "c_alt", "--plan")["due"] == ["c_alt"]
    done = replay("travel@step:1", "--goto", "c_alt")
    assert nodes(done) == effects(project) == ["c_alt", "d"]
    both = replay("beside@step:1", "--goto", "z", "--goto", "pre", "--pause-before", "bad")
    assert sorted(nodes(both)) == ["pre", "z"]
    assert replay("loop", "--goto", "count", code=0)["status"] == "done"


def test_goto_out_of_sends(replay: Replay, project: Path) -> None:
    done = replay("sending@step:1", "--goto", "after")
    assert nodes(done) == effects(project) == ["after"]


def test_line(called: Any, replay: Replay) -> None:
    """Recordings of another line than the newest."""
    other = replay("travel@step:1", "--stub", 'b={"path": "alt", "log": ["other"]}')
    sandbox = other["sandbox"]["path"]
    newer = replay("travel@" + other["from"], source=sandbox, graph="travel")
    assert newer["values"]["log"][1] == "b"
    kept = replay(
        "travel@" + other["from"], "--line", f"travel@{other['head']}", "--recorded", "b",
        source=sandbox, graph="travel",
    )  # fmt: skip
    assert kept["values"]["log"][1] == "other"
    assert nodes(kept) == ["b", "c_alt", "d"]
    # The line of a sandbox, for a run from the source.
    line = ["--line", f"travel@{other['head']}"]
    again = replay("travel@step:1", *line, "--recorded", "b")
    assert (again["values"]["log"][1], again["turned"]) == ("other", [])
    short = replay("travel@step:1", "--line", "travel@step:2", "--plan")
    recorded = [(n["node"], n["recorded"]) for n in short["nodes"]]
    assert recorded == [("b", 1), ("c_main", 1), ("c_alt", 0), ("d", 0)]
    done = called("travel@step:3", *line)
    assert (done.code, done.out) == (2, "")
    assert "is on no line below" in done.err


def test_one_super_step(replay: Replay, project: Path) -> None:
    done = replay("travel@step:1", "--step")
    assert (done["status"], done["next"], nodes(done)) == ("paused", ["c_main"], ["b"])
    there = done["sandbox"]["path"]
    again = replay("travel", "--step", source=there)
    assert again["sandbox"] == done["sandbox"], "the head of a sandbox goes on in it"
    assert (again["next"], nodes(again)) == (["d"], ["c_main"])
    last = replay("travel", source=there)
    assert (last["status"], nodes(last)) == ("done", ["d"])
    assert last["values"]["log"] == ["a", "b", "c_main", "d"]
    assert effects(project) == ["b", "c_main", "d"]
    elsewhere = replay(f"travel@{done['from']}", source=there)
    assert elsewhere["sandbox"] != done["sandbox"]


def test_paused_before(replay: Replay, project: Path) -> None:
    done = replay("travel@step:1", "--pause-before", "d")
    assert (done["status"], done["next"], nodes(done)) == ("paused", ["d"], ["b", "c_main"])


def test_a_checkpoint_of_a_sandbox_is_found(run: Run, replay: Replay) -> None:
    """By its id, through the source that the sandbox is of."""
    done = replay("travel@step:1", "--pause-before", "d")
    there = replay(f"travel@{done['head']}", graph="travel")
    assert there["sandbox"] == done["sandbox"]
    assert nodes(there) == ["d"]


def test_an_error(called: Any, replay: Replay) -> None:
    done = replay("beside", code=1)
    assert done["status"] == "error"
    assert done["next"] == ["bad"]
    (ran,) = done["ran"]
    assert ran["error"]["type"] == "ValueError"
    assert "agent.py" in ran["error"]["traceback"]
    shown = called("beside")
    assert shown.code == 1
    assert "× bad  ValueError: no such order" in shown.out
    assert 'raise ValueError("no such order")' in shown.out
    assert "retrograph replay sandbox:" in shown.out


def test_mended_and_run_again(replay: Replay, project: Path) -> None:
    """In the sandbox of the run that failed; what had finished beside it does not run again."""
    failed = replay("beside@step:0", code=1)
    effects(project)
    (project / "mended").touch()
    done = replay("beside", source=failed["sandbox"]["path"])
    assert done["sandbox"] == failed["sandbox"]
    assert effects(project) == ["bad", "z"]
    assert done["values"]["log"] == ["pre", "mended", "good", "z"]


def test_recordings_are_used_up_across_runs(replay: Replay, project: Path) -> None:
    words = ["--recorded", "count"]
    first = replay("loop@step:0", "--step", *words)
    assert first["values"]["log"] == ["count 1"]
    there = first["sandbox"]["path"]
    second = replay("loop", "--step", *words, source=there)
    assert second["values"]["log"] == ["count 1", "count 2"]
    last = replay("loop", *words, source=there)
    assert last["values"]["log"] == ["count 1", "count 2", "count 3"]
    assert effects(project) == []


def test_the_recursion_limit(replay: Replay, project: Path) -> None:
    agent = project / "agent.py"
    agent.write_text(agent.read_text().replace('s["n"] < 3', 's["n"] < 20'))
    done = replay("loop@step:0", "--recursion-limit", "5", code=1)
    assert (done["status"], done["next"]) == ("error", ["count"])
    assert "Recursion limit of 5" in done["error"]
    ran = len(nodes(done))
    on = replay("loop", "--recursion-limit", "99", source=done["sandbox"]["path"])
    assert (on["status"], ran + len(nodes(on))) == ("done", 20)


def test_a_host_that_dies(replay: Replay, project: Path) -> None:
    (project / "die").touch()
    done = replay("crash", code=1)
    assert (done["status"], done["next"]) == ("died", ["step3"])
    assert "os._exit was called at agent.py" in done["error"]
    (project / "die").unlink()
    on = replay("crash", source=done["sandbox"]["path"])
    assert (on["status"], nodes(on)) == ("done", ["step3", "step4"])


def test_a_question(called: Any, replay: Replay) -> None:
    done = replay("asking@step:0")
    assert done["status"] == "interrupted"
    (asked,) = done["interrupts"]
    assert asked["value"] == {"question": "really?", "n": 2}
    assert asked["id"]
    assert "--answer VALUE" in called("asking@step:0").out


def test_events(called: Any) -> None:
    done = called("travel@step:1", "--jsonl")
    events = [json.loads(line) for line in done.out.splitlines()]
    assert {"task_start", "task_end", "checkpoint", "route"} < {e["event"] for e in events}
    routes = [(e["node"], e["to"], e["original"]) for e in events if e["event"] == "route"]
    assert routes == [("b", ["c_main"], None), ("c_main", ["d"], None), ("d", [], None)]
    end = events[-1]
    assert (end["event"], end["status"]) == ("end", "done")
    assert [e["event"] for e in events].count("end") == 1
    assert all(e["at"].endswith("+00:00") for e in events[:-1])


@pytest.mark.parametrize(
    "call",
    [
        "fork store.db travel@step:2 --set path=alt --run --graph agent.py:travel",
        "resume store.db asking --answer yes --graph agent.py:asking",
    ],
)
def test_events_of_forks_and_answers(run: Run, project: Path, call: str) -> None:
    done = run(*call.split(), "--jsonl")
    assert done.code == 0, done.err
    events = [json.loads(line) for line in done.out.splitlines()]
    assert (events[-1]["event"], events[-1]["status"]) == ("end", "done")
    assert ("fork" in events[-1]) == call.startswith("fork")


def test_side_effects_of_the_configuration(replay: Replay, project: Path) -> None:
    (project / "retrograph.toml").write_text('side_effects = ["b", "c_alt"]\n')
    plan = replay("travel@step:1", "--plan")
    assert {n["node"]: (n["policy"], n["side_effects"]) for n in plan["nodes"]} == {
        "b": ("recorded", True),
        "c_main": ("live", False),
        "c_alt": ("pause", True),
        "d": ("live", False),
    }
    assert nodes(replay("travel@step:1", "--live", "b")) == ["b", "c_main", "d"]
    assert effects(project) == ["b", "c_main", "d"]


def test_repeated(called: Any, replay: Replay) -> None:
    runs = replay("travel@step:1", "--repeat", "2")
    assert [nodes(one) for one in runs] == [["b", "c_main", "d"]] * 2
    assert len({one["sandbox"]["id"] for one in runs}) == 2
    assert "2 × ✓ done  b → c_main → d" in called("travel@step:1", "--repeat", "2").out


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("travel@step:1", ["--stub", 'b={"path": "alt", "log": ["b"]}']),
        ("travel@step:1", ["--goto", "c_alt"]),
        ("sending@step:0", []),
        ("nested@step:0", []),
        ("beside", []),
        ("travel@step:1", ["--pause-before", "d"]),
    ],
)
def test_kept_as_a_test(
    replay: Replay, project: Path, where: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "mended").touch()
    replay(where, *words, "--save-test", "test_kept.py")
    effects(project)
    # Plugins of packages that are here for other reasons take longer than the test.
    call = [sys.executable, "-m", "pytest", "-q", "--disable-plugin-autoload", "test_kept.py"]
    call += ["-p", "no:cacheprovider"]
    done = subprocess.run(call, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert effects(project) in ([], ["ask"]), "only what was not recorded runs"
    if words == []:
        return
    agent = project / "agent.py"
    agent.write_text(agent.read_text().replace("f\"c_{s['path']}\"", '"c_alt"'))
    done = subprocess.run(call, cwd=project, capture_output=True, text=True, check=False)
    fails = "--pause-before" in words
    assert done.returncode == fails, "it fails where a router goes elsewhere"


@pytest.mark.parametrize(
    ("where", "words", "said"),
    [
        ("travel@step:1", ["--recorded", "bb"], "did you mean 'b'"),
        ("travel@step:1", ["--stub", "b"], "NODE=JSON"),
        ("travel@step:1", ["--goto", "nowhere"], "no node 'nowhere'"),
        ("travel@root", ["--goto", "d"], "not taken in yet"),
        ("travel", [], "Nothing is due"),
        ("travel@step:1", ["--save-test", "kept.py"], "test_"),
        ("travel@ffffff", [], "ffffff"),
    ],
)
def test_refused(
    called: Any, run: Run, project: Path, where: str, words: list[str], said: str
) -> None:
    done = called(where, *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1
    assert run("sandboxes", "--json").json == []
    assert effects(project) == []


DEFERRED = """

def deferred_builder():
    g = builder("plan")
    for name in ("left", "right", "last"):
        g.add_node(name, step(name), defer=name == "last")
    for name in ("left", "right"):
        g.add_edge("plan", name)
        g.add_edge(name, "last")
    return g


deferred = deferred_builder().compile()
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_goto_in_every_langgraph(replay: Replay, project: Path, version: str) -> None:
    """Sends, a join that is filling, a deferred node: what was due is not, and the rest stays."""
    python = ["--python", python_of(version)]
    sent = replay("sending@step:1", "--goto", "after", *python)
    assert (nodes(sent), sent["values"]["log"]) == (["after"], ["plan", "after"])
    (project / "mended").touch()
    join = replay("beside@step:1", "--goto", "good", *python)
    assert (nodes(join), join["status"]) == (["good"], "done"), "z waits for bad"
    with (project / "agent.py").open("a") as file:
        file.write(DEFERRED)
    late = replay("travel@step:1", "--goto", "last", *python, graph="deferred")
    assert (nodes(late), late["status"]) == (["last"], "done")
