"""`retrograph blame`: who last set a value."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from retrograph.cli.help import (
    Command,
    Debug,
    Json,
    NoRedact,
    Source,
    ThreadOption,
    examples,
    new_app,
)

if TYPE_CHECKING:
    from retrograph.engine.history import History
    from retrograph.engine.search.blame import Set

app = new_app()


@app.command(
    cls=Command,
    epilog=examples(
        "retrograph blame demo.db order-4412 total",
        "retrograph blame demo.db order-4412 'messages[-1].content' --json",
    ),
)
def blame(
    source: Source,
    ref: Annotated[
        str | None,
        typer.Argument(
            metavar="REF",
            help="Which checkpoint's value: THREAD, THREAD@END, …; with --thread it may be left "
            "out.",
            show_default=False,
        ),
    ] = None,
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="PATH",
            help="Which value: total, messages[-1].content, or a JSON Pointer.",
            show_default=False,
        ),
    ] = None,
    thread: ThreadOption = None,
    limit: Annotated[
        int, typer.Option(metavar="N", help="At most N values, the newest; 0: all.")
    ] = 10,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="Look at each version, also where a few looks tell all that is likely."
        ),
    ] = False,
    json: Json = False,
    debug: Debug = False,
    no_redact: NoRedact = False,
) -> None:
    """Find who last set a value, and what it was before.

    Which checkpoint, node and task, along the line that leads to REF, the newest first. Items of
    lists are followed by their id (messages), not by their position. Only a few checkpoints are
    read: where the value changed and changed back between two of them, only --exact sees it; that
    this may be is said.
    """
    from retrograph.cli import talk
    from retrograph.cli.session import opened
    from retrograph.engine.errors import UsageError
    from retrograph.engine.search.blame import Blame

    if limit < 0:
        raise UsageError(f"--limit takes a number, 0 for all, not {limit}.")
    if path is None and thread is not None:
        ref, path = None, ref
    if path is None:
        raise UsageError("Which value is missing: blame SOURCE REF PATH.")
    with opened(source, json, no_redact) as session:
        found, key = session.locate(ref, thread)
        history = found.history
        traced = Blame(found, history.find(key.ns, key.id), path, session.redactor, exact)
        settings = iter(traced)
        entries = list(islice(settings, limit or None))
        read, certain = traced.decoded, traced.certain
        more = bool(limit) and next(settings, None) is not None
        if json:
            session.out.document([_shape(history, entry) for entry in entries])
        else:
            from retrograph.cli.draw.blame import blame_lines

            session.out.lines(blame_lines(session, found, key, traced, entries))
        if more:
            talk.say(f"Only the newest {limit:,} values are listed; --limit 0 lists all.")
        if not certain:
            talk.say(
                f"Read {read:,} of {traced.length:,} checkpoints: a value that changed and "
                "changed back between two of them is missed; --exact looks at each version."
            )


def _shape(history: History, entry: Set) -> dict[str, Any]:
    from retrograph.engine.paths import pointer
    from retrograph.engine.values import to_json

    i = entry.checkpoint
    return {
        "id": history.ids[i],
        "ns": history.ns(i),
        "step": entry.by.step,
        "source": entry.by.source,
        "node": entry.by.node,
        "task_id": entry.by.task_id,
        "path": pointer(entry.path),
        "value": to_json(entry.value),
        "ran": list(entry.by.ran),
    }
