"""`retrograph tree`: the branching tree of a thread."""

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
        "retrograph tree demo.db order-4412",
        "retrograph tree demo.db order-4412 --limit 5 --json",
    ),
)
def tree(
    source: Source,
    ref: Ref = None,
    thread: ThreadOption = None,
    ns: Annotated[
        str | None,
        typer.Option(
            "--ns", metavar="NS", help="Only this namespace; an empty one: the root graph's own."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="Only the newest N checkpoints.")
    ] = None,
    orphans: Annotated[
        bool, typer.Option("--orphans", help="List writes whose checkpoint is not in the store.")
    ] = False,
    json: Json = False,
    debug: Debug = False,
    no_redact: NoRedact = False,
) -> None:
    """Draw the branching tree of a thread.

    Each row says what ran, and where it went; the oldest checkpoint stands on top. A branch hangs
    off the checkpoint that it was forked from; what a sub-graph did stands below the step that
    ran it.
    """
    print_tree(source, ref, thread, ns, limit, orphans, json, no_redact)


def print_tree(
    source: str | None,
    ref: str | None,
    thread: str | None,
    ns: str | None = None,
    limit: int | None = None,
    orphans: bool = False,
    as_json: bool = False,
    no_redact: bool = False,
) -> None:
    """Do the command's work."""
    from retrograph.cli import talk
    from retrograph.cli.session import opened
    from retrograph.engine.errors import RefError, UsageError

    if limit is not None and limit < 1:
        raise UsageError(f"--limit takes a number from 1 on, not {limit}.")
    with opened(source, as_json, no_redact) as session:
        found, key = session.locate(ref, thread)
        history = found.history
        if ns is None and key.ns:
            ns = key.ns
        if ns is not None and not history.span(ns):
            names = ", ".join(history.namespaces()[1:9]) or "none"
            raise RefError(f"The thread has no namespace '{ns}'; there are: {names}.")
        if as_json:
            from retrograph.engine.shapes import tree_shape

            with talk.Progress("reading {:,} checkpoints · Ctrl-C stops") as progress:
                document = tree_shape(found, ns, limit, orphans, progress.at)
            session.out.document(document)
            left_over = document["orphan_writes"]
        else:
            from retrograph.cli.draw.tree import tree_lines

            session.out.lines(tree_lines(session, found, key, ns, limit, orphans))
            left_over = sum(rows for _, _, rows in found.orphans())
        for problem in history.problems():
            talk.say(problem)
        if limit is not None and limit < len(history if ns is None else history.span(ns)):
            talk.say(f"Only the newest {limit:,} checkpoints are shown.")
        if left_over and not orphans:
            talk.say(
                f"{left_over:,} writes are of checkpoints that are not in the store (orphans); "
                "--orphans lists them."
            )
