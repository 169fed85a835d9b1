"""What commands do around a run: show the plan and have it confirmed, answer, show the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from retrograph.cli import talk
from retrograph.cli.running.carrying import Call, answered
from retrograph.engine.errors import UsageError

if TYPE_CHECKING:
    from retrograph.cli.draw.plan import Fact
    from retrograph.cli.running.ending import Ending
    from retrograph.cli.running.tellers import Teller
    from retrograph.cli.session import Session
    from retrograph.engine.replay.plan import Plan
    from retrograph.engine.steps.step import Question
    from retrograph.engine.thread import Thread


def is_worth_running(thread: Thread, plan: Plan) -> None:
    """Raises `UsageError` where nothing would run."""
    if not plan.due and not thread.step(plan.key.ns, plan.key.id).next:
        raise UsageError(
            "Nothing is due there, so nothing would run: take an earlier checkpoint (~1), --goto a "
            "node, or `fork` it with --input."
        )


def confirmed(
    call: Call,
    session: Session,
    thread: Thread,
    plan: Plan,
    title: str | None,
    facts: Sequence[Fact] = (),
) -> bool:
    """Show a person what will run; on a terminal, ask whether it shall."""
    from retrograph.cli.draw.plan import question_lines

    if session.out.json:
        for warning in plan.warnings:
            talk.say(warning)
        return True
    session.out.now(question_lines(session, thread, plan, title, facts))
    if not call.asks:
        return True
    sure = talk.confirm("Run it?")
    session.out.now([[]])
    return sure


def answered_in_turn(call: Call, session: Session, ending: Ending, teller: Teller) -> Ending:
    """Offer whoever sits there to answer what the run asks, as long as it does."""
    from retrograph.engine.replay.answers import answers, resuming

    while call.asks and ending.status == "interrupted":
        questions = ending.result.questions
        verdict(session, ending, quietly=True)
        given = typed_answers(session, questions, asked=len(questions) > 1)
        if not given:
            break
        value = resuming(answers(questions, given), questions)
        ending = answered(call, ending, value, teller)
    return ending


def typed_answers(session: Session, questions: Sequence[Question], asked: bool = True) -> list[str]:
    """Answers typed at the terminal, as `--answer` has them; of several questions some may be left
    open. Nothing where they cannot be told apart. `asked`: the question is shown first."""
    from retrograph.cli.draw.words import asks
    from retrograph.cli.running.asking import ask_answer

    ids = {question.id for question in questions}
    if len(ids) < len(questions):
        return []
    given = []
    for question in questions:
        if asked:
            session.out.now([asks(question, session.redactor)])
        text = ask_answer()
        if text is not None:
            given.append(text if len(questions) == 1 else f"{question.id}={text}")
    return given


def verdict(session: Session, ending: Ending, quietly: bool = False) -> None:
    """Say how it ended; `quietly`: in one line."""
    from retrograph.cli.draw.replay import verdict_lines

    out = session.out
    out.now(verdict_lines(ending, session.redactor, out.ascii, out.page, quietly))


def show_ending(
    session: Session,
    ending: Ending,
    source: str,
    jsonl: bool,
    more: Mapping[str, Any] | None = None,
) -> None:
    """The verdict for people, or the document. `more`: further fields of it."""
    from retrograph.cli.draw.replay import replay_shape

    if not session.out.json:
        verdict(session, ending)
        return
    document = {**replay_shape(ending, source, session.redactor), **(more or {})}
    if jsonl:
        session.out.event({"event": "end", **document})
    else:
        session.out.document(document)
