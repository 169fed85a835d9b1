"""`retrograph tree`: the branching tree of a thread."""

from __future__ import annotations

from collections.abc import Mapping
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

if TYPE_CHECKING:
    from retrograph.engine.thread import Thread

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
    from retrograph.engine.threads.refs import no_namespace
    from retrograph.engine.views.shapes import newest, tree_shape

    if limit is not None and limit < 1:
        raise UsageError(f"--limit takes a number from 1 on, not {limit}.")
    with opened(source, as_json, no_redact) as session:
        found, key = session.locate(ref, thread)
        history = found.history
        if ns is None and key.ns:
            ns = key.ns
        if ns is not None and not history.span(ns):
            raise RefError(no_namespace(key.thread_id, ns, history))
        kept = None if limit is None else newest(history, ns, limit)
        with talk.Progress("reading {:,} checkpoints · Ctrl-C stops") as progress:
            if as_json:
                document = tree_shape(found, ns, limit, orphans, progress.at, session.redactor)
                sources = {(c["ns"], c["id"]): c["source"] for c in document["checkpoints"]}
            else:
                from retrograph.cli.draw.treedata import read_tree

                data = read_tree(found, ns, kept, progress.at)
                sources = {key: envelope.source for key, envelope in data.envelopes.items()}
        # All is read before anything is printed: what cannot be read leaves stdout empty.
        left_over = found.orphans()
        if as_json:
            session.out.document(document)
        else:
            from retrograph.cli.draw.tree import tree_lines

            listed = left_over if orphans else None
            session.out.lines(tree_lines(session, found, key, ns, kept, data, listed))
        total = len(history if ns is None else history.span(ns))
        if kept is not None and len(kept) < total:
            talk.say(f"Only the newest {len(kept):,} of {total:,} checkpoints are shown.")
        _remarks(found, sources, 0 if orphans else sum(rows for _, _, rows in left_over))


def _remarks(thread: Thread, sources: Mapping[tuple[str, str], str | None], left_over: int) -> None:
    """Say what is odd about the thread. `left_over`: writes without a checkpoint."""
    from retrograph.cli import talk
    from retrograph.engine.tree.gaps import after_gaps, explain

    history = thread.history
    for problem in history.problems():
        talk.say(problem)

    def source(i: int) -> str | None:
        return sources.get((history.ns(i), history.ids[i]))

    if gaps := after_gaps(history, range(len(history)), source):
        talk.say(explain(len(gaps)))
    if left_over:
        writes = "1 write is" if left_over == 1 else f"{left_over:,} writes are"
        talk.say(f"{writes} of checkpoints that are not in the store; --orphans lists them.")
