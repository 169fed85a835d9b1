"""`retrograph show`: one snapshot."""

from __future__ import annotations

from typing import Annotated

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

app = new_app()


@app.command(
    cls=Command,
    epilog=examples(
        "retrograph show demo.db order-4412",
        "retrograph show demo.db order-4412@root --json",
        "retrograph show demo.db order-4412~1 --channel messages",
    ),
)
def show(
    source: Source,
    ref: Ref = None,
    thread: ThreadOption = None,
    channel: Annotated[
        list[str] | None,
        typer.Option(metavar="C", help="Only this channel, in full; more than once: each."),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Also the channels that only LangGraph reads.")
    ] = False,
    json: Json = False,
    debug: Debug = False,
    no_redact: NoRedact = False,
) -> None:
    """Show one snapshot.

    What is due, how it was reached, and the values: those at the start of the step, as
    LangGraph's get_state shows them for this checkpoint.
    """
    from retrograph.cli.session import opened
    from retrograph.engine.errors import RefError

    with opened(source, json, no_redact) as session:
        found, key = session.locate(ref, thread)
        snapshot = session.shown(found.snapshot(key.ns, key.id))
        every = {**snapshot.values, **snapshot.internal}
        for name in channel or ():
            if name not in every:
                there = ", ".join(every) or "none"
                raise RefError(f"There is no channel '{name}' at this checkpoint; it has: {there}.")
        if json:
            from retrograph.engine.shapes import snapshot_shape

            session.out.document(
                snapshot_shape(found.history, snapshot, session.redactor, raw, channel)
            )
        else:
            from retrograph.cli.draw.show import channel_lines, snapshot_lines

            if channel:
                chosen = {name: every[name] for name in channel}
                session.out.lines(channel_lines(session, chosen))
            else:
                session.out.lines(snapshot_lines(session, found, snapshot, raw))
