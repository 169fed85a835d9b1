"""`retrograph show`: one snapshot."""

from __future__ import annotations

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
from retrograph.cli.hosting import Allow, ConfigOption, EnvFile, FoldGraph, Python

if TYPE_CHECKING:
    from retrograph.cli.session import Session
    from retrograph.engine.model import CheckpointKey
    from retrograph.engine.thread import Thread

app = new_app()


@app.command(
    cls=Command,
    epilog=examples(
        "retrograph show demo.db order-4412",
        "retrograph show demo.db order-4412@root --json",
        "retrograph show demo.db order-4412~1 --channel messages",
        "retrograph show demo.db order-4412 --sizes",
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
    sizes: Annotated[
        bool,
        typer.Option(
            "--sizes", help="Instead of the values what they take: by channel, and what grows."
        ),
    ] = False,
    graph: FoldGraph = None,
    python: Python = None,
    config: ConfigOption = None,
    env_file: EnvFile = None,
    allow: Allow = None,
    json: Json = False,
    debug: Debug = False,
    no_redact: NoRedact = False,
) -> None:
    """Show one snapshot.

    What is due, how it was reached, and the values: those at the start of the step, as
    LangGraph's get_state shows them for this checkpoint. No code of the user's is run, unless
    --graph is given.
    """
    from retrograph.cli.hosting import options
    from retrograph.cli.session import opened
    from retrograph.engine.errors import RefError

    stated = options(graph, python, config, None, env_file, None, allow)
    with opened(source, json, no_redact, graph=stated) as session:
        found, key = session.locate(ref, thread)
        if sizes:
            _sizes(session, found, key, channel)
            return
        snapshot = session.shown(found.snapshot(key.ns, key.id))
        every = {**snapshot.values, **snapshot.internal}
        for name in channel or ():
            if name not in every:
                there = ", ".join(every) or "none"
                raise RefError(f"There is no channel '{name}' at this checkpoint; it has: {there}.")
        if json:
            from retrograph.engine.views.shapes import snapshot_shape

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


def _sizes(
    session: Session, thread: Thread, key: CheckpointKey, channels: list[str] | None
) -> None:
    from retrograph.cli import talk
    from retrograph.engine.errors import RefError
    from retrograph.engine.text import size
    from retrograph.engine.views.sizes import LARGE, measure

    history = thread.history
    i = history.find(key.ns, key.id)
    sizes = measure(thread, i)
    known = {channel.channel for channel in sizes.channels}
    for name in channels or ():
        if name not in known:
            there = ", ".join(sorted(known)) or "none"
            raise RefError(f"There is no channel '{name}' at this checkpoint; it has: {there}.")
    if session.out.json:
        from retrograph.engine.views.shapes import checkpoint_shape

        envelope, step = session.shown_step(thread, i)
        session.out.document(
            checkpoint_shape(history, i, envelope, step)
            | {"thread_id": key.thread_id, "sizes": sizes.to_json(history, channels)}
        )
    else:
        from retrograph.cli.draw.sizes import size_lines

        session.out.lines(size_lines(session, thread, i, sizes, channels))
    if sizes.checkpoint >= LARGE:
        grows = [c for c in sizes.channels if c.growth > 0]
        most = max(grows, key=lambda c: c.growth, default=None)
        by = f"; '{most.channel}' grows by {size(round(most.growth))} a checkpoint" if most else ""
        talk.say(f"This checkpoint takes {size(sizes.checkpoint)}{by}.")
