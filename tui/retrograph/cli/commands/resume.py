"""`retrograph resume`: answer a question, and run on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from retrograph.cli.help import (
    Command,
    Debug,
    Json,
    NoRedact,
    Ref,
    Source,
    ThreadOption,
    examples,
    new_app,
)
from retrograph.cli.hosting import (
    Allow,
    ConfigOption,
    Context,
    EnvFile,
    GraphOption,
    Python,
    RecursionLimit,
    Trace,
)
from retrograph.cli.running.flags import (
    JsonLines,
    Live,
    Messages,
    Origin,
    PauseBefore,
    Recorded,
    Stub,
    Yes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrograph.cli.running.carrying import Call
    from retrograph.cli.session import Session
    from retrograph.engine.model import CheckpointKey
    from retrograph.engine.replay.answers import Answer
    from retrograph.engine.steps.step import Question
    from retrograph.engine.thread import Thread

app = new_app()


@app.command(
    cls=Command,
    epilog=examples("retrograph resume demo.db order-4413 --answer no --yes"),
)
def resume(
    source: Source,
    ref: Ref = None,
    thread: ThreadOption = None,
    answer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VALUE",
            help="The answer: JSON if it parses, else text; ID=VALUE names the question, once for "
            "each of several.",
            show_default=False,
        ),
    ] = None,
    stub: Stub = None,
    recorded: Recorded = None,
    live: Live = None,
    pause_before: PauseBefore = None,
    messages: Messages = False,
    yes: Yes = False,
    origin: Origin = None,
    graph: GraphOption = None,
    python: Python = None,
    config: ConfigOption = None,
    context: Context = None,
    env_file: EnvFile = None,
    recursion_limit: RecursionLimit = None,
    allow: Allow = None,
    trace: Trace = False,
    json: Json = False,
    jsonl: JsonLines = False,
    debug: Debug = False,
    no_redact: NoRedact = False,
) -> int:
    """Answer a question that a node asked, and run on, in a sandbox.

    The source is never written. A question that was answered before is asked once more, and gets
    this answer.
    """
    from retrograph.cli.hosting import options
    from retrograph.cli.running.carrying import Call
    from retrograph.cli.running.flags import check_messages, policies, someone_asks
    from retrograph.cli.running.steps import typed_answers
    from retrograph.cli.session import opened
    from retrograph.engine.replay.answers import answerable, answers
    from retrograph.loaders.project import load_config

    check_messages(messages, json, jsonl)
    settings = load_config()
    call = Call(
        stated=options(graph, python, config, context, env_file, recursion_limit, allow, trace),
        config=settings,
        asked=policies(stub, recorded, live, pause_before, settings),
        stepping=False,
        asks=someone_asks(json or jsonl, yes),
        source=source,
        origin=origin,
        messages=messages,
    )
    with opened(source, json or jsonl, no_redact, origin) as session:
        found, key = session.locate(ref, thread)
        questions, is_open = answerable(found, key)
        given = list(answer or ())
        if not given and call.asks:
            given = typed_answers(session, questions)
        said = answers(questions, given)
        return _resumed(call, session, (found, key), questions, said, is_open, jsonl)


def _resumed(
    call: Call,
    session: Session,
    place: tuple[Thread, CheckpointKey],
    questions: Sequence[Question],
    given: Sequence[Answer],
    is_open: bool,
    jsonl: bool,
) -> int:
    from retrograph.cli import talk
    from retrograph.cli.running.carrying import answered, carry_out, made_ready, resumed
    from retrograph.cli.running.flags import teller_of
    from retrograph.cli.running.steps import answered_in_turn, confirmed, show_ending
    from retrograph.engine.replay.answers import asked_again, resuming
    from retrograph.loaders.registry import reopens

    thread, key = place
    begin = resumed(thread, resuming(given, questions)) if is_open else None
    teller = teller_of(session, thread.serde, jsonl)
    with made_ready(call, thread, key, begin=begin) as ready:
        facts = _facts(session, given)
        if not confirmed(call, session, thread, ready.plan, "resume", facts):
            return talk.CANCELLED
        ending = carry_out(call, ready, teller)
    if not is_open and ending.status in ("done", "interrupted"):
        later = ending.result.questions
        again = asked_again(given, later) if ending.status == "interrupted" else []
        if again:
            ending = answered(call, ending, resuming(again, later), teller)
        if len(again) < len(given):
            talk.say("The question was not asked again as it was, so the answer is not given.")
    ending = answered_in_turn(call, session, ending, teller)
    show_ending(session, ending, reopens(thread.loader), jsonl)
    return ending.code


def _facts(session: Session, given: Sequence[Answer]) -> Sequence[tuple[str, Any]]:
    from retrograph.cli.draw.words import asks
    from retrograph.cli.paint import Span
    from retrograph.engine.values import from_json
    from retrograph.engine.views.summary import one_line

    facts: list[tuple[str, Any]] = []
    for question, value in given:
        shown = session.redactor.value(from_json(value))
        facts += [
            ("question", asks(question, session.redactor)),
            ("answer", [Span(one_line(shown, 200), "strong")]),
        ]
    return facts
