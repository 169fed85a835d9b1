"""`fork`: what an edit would do, said before it is done; and the sandbox that it is done in."""

from __future__ import annotations

import os
import re
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.running import Run
from loaders.sqlite_files import snapshot
from stories import effects

DRY = "--dry-run"


Fork = Any


@pytest.fixture
def fork(run: Run, project: Path) -> Fork:
    def once(thread: str, where: str, *words: str, graph: str | None = None) -> dict[str, Any]:
        name = f"agent.py:{graph or thread}"
        done = run("fork", "store.db", f"{thread}{where}", *words, "--graph", name, "--json")
        assert done.code == 0, done.err
        found: dict[str, Any] = done.json
        return found

    return once


def refused(run: Run, thread: str, where: str, *words: str) -> str:
    done = run("fork", "store.db", f"{thread}{where}", *words, "--graph", f"agent.py:{thread}")
    assert done.code == 2, done.out
    assert done.out == ""
    assert done.err.count("\n") == 1, done.err
    return done.err


def test_time_travel_as_users_know_it(run: Run, fork: Fork, project: Path) -> None:
    before = snapshot(project)
    seen = fork("travel", "@step:2", "--set", "path=alt", DRY)
    assert (seen["next_before"], seen["next"]) == (["c_main"], ["c_alt"])
    assert seen["route_changed"] is True
    assert seen["as_node"] == ["b"]
    assert (seen["id"], seen["sandbox"]) == (None, None)
    assert run("sandboxes", "--json").json == []

    made = fork("travel", "@step:2", "--set", 'path="alt"')
    assert (made["next"], made["changes"]) == (seen["next"], seen["changes"])
    assert [(c["path"], c["old"], c["new"]) for c in made["changes"]] == [("/path", "main", "alt")]
    tree = run("tree", made["sandbox"]["path"], "travel", "--json").json
    assert [c["source"] for c in tree["checkpoints"]] == [
        *("input", "loop", "loop", "loop"),
        "update",
    ]
    head = tree["checkpoints"][-1]
    assert (head["id"], head["parent_id"], head["next"]) == (made["id"], made["from"], ["c_alt"])
    shown = run("show", made["sandbox"]["path"], "travel", "--json").json
    assert shown["values"] == {"path": "alt", "n": 1, "log": ["a", "b"]}
    assert shown["metadata"]["user"] == "ada"

    assert effects(project) == [], "a node ran"
    assert snapshot(project) == before
    there = run("tree", "store.db", "travel", "--json").json
    assert len(there["checkpoints"]) == 6


def test_for_people(run: Run, project: Path) -> None:
    done = run(
        "fork", "store.db", "travel@step:2", "--set", "path=alt", "--graph", "agent.py:travel", DRY
    )
    assert "c_main → c_alt" in done.out
    assert "preview" in done.out
    assert "b asked again" in done.out
    assert "retrograph replay" not in done.out
    call = ["fork", "store.db", "travel@step:2", "--set", "path=alt", "--graph", "agent.py:travel"]
    (command,) = re.findall(r"run +retrograph (replay sandbox:.*)", run(*call).out)
    assert [r["node"] for r in run(*command.split(), "--json").json["ran"]] == ["c_alt", "d"]


def test_a_fork_of_a_fork_asks_the_same_routers(run: Run, fork: Fork, project: Path) -> None:
    made = fork("travel", "@step:2", "--set", "n=2")
    again = run(
        "fork", made["sandbox"]["path"], "travel", "--set", "path=alt", "--graph",
        "agent.py:travel", "--json",
    ).json  # fmt: skip
    assert again["next"] == ["c_alt"]
    assert again["sandbox"] == made["sandbox"], "the head of a sandbox goes on in it"
    elsewhere = run(
        "fork", made["sandbox"]["path"], f"travel@{made['from']}", "--set", "path=alt", "--graph",
        "agent.py:travel", "--json",
    ).json  # fmt: skip
    assert elsewhere["sandbox"] != made["sandbox"]


def test_a_sandbox_that_cannot_be_written(
    run: Run, fork: Fork, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What goes on from its head goes on in a sandbox of its own."""
    made = fork("travel", "@step:2", "--set", "n=2")
    path = Path(made["sandbox"]["path"])
    before = path.read_bytes()
    can = os.access

    def access(where: str | Path, mode: int, **more: Any) -> bool:
        return (mode != os.W_OK or Path(where) != path) and can(where, mode)

    monkeypatch.setattr(os, "access", access)
    call = ("travel", "--graph", "agent.py:travel", "--json")
    again = run("fork", str(path), *call, "--set", "path=alt").json
    assert (again["next"], again["from"]) == (["c_alt"], made["id"])
    done = run("replay", str(path), *call, "--yes")
    assert done.code == 0, done.err
    assert [task["node"] for task in done.json["ran"]] == ["c_main", "d"]
    assert len({x["sandbox"]["id"] for x in (made, again, done.json)}) == 3
    assert path.read_bytes() == before


def test_values_from_a_file(fork: Fork, project: Path) -> None:
    (project / "values.yaml").write_text("path: alt\nlog: [x]\n")
    seen = fork("travel", "@step:2", "--values", "values.yaml", DRY)
    assert {c["path"].split("/")[1] for c in seen["changes"]} == {"path", "log"}
    assert seen["next"] == ["c_alt"]


# What is refused, in one sentence and before anything is made.


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "pth=alt"], "did you mean 'path'"),
        (["--set", "path={"], "not valid JSON"),
        (["--values", "nothing.yaml"], "nothing.yaml"),
    ],
)
def test_refused(run: Run, project: Path, words: list[str], said: str) -> None:
    before = snapshot(project)
    assert said in refused(run, "travel", "@step:2", *words)
    assert run("sandboxes", "--json").json == []
    assert snapshot(project) == before


# In an editor.


def editor(project: Path, monkeypatch: pytest.MonkeyPatch, *scripts: str) -> None:
    """An editor that does to the text what the scripts say, one after the other."""
    (project / "edits").mkdir()
    for n, script in enumerate(scripts):
        (project / "edits" / f"{n}.py").write_text(script)
    (project / "editor.py").write_text(
        "import sys, pathlib\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "here = pathlib.Path(__file__).parent\n"
        "script = sorted((here / 'edits').iterdir())[0]\n"
        "text = path.read_text()\n"
        "(here / f'seen-{script.stem}.yaml').write_text(text)\n"
        "scope = {'text': text}\n"
        "exec(script.read_text(), scope)\n"
        "script.unlink()\n"
        "path.write_text(scope['text'])\n"
    )
    monkeypatch.setenv("EDITOR", f"{sys.executable} {project / 'editor.py'}")
    monkeypatch.delenv("VISUAL", raising=False)


def in_editor(run: Run) -> Any:
    return run("fork", "store.db", "travel@step:2", "--edit", "--graph", "agent.py:travel", DRY)


def test_edited(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor(project, monkeypatch, "text = text.replace('path: main', 'path: alt')")
    done = in_editor(run)
    assert done.code == 0, done.err
    assert "c_main → c_alt" in done.out


def test_a_mistake_comes_back_with_the_text(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(
        project,
        monkeypatch,
        "text = text.replace('n: 1', 'n: [')",
        "text = text.replace('n: [', 'n: many')",
        "text = text.replace('n: many', 'n: 5')",
    )
    done = in_editor(run)
    assert done.code == 0, done.err
    second, third = ((project / f"seen-{n}.yaml").read_text() for n in (1, 2))
    assert second.splitlines()[0].startswith("# ! What you wrote is not valid YAML")
    assert "n: [" in second
    assert third.splitlines()[0].startswith("# ! The value does not fit at /n")
    assert third.count("# !") == 1


def test_nothing_changed_is_cancelled(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(project, monkeypatch, "")
    assert in_editor(run).code == 130


def test_a_mistake_left_as_it_is_ends_it(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(project, monkeypatch, "text = text.replace('n: 1', 'n: many')", "")
    done = in_editor(run)
    assert done.code == 2
    assert "/n" in done.err


def test_full(fork: Fork, run: Run, project: Path) -> None:
    made = fork("travel", "@step:2", "--set", "path=alt", "--full")
    (project / "store.db").unlink()
    tree = run("tree", made["sandbox"]["path"], "travel", "--json").json
    assert len(tree["checkpoints"]) == 5
    with sqlite3.connect(made["sandbox"]["path"]) as db:
        assert db.execute("SELECT count(*) FROM checkpoints").fetchone() == (5,)


# Run at once.


def test_time_travel_run(run: Run, project: Path) -> None:
    """The run gives a, b, c_alt, d; the original line still gives c_main."""
    before = {path: path.read_bytes() for path in project.glob("store.db*")}
    call = ["fork", "store.db", "travel@step:2", "--set", "path=alt", "--graph", "agent.py:travel"]
    done = run(*call, "--run", "--json").json
    assert (done["fork"]["next_before"], done["fork"]["next"]) == (["c_main"], ["c_alt"])
    assert [ran["node"] for ran in done["ran"]] == effects(project) == ["c_alt", "d"]
    assert done["values"]["log"] == ["a", "b", "c_alt", "d"]
    assert (done["from"], done["sandbox"]) == (done["fork"]["id"], done["fork"]["sandbox"])
    assert done["warnings"] == []
    original = run("show", "store.db", "travel", "--json").json
    assert original["values"]["log"] == ["a", "b", "c_main", "d"]
    assert {path: path.read_bytes() for path in project.glob("store.db*")} == before
    tree = run("tree", done["sandbox"]["path"], "travel", "--json").json
    assert [c["source"] for c in tree["checkpoints"][-3:]] == ["update", "loop", "loop"]

    shown = run(*call, "--run").out
    assert "c_main → c_alt" in shown
    assert "✓ Done · 2 tasks" in shown


def test_a_recorded_node_that_takes_the_edit_back(run: Run, project: Path) -> None:
    done = run(
        "fork", "store.db", "travel@step:1", "--set", 'log=["x"]', "--run", "--recorded", "b",
        "--graph", "agent.py:travel", "--json",
    )  # fmt: skip
    assert any("'b' writes 'log'" in warning for warning in done.json["warnings"])
    assert done.json["values"]["log"] == ["x", "b", "c_main", "d"]


def test_new_input_run(run: Run, project: Path) -> None:
    done = run(
        "fork", "store.db", "chat", "--input",
        '{"messages": [{"role": "user", "content": "well, bye"}]}',
        "--graph", "agent.py:chat", "--run", "--json",
    )  # fmt: skip
    assert [ran["node"] for ran in done.json["ran"]] == ["answer", "polite"]


def test_inside_a_sub_graph_run(run: Run, project: Path) -> None:
    shown = run("tree", "store.db", "nested", "--json").json["checkpoints"]
    inner = next(c for c in shown if c["ns"] and c["next"] == ["x"] and c["step"] == 0)
    done = run(
        "fork", "store.db", f"nested::{inner['ns']}@{inner['id']}", "--set", "n=7",
        "--graph", "agent.py:nested", "--run", "--json",
    ).json  # fmt: skip
    assert [r["node"] for r in done["ran"] if r["ns"]] == ["x", "ask"]
    assert done["interrupts"][0]["value"]["n"] == 7
    assert done["sandbox"] == done["fork"]["sandbox"]
    assert effects(project) == ["x", "ask"]


@pytest.mark.parametrize(
    ("where", "words", "said"),
    [
        ("@step:2", ["--set", "path=alt", "--run", DRY], "--dry-run"),
        ("@step:2", ["--set", "path=alt", "--recorded", "b"], "go with --run"),
        ("", ["--set", "path=alt", "--run"], "nothing to run"),
    ],
)
def test_no_run(run: Run, project: Path, where: str, words: list[str], said: str) -> None:
    assert said in refused(run, "travel", where, *words)
    assert run("sandboxes", "--json").json == []
