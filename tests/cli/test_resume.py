"""`resume`: questions answered, open ones and such as were answered before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli.running import Done, Run
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


def test_several_are_listed(run: Run, project: Path) -> None:
    """Two questions side by side: which one would be answered?"""
    agent = project / "agent.py"
    agent.write_text(
        agent.read_text()
        + """
two = builder("pre")
for name in ("left", "right"):
    two.add_node(name, lambda state, name=name: {"log": [interrupt(name)]})
    two.add_edge("pre", name)
two = two.compile()
"""
    )
    call = ["--graph", "agent.py:two", "--json"]
    first = run("replay", "store.db", "asking@step:-1", *call).json
    assert [q["node"] for q in first["interrupts"]] == ["left", "right"]
    done = run("resume", first["sandbox"]["path"], "asking", *call, "--answer", "yes")
    assert (done.code, done.out) == (2, "")
    for question in first["interrupts"]:
        assert f"{question['id']} of '{question['node']}'" in done.err


def test_for_people(run: Run, project: Path) -> None:
    done = run(
        "resume", "store.db", "asking", "--answer", "yes", "--graph", "agent.py:asking"
    )  # fmt: skip
    assert done.code == 0
    assert 'ask asks question: "really?"' in done.out
    assert "✓ Done" in done.out
