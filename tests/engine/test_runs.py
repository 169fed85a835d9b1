"""Runs told: where nodes went and where they went before; what an answer is."""

from __future__ import annotations

from typing import Any

import pytest

from retrograph.engine.errors import UsageError
from retrograph.engine.host.replies import Event
from retrograph.engine.host.runs import Task
from retrograph.engine.model import Typed
from retrograph.engine.replay.answers import Answer, answers, asked_again, resuming, value_of
from retrograph.engine.replay.originals import Originals, told_route, written_route
from retrograph.engine.replay.plan import NodePlan, Plan
from retrograph.engine.replay.said import MOST
from retrograph.engine.replay.timeline import Row, Timeline
from retrograph.engine.steps.step import Question

NIL = Typed("null", b"")
ID = "0123456789abcdef0123456789abcdef"


def to(*nodes: str, send: int | None = None) -> Task:
    return Task(send, [("log", NIL), *((f"branch:to:{node}", NIL) for node in nodes)])


def test_where_stored_writes_lead() -> None:
    joined = [("join:a+b:z", NIL), ("branch:to:y", NIL), ("x", NIL)]
    assert written_route(joined) == ("y", "z")
    assert written_route([("__no_writes__", NIL)]) == ()
    assert told_route(["y", "join:a+b:z", "y"]) == ("y", "y", "z")


def test_the_nth_super_step_stands_against_the_nth() -> None:
    known = Originals({("", "a"): [[to("b")], [to("c")]], ("sub", "x"): [[to()]]})
    assert known.route("", "a", 3, None) == ("b",)
    assert known.route("", "a", 3, None) == ("b",), "the same super-step"
    assert known.route("", "a", 5, None) == ("c",)
    assert known.route("", "a", 6, None) is None, "nothing more is recorded"
    assert known.route("", "unknown", 1, None) is None
    assert known.route("sub:4f2a", "x", 1, None) == ()


def test_sends_stand_against_the_same_send() -> None:
    known = Originals({("", "one"): [[to("b", send=0), to("c", send=1)]]})
    assert known.route("", "one", 2, 1) == ("c",)
    assert known.route("", "one", 2, 0) == ("b",)
    assert known.route("", "one", 2, 2) is None


# A timeline of events.


def event(name: str, **brought: Any) -> Event:
    return Event({"is": "event", "event": name, "at": 1.0, **brought})


def started(node: str, step: int, ns: str = "") -> Event:
    return event("task_start", run=node, id=f"t-{node}", ns=ns, node=node, step=step)


def ended(node: str, step: int, ns: str = "", **more: Any) -> Event:
    fields = {"seconds": 0.5, "tokens": None, "stopped": False, "error": None, **more}
    return event("task_end", run=node, id=f"t-{node}", ns=ns, node=node, step=step, **fields)


def stored(node: str, *route: str, ns: str = "") -> Event:
    path = f"~__pregel_pull, {node}"
    return event("writes", id="c", ns=ns, task=f"t-{node}", path=path, route=list(route))


@pytest.fixture
def timeline() -> Timeline:
    plan: Any = Plan.__new__(Plan)
    object.__setattr__(plan, "recordings", {("", "a"): [[to("b")]]})
    nodes = [NodePlan(("", "a"), "recorded", 1, False), NodePlan(("", "d"), "pause", 0, False)]
    object.__setattr__(plan, "nodes", nodes)
    object.__setattr__(plan, "others", ())
    return Timeline(plan)


def taken(timeline: Timeline, *events: Event) -> list[Row]:
    return [row for one in events for row in timeline.take(one)]


def test_a_row_is_whole_when_its_output_is_on_disk(timeline: Timeline) -> None:
    assert taken(timeline, started("a", 2)) == []
    assert [(g.node, g.step, g.policy) for g in timeline.going] == [("a", 2, "recorded")]
    assert taken(timeline, ended("a", 2)) == []
    assert list(timeline.going) == []
    (row,) = taken(timeline, stored("a", "c"))
    assert (row.node, row.policy, row.route, row.original) == ("a", "recorded", ("c",), ("b",))
    assert [r.node for r in timeline.turned] == ["a"]


def test_as_it_went_has_not_turned(timeline: Timeline) -> None:
    (row,) = taken(timeline, started("a", 2), ended("a", 2), stored("a", "b"))
    assert (row.route, row.original, row.turned) == (("b",), None, False)


def test_rows_come_as_the_tasks_ended(timeline: Timeline) -> None:
    """An output may come to the disk after one of the next super-step; or not at all."""
    taken(timeline, started("a", 2), started("x", 2), ended("x", 2), ended("a", 2))
    assert taken(timeline, stored("a", "b")) == []
    assert taken(timeline, started("y", 3), ended("y", 3), stored("y")) == []
    inside = (started("i", 1, "sub:1"), ended("i", 1, "sub:1"), stored("i", ns="sub:1"))
    assert [row.node for row in taken(timeline, *inside)] == ["i"], "of another graph"
    assert [(row.node, row.route) for row in taken(timeline, stored("x", "z"))] == [
        ("x", ("z",)),
        ("a", ("b",)),
        ("y", ()),
    ]
    taken(timeline, started("x", 4), ended("x", 4))
    late = taken(timeline, started("a", 6), ended("a", 6), stored("a", "b"))
    assert [(row.node, row.route) for row in late] == [("x", None), ("a", ("b",))]


def test_errors_and_questions_have_no_output(timeline: Timeline) -> None:
    error = {"type": "my.app.Broken", "message": "no\nsuch order", "traceback": "…"}
    (failed,) = taken(timeline, started("x", 1), ended("x", 1, error=error))
    assert (failed.error, failed.route) == ("Broken: no such order", None)
    (asks,) = taken(timeline, started("d", 1), ended("d", 1, stopped=True))
    assert (asks.asks, asks.policy) == (True, "live"), "what was waited before runs itself"


def test_what_was_never_stored_is_told_at_the_end(timeline: Timeline) -> None:
    taken(timeline, started("a", 1), ended("a", 1))
    assert [(row.node, row.route) for row in timeline.flush()] == [("a", None)]
    assert timeline.flush() == []


def test_depth(timeline: Timeline) -> None:
    ns = "sub:t1|inner:t2"
    (row,) = taken(timeline, started("y", 1, ns), ended("y", 1, ns), stored("y", ns=ns))
    assert (row.depth, row.route) == (2, ())


def spoken(node: str, text: str, id_: str = "m", ns: str = "") -> Event:
    return event("message", task=f"t-{node}", ns=ns, node=node, step=1, id=id_, text=text)


def test_what_models_say_stands_with_their_task(timeline: Timeline) -> None:
    taken(timeline, started("a", 1), started("x", 1))
    taken(timeline, spoken("a", "one "), spoken("x", "other"), spoken("a", "two"))
    taken(timeline, spoken("a", "next", "n"), spoken("a", "elsewhere", ns="sub:1"))
    assert [(g.node, g.said) for g in timeline.going] == [
        ("a", ("one two", "next")),
        ("x", ("other",)),
    ]
    (row,) = taken(timeline, ended("a", 1), stored("a", "b"))
    assert row.said == ("one two", "next")
    (again,) = taken(timeline, started("a", 1), ended("a", 1), stored("a", "b"))
    assert again.said == (), "another attempt says its own"


def test_a_very_long_message_is_cut(timeline: Timeline) -> None:
    taken(timeline, started("a", 1), *(spoken("a", "x" * 900) for _ in range(200)))
    (text,) = timeline.going[0].said
    assert text == "x" * MOST + "\n… 80,000 more characters"


# Answers.


def question(id_: str | None = ID, node: str = "ask") -> Question:
    return Question(id_, node, "sure?", False)


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("yes", "yes"),
        ("3", 3),
        ('{"a": [1]}', {"a": [1]}),
        ("{broken", "{broken"),
        ("a=b", "a=b"),
        (f"{ID}=null", None),
        (f"{ID}=x=y", "x=y"),
        ("", ""),
    ],
)
def test_an_answer(given: str, value: Any) -> None:
    asked = [question()]
    assert resuming(answers(asked, [given]), asked) == value


P, Q = question("a" * 32, "p"), question("b" * 32, "q")


def test_several_answers_by_id() -> None:
    """In any order; some may be left open."""
    said = answers([P, Q], [f"{Q.id}=[1]", f"{P.id}=a=b"])
    assert said == [Answer(P, "a=b"), Answer(Q, [1])]
    assert resuming(said, [P, Q]) == {P.id: "a=b", Q.id: [1]}
    assert resuming(answers([P, Q], [f"{Q.id}=no"]), [P, Q]) == {Q.id: "no"}


def test_answers_to_questions_that_are_asked_again() -> None:
    """By the id that they had, or by their node where it asks one only."""
    said = answers([P, Q], [f"{P.id}=1", f"{Q.id}=2"])
    later = question("c" * 32, "q")
    assert asked_again(said, [later, P]) == [Answer(P, 1), Answer(later, 2)]
    assert asked_again(said, [later, question("d" * 32, "q")]) == []


def test_typed_at_the_terminal() -> None:
    assert (value_of("true"), value_of("truly")) == (True, "truly")


@pytest.mark.parametrize(
    ("questions", "given", "said"),
    [
        ([], ["x"], "No question is open"),
        ([question()], [], f"What is the answer.*{ID} of 'ask'"),
        ([question()], ["a", "b"], "One question is open"),
        ([question()], ["f" * 32 + "=x"], f"No question f+ is open here.*{ID}"),
        ([P, Q], ["x"], f"2 questions are open here: say which.*{P.id} of 'p', {Q.id} of 'q'"),
        ([P, Q], ["a=b"], "2 questions are open here: say which is answered, as --answer ID=VALUE"),
        ([P, Q], ["f" * 32 + "=x"], f"No question f+ is open here; there are {P.id} of 'p'"),
        ([P, Q], [f"{P.id}=x", f"{P.id}=y"], f"two answers for the question {P.id}"),
        ([P, P, P], [f"{P.id}=x"], f"3 questions of 'p' share the id {P.id}.*--stub p=JSON"),
        ([P, P, P], ["x"], "3 questions of 'p' share the id"),
        ([question(str(n)) for n in range(20)], ["x"], "and 12 more"),
    ],
)
def test_no_answer(questions: list[Question], given: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said) as raised:
        answers(questions, given)
    assert "\n" not in str(raised.value)
