"""`retrograph fork`: an edited child of a checkpoint, in a sandbox."""

from __future__ import annotations

from pathlib import Path
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
    from collections.abc import Mapping

    from retrograph.cli.paint import Line
    from retrograph.cli.running.carrying import Call
    from retrograph.cli.session import Session
    from retrograph.engine.edits.plan import Asked
    from retrograph.engine.host.client import Host
    from retrograph.engine.model import CheckpointKey
    from retrograph.engine.replay.forking import Fork
    from retrograph.engine.sandbox.file import Sandbox
    from retrograph.engine.thread import Thread

app = new_app()


@app.command(
    cls=Command,
    epilog=examples(
        "retrograph fork demo.db order-4412@step:10 --set 'path=\"express\"' --dry-run",
    ),
)
def fork(
    source: Source,
    ref: Ref = None,
    thread: ThreadOption = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PATH=JSON",
            help='What shall stand at PATH: path="alt", messages[-1].content="no"; a bare word '
            "is text.",
            show_default=False,
        ),
    ] = None,
    delete: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Remove what stands at PATH.", show_default=False),
    ] = None,
    values: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Whole channels from a file of YAML or JSON.", show_default=False
        ),
    ] = None,
    edit: Annotated[bool, typer.Option("--edit", help="Edit the state in $EDITOR.")] = False,
    input_: Annotated[
        str | None,
        typer.Option(
            "--input",
            metavar="JSON",
            help="New input here; at an input that is pending, in its place.",
            show_default=False,
        ),
    ] = None,
    as_node: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="As if node N had written it: only N's routes.", show_default=False
        ),
    ] = None,
    reduce: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHANNEL",
            help="Pass this channel's new value through its reducer.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what it would be.")] = False,
    run: Annotated[bool, typer.Option("--run", help="Run on from it at once.")] = False,
    stub: Stub = None,
    recorded: Recorded = None,
    live: Live = None,
    pause_before: PauseBefore = None,
    messages: Messages = False,
    full: Annotated[
        bool, typer.Option("--full", help="Copy all ancestors: the sandbox stands alone.")
    ] = False,
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
    """Fork: an edited child of a checkpoint, in a sandbox.

    The source is never written. What was due stays due, unless the routers that led here choose
    otherwise on the edited state. No node runs, but routers do, in the graph's own Python.
    """
    from retrograph.cli.hosting import hosted, options
    from retrograph.cli.running.carrying import Call
    from retrograph.cli.running.flags import check_messages, policies, someone_asks
    from retrograph.cli.session import opened
    from retrograph.engine.edits.plan import Asked
    from retrograph.loaders.project import load_config

    check_messages(messages, json, jsonl)
    settings = load_config()
    how = policies(stub, recorded, live, pause_before, settings)
    _check(run, dry_run, bool(jsonl or messages or stub or recorded or live or pause_before))
    asked = Asked(
        sets=tuple(set_ or ()),
        deletes=tuple(delete or ()),
        values={} if values is None else _from_file(values),
        reduce=tuple(reduce or ()),
        **({} if input_ is None else {"input": _input(input_)}),
    )
    stated = options(graph, python, config, context, env_file, recursion_limit, allow, trace)
    call = Call(
        stated,
        settings,
        how,
        stepping=False,
        asks=someone_asks(json or jsonl, yes),
        source=source,
        origin=origin,
        messages=messages,
    )
    with opened(source, json or jsonl, no_redact, origin) as session:
        found, key = session.locate(ref, thread)
        with hosted(stated, settings) as (host, plan, loaded):
            made = forked(session, host, found, key, asked, plan.config, as_node, edit)
            if made.is_dead and not dry_run and (run or (call.asks and not _sure(made))):
                return _dead(run)
            sandbox = None if dry_run else kept(session, found, made, full)
            if run and sandbox is not None:
                from retrograph.cli.running.forks import run_fork

                return run_fork(call, session, found, made, sandbox, (host, plan, loaded), jsonl)
        _show(session, found, made, sandbox, call)
    return 0


def _check(run: bool, dry_run: bool, how: bool) -> None:
    from retrograph.engine.errors import UsageError

    if run and dry_run:
        raise UsageError("--dry-run makes nothing that --run could run.")
    if not run and how:
        raise UsageError(
            "--jsonl, --messages, --stub, --recorded, --live and --pause-before go with --run."
        )


def _dead(run: bool) -> int:
    from retrograph.engine.errors import UsageError

    if run:
        raise UsageError(
            "Nothing would be due on this fork, so there is nothing to run: give --input, or "
            "--as-node with the node that shall have written the edit."
        )
    return 130


def forked(
    session: Session,
    host: Host,
    thread: Thread,
    key: CheckpointKey,
    asked: Asked,
    config: Mapping[str, Any],
    as_node: str | None,
    edit: bool,
) -> Fork:
    """The fork that is asked for, with `edit` after the user has edited the state."""
    from dataclasses import replace

    from retrograph.cli.editing import edited
    from retrograph.engine.edits.plan import INPUT
    from retrograph.engine.errors import UsageError
    from retrograph.engine.host.folding import folded
    from retrograph.engine.replay.forking import preview_fork

    if not edit:
        return preview_fork(host, thread, key, asked, as_node=as_node, config=config)
    if not asked.nothing:
        raise UsageError("--edit is by itself: leave out --set, --delete, --values and --input.")
    if session.out.json:
        raise UsageError("--edit needs somebody at a terminal: leave out --json.")
    snapshot = thread.snapshot(key.ns, key.id)
    state = snapshot.internal.get(INPUT, snapshot.values)
    if not isinstance(state, dict):
        state = {"input": state}
    state = folded(host, thread, key.ns, state)

    def use(changed: Mapping[str, object]) -> Fork:
        if INPUT in snapshot.internal and not isinstance(snapshot.internal[INPUT], dict):
            whole = replace(asked, input=changed["input"])
            return preview_fork(host, thread, key, whole, as_node=as_node, config=config)
        new = replace(asked, values=changed)
        return preview_fork(host, thread, key, new, as_node=as_node, config=config)

    title = [f"The state of {key.thread_id} at {key.id}, as YAML."]
    return edited(state, title, session.redactor, use)


def kept(session: Session, thread: Thread, fork: Fork, full: bool) -> Sandbox:
    """The fork written: into the sandbox that it was made in, where that can go on, else a new
    one."""
    from retrograph.cli.talk import Progress
    from retrograph.engine.replay.forking import make_fork, went_on_in
    from retrograph.loaders.registry import reopens

    there = getattr(thread.loader, "sandbox", None)
    if there is not None and not full and went_on_in(there, thread, fork):
        return there  # type: ignore[no-any-return]
    with Progress("copying {:,} checkpoints") as progress:
        return make_fork(thread, fork, reopens(thread.loader), full=full, copied=progress.at)


def _show(
    session: Session, thread: Thread, fork: Fork, sandbox: Sandbox | None, call: Call
) -> None:
    from retrograph.cli.draw.fork import fork_lines, fork_shape
    from retrograph.loaders.registry import reopens

    if session.out.json:
        session.out.document(fork_shape(session, fork, reopens(thread.loader), sandbox))
    else:
        lines = [*fork_lines(session, thread, fork, sandbox)]
        session.out.lines([*lines, *_next(thread, sandbox, call)] if sandbox else lines)


def _next(thread: Thread, sandbox: Sandbox, call: Call) -> list[Line]:
    """What can be done with a fork."""
    from retrograph.cli.draw.replay import next_line
    from retrograph.loaders.registry import opens_sandbox

    where = [opens_sandbox(sandbox), thread.thread_id]
    return [
        [],
        next_line("run", ["replay", *where, *call.options]),
        next_line("look", ["tree", *where]),
    ]


def _sure(fork: Fork) -> bool:
    from retrograph.cli import talk

    for warning in fork.warnings:
        talk.say(warning)
    return talk.confirm("Make this fork all the same?")


def _from_file(name: str) -> dict[str, Any]:
    from retrograph.engine.edits.yamlform import from_yaml
    from retrograph.engine.errors import UsageError

    try:
        text = Path(name).expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"--values {name} cannot be read: {why}.") from error
    return from_yaml(text, name)


def _input(text: str) -> Any:
    from retrograph.engine.edits.plan import json_or_word

    return json_or_word(text, "--input")
