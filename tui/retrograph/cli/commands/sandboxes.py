"""`retrograph sandboxes`: what was forked and replayed so far, and from where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from retrograph.cli.help import CONTEXT, Command, Debug, Json, NoRedact, examples, new_app

if TYPE_CHECKING:
    from retrograph.cli.output import Output
    from retrograph.engine.sandbox.file import Sandbox
    from retrograph.engine.views.redact import Redactor

app = new_app()


@app.callback(
    context_settings=CONTEXT,
    invoke_without_command=True,
    epilog=examples("retrograph sandboxes", "retrograph sandboxes --json"),
)
def sandboxes(
    context: typer.Context, json: Json = False, debug: Debug = False, no_redact: NoRedact = False
) -> None:
    """List sandboxes: the local copies that forks were made in.

    A sandbox is a source as any other: `retrograph tree sandbox:ID THREAD`.
    """
    if context.invoked_subcommand is None:
        _list(json, no_redact)


@app.command(
    "list",
    cls=Command,
    epilog=examples("retrograph sandboxes list", "retrograph sandboxes list --json"),
)
def list_(json: Json = False, debug: Debug = False, no_redact: NoRedact = False) -> None:
    """List sandboxes, the newest first."""
    _list(json, no_redact)


@app.command(cls=Command, epilog=examples("retrograph sandboxes path"))
def path(
    id: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]", help="Which; the folder of all without.", show_default=False
        ),
    ] = None,
    json: Json = False,
    debug: Debug = False,
    no_redact: NoRedact = False,
) -> None:
    """Print the path of a sandbox's file."""
    from retrograph.cli.output import Output
    from retrograph.cli.paint import Span
    from retrograph.engine.sandbox.home import sandbox_path, sandboxes_folder
    from retrograph.engine.text import escape

    found = str(sandboxes_folder() if id is None else sandbox_path(id))
    out = Output(json)
    if json:
        out.document({"path": found})
    else:
        out.lines([[Span(escape(found))]])


@app.command(
    cls=Command,
    epilog=examples("retrograph sandboxes remove --older-than 30d"),
)
def remove(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]…", help="Which.", show_default=False)
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="All that were made before: 12h, 30d, 2026-01-31.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    debug: Debug = False,
    no_redact: NoRedact = False,
) -> None:
    """Remove sandboxes."""
    from datetime import UTC, datetime

    from retrograph.cli.output import Output
    from retrograph.cli.paint import Span
    from retrograph.engine.errors import UsageError
    from retrograph.engine.sandbox.home import list_sandboxes, remove_sandbox, sandbox_path
    from retrograph.engine.text import escape
    from retrograph.engine.threads.listing import parse_since

    if not ids and older_than is None:
        raise UsageError("Which sandboxes? Give their ids, or --older-than.")
    paths = [sandbox_path(id_) for id_ in ids or ()]
    if older_than is not None:
        since = parse_since(older_than, datetime.now(UTC))
        paths += [s.path for s in list_sandboxes()[0] if s.created_at < since]
    for file in paths:
        remove_sandbox(file)
    out = Output(json)
    if json:
        out.document([{"id": file.stem, "path": str(file)} for file in paths])
    else:
        gone = [[Span(f"removed {escape(file.stem)}")] for file in paths]
        out.lines(gone or [[Span("Nothing is that old.", "dim")]])


def _list(json: bool, no_redact: bool) -> None:
    from retrograph.cli import talk
    from retrograph.cli.output import Output
    from retrograph.engine.sandbox.home import list_sandboxes
    from retrograph.loaders.project import load_config

    found, broken = list_sandboxes()
    redactor = load_config().redactor(no_redact)
    out = Output(json)
    if json:
        out.document([sandbox_shape(sandbox, redactor) for sandbox in found])
    else:
        _table(out, found, redactor)
    for sentence in broken:
        talk.say(sentence)


def sandbox_shape(sandbox: Sandbox, redactor: Redactor) -> dict[str, object]:
    """A row of `sandboxes`."""
    from retrograph.engine.text import iso

    origin = sandbox.origin
    return {
        "id": sandbox.id,
        "path": str(sandbox.path),
        "source": redactor.location(origin.source),
        "thread_id": origin.thread_id,
        "ns": origin.ns,
        "from": origin.checkpoint_id,
        "kind": origin.kind,
        "created_at": iso(sandbox.created_at),
        "size": sandbox.size,
    }


def _table(out: Output, found: list[Sandbox], redactor: Redactor) -> None:
    from datetime import UTC, datetime

    from retrograph.cli.paint import Column, Line, Span, table
    from retrograph.engine.text import ago, escape, size

    if not found:
        out.lines([[Span("There are no sandboxes: `fork` and `replay` make them.", "dim")]])
        return
    now = datetime.now(UTC)
    rows: list[list[Line]] = [
        [
            [Span(sandbox.id, "strong")],
            [Span(escape(sandbox.origin.thread_id))],
            [Span(f"@{escape(sandbox.origin.checkpoint_id[-6:])}", "dim")],
            [Span(ago(sandbox.created_at, now), "dim")],
            [Span(size(sandbox.size))],
            [Span(escape(redactor.location(sandbox.origin.source)), "dim")],
        ]
        for sandbox in found
    ]
    heads = [
        Column("id"),
        Column("thread", flexible=True, least=12),
        Column("from"),
        Column("made"),
        Column("size", right=True),
        Column("source", flexible=True, least=12),
    ]
    out.lines(table(heads, rows, out.width))
