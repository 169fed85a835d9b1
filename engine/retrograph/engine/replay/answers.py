"""Answers to a checkpoint's questions, as a person writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from retrograph.engine.errors import UsageError
from retrograph.engine.model import ROOT, CheckpointKey
from retrograph.engine.replay.plan import is_leaf
from retrograph.engine.steps.step import Question
from retrograph.engine.text import cut
from retrograph.engine.thread import Thread

_ID = re.compile(r"[0-9a-f]{32}")
"""How LangGraph writes the id of an interrupt."""


def answerable(thread: Thread, key: CheckpointKey) -> tuple[list[Question], bool]:
    """The questions of a checkpoint that an answer can be for, and whether they are still open.

    Those that have been answered before, or in a sub-graph, are asked again first: then the answer
    is given to a new asking.
    """
    step = thread.step(key.ns, key.id)
    opened = [question for question in step.questions if not question.answered]
    if opened and key.ns == ROOT and is_leaf(thread, key):
        return opened, True
    asked: dict[str | None, Question] = {}
    for question in step.questions:
        asked.setdefault(question.node, question)
    return list(asked.values()), False


def answer(questions: Sequence[Question], given: Sequence[str]) -> Any:
    """The answer's value, as plain JSON.

    `given`: `VALUE` or `ID=VALUE`, where VALUE is JSON if it parses, else text. Raises `UsageError`
    where it is not clear what is answered, with the questions.
    """
    if not questions:
        raise UsageError("No question is open here: `replay` runs on from it.")
    if not given:
        raise UsageError(f"What is the answer? Give --answer. Asked: {_listed(questions)}")
    if len(questions) > 1:
        raise UsageError(
            f"{len(questions)} questions are open here, and only a single one can be answered: "
            f"{_listed(questions)}"
        )
    if len(given) > 1:
        raise UsageError(f"One question is open, so one --answer: {_listed(questions)}")
    return value_of(_without_id(questions[0], given[0]))


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
