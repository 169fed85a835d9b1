"""Answers to a checkpoint's questions, as a person writes them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from retrograph.engine.errors import UsageError
from retrograph.engine.model import ROOT, CheckpointKey
from retrograph.engine.replay.plan import is_leaf
from retrograph.engine.steps.step import Question
from retrograph.engine.text import cut
from retrograph.engine.thread import Thread

_ID = re.compile(r"[0-9a-f]{32}")
"""How LangGraph writes the id of an interrupt."""


class Answer(NamedTuple):
    """What is answered to a question, as plain JSON."""

    question: Question
    value: Any


def answerable(thread: Thread, key: CheckpointKey) -> tuple[list[Question], bool]:
    """The questions of a checkpoint that an answer can be for, and whether they are still open.

    Those that have been answered before, or in a sub-graph, are asked again first: then the answer
    is given to a new asking. Of several that share an id only the first is asked again at once.
    """
    step = thread.step(key.ns, key.id)
    opened = [question for question in step.questions if not question.answered]
    if opened and key.ns == ROOT and is_leaf(thread, key):
        return opened, True
    asked: dict[tuple[str | None, str | None], Question] = {}
    for question in step.questions:
        asked.setdefault((question.node, question.id), question)
    return list(asked.values()), False


def answers(questions: Sequence[Question], given: Sequence[str]) -> list[Answer]:
    """What is answered to which of them, in their order.

    `given`: `VALUE` or `ID=VALUE`, where VALUE is JSON if it parses, else text; `ID=` counts only
    if that question is among them. Of several questions some may be left open. Raises `UsageError`
    where it is not clear what is answered, with the questions.
    """
    if not questions:
        raise UsageError("No question is open here: `replay` runs on from it.")
    if not given:
        raise UsageError(f"What is the answer? Give --answer. Asked: {_listed(questions)}")
    _tell_apart(questions)
    if len(questions) == 1:
        if len(given) > 1:
            raise UsageError(f"One question is open, so one --answer: {_listed(questions)}")
        return [Answer(questions[0], value_of(_without_id(questions[0], given[0])))]
    values: dict[str, Any] = {}
    known = {question.id for question in questions}
    for text in given:
        id_, equals, value = text.partition("=")
        if not equals or id_ not in known:
            raise UsageError(_unknown(questions, id_ if equals else ""))
        if id_ in values:
            raise UsageError(f"There are two answers for the question {id_}; one is needed.")
        values[id_] = value_of(value)
    return [Answer(q, values[q.id]) for q in questions if q.id is not None and q.id in values]


def resuming(given: Sequence[Answer], questions: Sequence[Question]) -> Any:
    """What LangGraph is resumed with: the value where one question is open, else values by id."""
    if len(questions) == 1:
        return given[0].value
    return {answer.question.id: answer.value for answer in given}


def asked_again(given: Sequence[Answer], questions: Sequence[Question]) -> list[Answer]:
    """The answers, for the questions as they are asked now: by their ids, else where their node
    asks only one. Those to questions that are not asked are left out."""
    found = []
    for question, value in given:
        same = [q for q in questions if q.id is not None and q.id == question.id]
        same = same or [q for q in questions if q.node == question.node]
        if len(same) == 1:
            found.append(Answer(same[0], value))
    return found


def _tell_apart(questions: Sequence[Question]) -> None:
    """Raises `UsageError` where several questions have one id: LangGraph makes it of the task, so
    that those which one task asks side by side have the same, and an answer reaches any of them."""
    counts = Counter(question.id for question in questions)
    for question in questions:
        if counts[question.id] > 1:
            raise UsageError(
                f"{counts[question.id]} questions of '{question.node or '?'}' share the id "
                f"{question.id}, since one task asks them side by side, so LangGraph cannot tell "
                "their answers apart: say what the node gives, by `replay` "
                f"--stub {question.node or 'NODE'}=JSON."
            )


def _unknown(questions: Sequence[Question], id_: str) -> str:
    if _ID.fullmatch(id_):
        return f"No question {id_} is open here; there are {_listed(questions)}"
    return (
        f"{len(questions)} questions are open here: say which is answered, as --answer ID=VALUE. "
        f"Asked: {_listed(questions)}"
    )


def value_of(text: str) -> Any:
    """JSON if it parses, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _without_id(question: Question, text: str) -> str:
    id_, equals, value = text.partition("=")
    if equals and question.id is not None and id_ == question.id:
        return value
    if equals and _ID.fullmatch(id_):
        raise UsageError(f"No question {id_} is open here; there is {_listed([question])}")
    return text


def _listed(questions: Sequence[Question]) -> str:
    parts = [f"{q.id or '?'} of '{q.node or '?'}'" for q in questions[:8]]
    more = f" and {len(questions) - 8} more" if len(questions) > 8 else ""
    return cut(", ".join(parts) + more, 600) + "."
