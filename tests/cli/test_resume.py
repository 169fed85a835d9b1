"""`resume`: questions answered, open ones and such as were answered before."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.running import Done, Run
from hosting import VERSIONS, python_of
from stories import effects


@pytest.fixture
def resume(run: Run, project: Path) -> Any:
    def once(where: str, *words: str, source: str = "store.db", code: int = 0) -> Any:
        thread = where.split("@")[0]
        graph = {"answered": "asking"}.get(thread, thread)
        done = run("resume", source, where, "--graph", f"agent.py:{graph}", "--json", *words)
        assert done.code == code, done.err
        return done if code else done.json

    return once


def nodes(document: dict[str, Any]) -> list[str]:
    return [ran["node"] for ran in document["ran"]]


def test_an_open_question(resume: Any, project: Path) -> None:
    before = {path: path.read_bytes() for path in project.glob("store.db*")}
    done = resume("asking", "--answer", "yes")
    assert (done["status"], nodes(done)) == ("done", ["ask", "post"])
    assert done["values"]["log"] == ["pre", "answer yes", "post"]
    assert effects(project) == ["ask", "post"]
    assert {path: path.read_bytes() for path in project.glob("store.db*")} == before


@pytest.mark.parametrize(
    ("given", "got"),
    [('"3"', "3"), ("a=b", "a=b"), ("two words", "two words"), ("{ID}=go", "go")],
)
def test_what_an_answer_is(run: Run, resume: Any, given: str, got: str) -> None:
    """JSON if it parses, else text; `ID=` counts where that question is open."""
    (asked,) = run("show", "store.db", "asking", "--json").json["interrupts"]
    done = resume("asking", "--answer", given.replace("{ID}", asked["id"]))
    assert done["values"]["log"][1] == f"answer {got}"


def test_inside_a_sub_graph(resume: Any, project: Path) -> None:
    done = resume("nested", "--answer", "yes")
    assert done["status"] == "done"
    assert effects(project) == ["ask", "y", "post"], "x had run"


def test_a_question_that_was_answered_before(run: Run, resume: Any, project: Path) -> None:
    """It is asked again, and gets this answer; the thread's own answer stays."""
    asked = next(
        c["id"]
        for c in run("tree", "store.db", "answered", "--json").json["checkpoints"]
        if c["interrupts"]
    )
    done = resume(f"answered@{asked}", "--answer", "no")
    assert done["status"] == "done"
    assert done["values"]["log"] == ["pre", "answer no", "post"]
    assert done["from"] == asked
    assert run("show", "store.db", "answered", "--json").json["values"]["log"][1] == "answer yes"


def test_with_nodes_recorded(run: Run, resume: Any, project: Path) -> None:
    """Also after the question has been asked again, by a run of its own."""
    asked = next(
        c["id"]
        for c in run("tree", "store.db", "answered", "--json").json["checkpoints"]
        if c["interrupts"]
    )
    done = resume(f"answered@{asked}", "--answer", "no", "--recorded", "post")
    assert done["values"]["log"] == ["pre", "answer no", "post"]
    assert effects(project) == ["ask", "ask"]
    assert [(r["node"], r["policy"]) for r in done["ran"]][-1] == ("post", "recorded")


def test_in_the_sandbox_that_asks(run: Run, resume: Any, project: Path) -> None:
    first = run("replay", "store.db", "asking@step:0", "--graph", "agent.py:asking", "--json").json
    done = resume("asking", "--answer", "yes", source=first["sandbox"]["path"])
    assert done["sandbox"] == first["sandbox"]
    assert done["values"]["log"] == ["pre", "answer yes", "post"]


@pytest.mark.parametrize(
    ("where", "words", "said"),
    [
        ("asking", [], "What is the answer? Give --answer."),
        ("asking", ["--answer", "0" * 32 + "=yes"], "No question 00000000000000000000000000000000"),
        ("asking", ["--answer", "a", "--answer", "b"], "One question is open"),
        ("travel", ["--answer", "yes"], "No question is open here"),
    ],
)
def test_refused(run: Run, resume: Any, where: str, words: list[str], said: str) -> None:
    done: Done = resume(where, *words, code=2)
    assert done.out == ""
    assert said in done.err
    assert done.err.count("\n") == 1
    assert run("sandboxes", "--json").json == []


SEVERAL = """
from langgraph.errors import GraphInterrupt


def asker(*questions):
    def node(state):
        effect(questions[0])
        return {"log": [" ".join(str(interrupt(q)) for q in questions)]}
    return node


def tools(state):
    asked = []
    for name in ("circle", "square", "triangle"):
        try:
            interrupt(name)
        except GraphInterrupt as raised:
            asked += raised.args[0]
    raise GraphInterrupt(asked)


several = builder("pre")
several.add_node("left", asker("l1", "l2"))
several.add_node("right", asker("r1"))
several.add_node("end", step("end"))
for name in ("left", "right"):
    several.add_edge("pre", name)
several.add_edge(["left", "right"], "end")
several = several.compile()
shared = builder("pre", "tools", tools=tools).compile()
"""
"""Nodes side by side that ask, one of them twice; and one that asks as several tools do."""


@pytest.fixture
def several(run: Run, project: Path) -> Any:
    """`several(graph, version)`: the questions by value, and how to answer them in the sandbox."""
    with (project / "agent.py").open("a") as file:
        file.write(SEVERAL)

    def once(graph: str, python: str = sys.executable) -> tuple[dict[str, str], Any]:
        call = ["--graph", f"agent.py:{graph}", "--python", python, "--json"]
        first = run("replay", "store.db", "asking@step:-1", *call)
        assert first.code == 0, first.err
        where = first.json["sandbox"]["path"]
        effects(project)

        def answer(*given: str, at: str = "asking", source: str = "") -> Done:
            said = [word for one in given for word in ("--answer", one)]
            return run("resume", source or where, at, *call, *said)

        return {q["value"]: q["id"] for q in first.json["interrupts"]}, answer

    return once


def asked(done: Done) -> list[str]:
    assert done.code == 0, done.err
    return [q["value"] for q in done.json["interrupts"]]


@pytest.mark.parametrize("version", VERSIONS)
def test_several_by_id(several: Any, project: Path, version: str) -> None:
    """In any order; a node that asks once more asks then; finished ones do not run again."""
    ids, answer = several("several", python_of(version))
    assert list(ids) == ["l1", "r1"]
    done = answer(f"{ids['r1']}=R", f"{ids['l1']}=[1]")
    assert asked(done) == ["l2"]
    assert sorted(effects(project)) == ["l1", "r1"]
    last = answer("end")
    assert last.json["status"] == "done"
    assert sorted(last.json["values"]["log"][1:-1]) == ["R", "[1] end"]
    assert effects(project) == ["l1", "end"]


@pytest.mark.parametrize("version", VERSIONS)
def test_some_are_left_open(several: Any, project: Path, version: str) -> None:
    ids, answer = several("several", python_of(version))
    done = answer(f"{ids['l1']}=1")
    assert asked(done) == ["l2", "r1"]
    assert asked(answer(f"{done.json['interrupts'][0]['id']}=2")) == ["r1"]
    assert answer("R").json["status"] == "done"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["yes"], "2 questions are open here: say which is answered, as --answer ID=VALUE"),
        (["{l1}=1", "yes"], "2 questions are open here: say which is answered"),
        (["{l1}=1", "0123456789abcdef0123456789abcdef=2"], "No question 0123456789abcdef"),
        (["{l1}=1", "{l1}=2"], "two answers for the question"),
        ([], "What is the answer? Give --answer"),
    ],
)
def test_several_answers_refused(
    several: Any, run: Run, project: Path, given: list[str], said: str
) -> None:
    ids, answer = several("several")
    done = answer(*(text.format(**ids) for text in given))
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1
    assert effects(project) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_questions_that_share_an_id(several: Any, project: Path, version: str) -> None:
    """As of tools in one node (langgraph #6626): no answer reaches the right one for sure."""
    ids, answer = several("shared", python_of(version))
    assert list(ids) == ["circle", "square", "triangle"]
    (id_,) = set(ids.values())
    for given in (f"{id_}=yes", "yes"):
        done = answer(given)
        assert (done.code, done.out) == (2, "")
        assert f"3 questions of 'tools' share the id {id_}" in done.err
        assert "replay` --stub tools=JSON" in done.err


def test_several_that_were_answered_before(several: Any, run: Run, project: Path) -> None:
    """They are asked again, and get these answers."""
    ids, answer = several("several")
    done = answer(f"{ids['l1']}=1", f"{ids['r1']}=R")
    where = done.json["sandbox"]["path"]
    assert answer("2").json["values"]["log"][-1] == "end"
    checkpoints = run("tree", where, "asking", "--json").json["checkpoints"]
    at = next(c for c in checkpoints if c["interrupts"])
    left, right = (question["id"] for question in at["interrupts"])
    again = answer(f"{left}=7", f"{right}=S", at=f"asking@{at['id']}")
    assert asked(again) == ["l2"]
    last = answer("8", source=again.json["sandbox"]["path"])
    assert sorted(last.json["values"]["log"][1:-1]) == ["7 8", "S"]


def test_how_to_answer_several_is_said(several: Any, run: Run, project: Path) -> None:
    several("several")
    done = run("replay", "store.db", "asking@step:-1", "--graph", "agent.py:several")
    assert re.search(
        r"answer +retrograph resume .*--answer \w{32}=VALUE --answer \w{32}=", done.out
    )
    done = run("replay", "store.db", "asking@step:-1", "--graph", "agent.py:shared")
    assert "--answer" not in done.out


def test_for_people(run: Run, project: Path) -> None:
    done = run(
        "resume", "store.db", "asking", "--answer", "yes", "--graph", "agent.py:asking"
    )  # fmt: skip
    assert done.code == 0
    assert 'ask asks question: "really?"' in done.out
    assert "✓ Done" in done.out
