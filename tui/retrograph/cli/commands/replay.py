"""`retrograph replay`: run on from a checkpoint, in a sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    from retrograph.cli.running.carrying import Call, Line
    from retrograph.cli.running.ending import Ending
    from retrograph.cli.session import Session
    from retrograph.engine.model import CheckpointKey
    from retrograph.engine.thread import Thread

app = new_app()


@app.command(
    cls=Command,
    epilog=examples(
        "retrograph replay demo.db order-4412@step:9 --plan",
        "retrograph replay demo.db order-4415 --yes",
    ),
)
def replay(
    source: Source,
    ref: Ref = None,
    thread: ThreadOption = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only show what would run, and how.")
    ] = False,
    stub: Stub = None,
    recorded: Recorded = None,
    live: Live = None,
    pause_before: PauseBefore = None,
    messages: Messages = False,
    goto: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NODE",
            help="Run NODE from here, in place of what is due.",
            show_default=False,
        ),
    ] = None,
    line: Annotated[
        str | None,
        typer.Option(
            metavar="REF",
            help="Whose recordings are used: the line to this checkpoint, not to the newest leaf.",
            show_default=False,
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Run what had finished of this very step once more."),
    ] = False,
    step: Annotated[
        bool,
        typer.Option("--step", help="One super-step at a time; elsewhere than on a terminal, one."),
    ] = False,
    repeat: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="N times, each in a sandbox of its own."),
    ] = 1,
    save_test: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Keep it as a test for pytest, which runs offline on what was recorded.",
            show_default=False,
        ),
    ] = None,
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
    """Run on from a checkpoint with your own code, in a sandbox.

    The source is never written. What would run is shown and confirmed before anything does. At a
    leaf the run goes on: what had finished there does not run again.
    """
    from dataclasses import replace

    from retrograph.cli.hosting import options
    from retrograph.cli.running.carrying import Call
    from retrograph.cli.running.flags import check_messages, policies, someone_asks
    from retrograph.cli.running.keeping import check_name
    from retrograph.cli.session import opened
    from retrograph.loaders.project import load_config

    kept = None if save_test is None else check_name(save_test)
    check_messages(messages, json, jsonl)
    settings = load_config()
    how = policies(stub, recorded, live, pause_before, settings)
    call = Call(
        stated=options(graph, python, config, context, env_file, recursion_limit, allow, trace),
        config=settings,
        asked=replace(how, goto=tuple(goto or ()), again=again),
        stepping=step,
        asks=someone_asks(json or jsonl, yes),
        source=source,
        origin=origin,
        messages=messages,
        anew=repeat > 1,
    )
    with opened(source, json or jsonl, no_redact, origin) as session:
        found, key = session.locate(ref, thread)
        whose = None
        if line is not None:
            other, end = session.locate(line, thread)
            whose = (other, end.id)
        if plan:
            return _planned(call, session, found, key, whose)
        endings = _runs(call, session, found, key, whose, repeat, jsonl)
        if not endings:
            return 130
        return _told(session, found, endings, repeat, jsonl, kept, call)


def _planned(
    call: Call, session: Session, thread: Thread, key: CheckpointKey, line: Line | None
) -> int:
    from retrograph.cli.draw.plan import plan_lines, plan_shape
    from retrograph.cli.running.carrying import made_ready

    with made_ready(call, thread, key, line=line) as ready:
        made = ready.plan
    if session.out.json:
        session.out.document(plan_shape(session, thread, made))
    else:
        session.out.lines(plan_lines(session, thread, made))
    return 0


def _runs(
    call: Call,
    session: Session,
    thread: Thread,
    key: CheckpointKey,
    line: Line | None,
    repeat: int,
    jsonl: bool,
) -> list[Ending]:
    """Run it; nothing where the user, asked, does not want to."""
    from dataclasses import replace

    from retrograph.cli.paint import Span
    from retrograph.cli.running.carrying import carry_out, made_ready
    from retrograph.cli.running.flags import teller_of
    from retrograph.cli.running.steps import answered_in_turn, confirmed, is_worth_running, verdict

    endings: list[Ending] = []
    for number in range(repeat):
        one = call if repeat == 1 else replace(call, asks=call.asks and number == 0)
        with made_ready(one, thread, key, line=line) as ready:
            is_worth_running(thread, ready.plan)
            if number == 0 and not confirmed(one, session, thread, ready.plan, "replay"):
                return []
            if repeat > 1 and not session.out.json:
                session.out.now([[Span(f"run {number + 1} of {repeat}", "dim")]])
            teller = teller_of(session, thread.serde, jsonl)
            ending = carry_out(replace(one, asks=False) if repeat > 1 else one, ready, teller)
        if repeat == 1:
            ending = answered_in_turn(one, session, ending, teller)
        elif not session.out.json:
            verdict(session, ending, quietly=True)
        endings.append(ending)
        if ending.stopped:
            break
    return endings


def _told(
    session: Session,
    thread: Thread,
    endings: list[Ending],
    repeat: int,
    jsonl: bool,
    kept: Path | None,
    call: Call,
) -> int:
    from retrograph.cli.draw.replay import replay_shape, summary_lines
    from retrograph.cli.running.steps import show_ending
    from retrograph.loaders.registry import reopens

    source = reopens(thread.loader)
    last = endings[-1]
    if repeat == 1:
        show_ending(session, last, source, jsonl)
    elif session.out.json:
        shapes = [replay_shape(ending, source, session.redactor) for ending in endings]
        session.out.document(shapes)
    else:
        session.out.now(summary_lines(endings, session.out.ascii))
    if kept is not None:
        from retrograph.cli.running.keeping import keep

        keep(kept, last, call)
    return max(ending.code for ending in endings)
