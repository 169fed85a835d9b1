"""`retrograph diff`: what changed between two snapshots."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

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
    from collections.abc import Callable

    from retrograph.cli.session import Session
    from retrograph.engine.model import CheckpointKey
    from retrograph.engine.thread import Thread

app = new_app()


class Place(NamedTuple):
    """One side: a checkpoint and its state; `key` is `None` for what is before a root."""

    session: Session
    thread: Thread
    key: CheckpointKey | None
    values: dict[str, Any]


@app.command(
    cls=Command,
    epilog=examples(
        "retrograph diff demo.db order-4412",
        "retrograph diff demo.db order-4412@root order-4412~3 --json",
        "retrograph diff demo.db order-4412~4 order-4412 --side-by-side --channel messages",
    ),
)
def diff(
    source: Source,
    ref: Ref = None,
    second: Annotated[
        str | None,
        typer.Argument(
            metavar="[REF]",
            help="What is compared with it; without it, the first is compared with its parent.",
            show_default=False,
        ),
    ] = None,
    thread: ThreadOption = None,
    other: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="Where the second is; without a second REF, the same REF there.",
            show_default=False,
        ),
    ] = None,
    channel: Annotated[
        list[str] | None,
        typer.Option(metavar="C", help="Only this channel; more than once: each."),
    ] = None,
    context: Annotated[
        int, typer.Option(metavar="N", help="Unchanged entries to show beside each change.")
    ] = 0,
    side_by_side: Annotated[
        bool, typer.Option("--side-by-side", "-y", help="Old and new in two columns.")
    ] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 where anything differs.")
    ] = False,
    graph: FoldGraph = None,
    python: Python = None,
    config: ConfigOption = None,
    env_file: EnvFile = None,
    allow: Allow = None,
    json: Json = False,
    debug: Debug = False,
    no_redact: NoRedact = False,
) -> int:
    """Show what changed between two snapshots.

    Their values are compared part by part: list items are known again by their id or their
    content, so that a message that moved has moved and nothing else; of long texts the words that
    changed are shown. Of any two threads, namespaces and stores.
    """
    from retrograph.cli import talk
    from retrograph.cli.hosting import options
    from retrograph.cli.session import opened
    from retrograph.engine.diff.changes import changes_json
    from retrograph.engine.diff.changes import diff as compare
    from retrograph.engine.errors import RefError, UsageError
    from retrograph.engine.views.shown import shown_changes

    if context < 0:
        raise UsageError(f"--context takes a number from 0 on, not {context}.")
    with ExitStack() as stack:
        stated = options(graph, python, config, None, env_file, None, allow)

        def open_one(name: str) -> Session:
            return stack.enter_context(opened(name, json, no_redact, graph=stated))

        a, b = _places(open_one, source, (ref, second), thread, other)
        for name in channel or ():
            if name not in a.values and name not in b.values:
                there = ", ".join({**a.values, **b.values}) or "none"
                raise RefError(f"There is no channel '{name}' on either side; there are: {there}.")
        old, new = (_only(place.values, channel) for place in (a, b))
        redactor = a.session.redactor
        old, new, changes = shown_changes(old, new, compare(old, new), redactor)
        if json:
            sides = {"a": _side(a), "b": _side(b)}
            a.session.out.document(sides | {"changes": changes_json(changes)})
        else:
            from retrograph.cli.draw.diff import diff_lines

            a.session.out.lines(diff_lines(a, b, old, new, changes, context, side_by_side))
        if a.key is None:
            talk.say("This is a root: there is nothing before it, so all of it is new.")
        return talk.FAILED if exit_code and changes else talk.DONE


def _places(
    open_one: Callable[[str], Session],
    source: str,
    refs: tuple[str | None, str | None],
    thread: str | None,
    other: str | None,
) -> tuple[Place, Place]:
    """The two sides, the older one first where only one is named."""
    session = open_one(source)
    found, key = session.locate(refs[0], thread)
    if other is not None:
        theirs = open_one(other)
        second = theirs.locate(refs[1] if refs[1] is not None else refs[0], thread)
        return _place(session, found, key), _place(theirs, *second)
    if refs[1] is not None:
        return _place(session, found, key), _place(session, *session.locate(refs[1], thread))
    return _before(session, found, key), _place(session, found, key)


def _place(session: Session, thread: Thread, key: CheckpointKey) -> Place:
    return Place(session, thread, key, dict(thread.snapshot(key.ns, key.id).values))


def _before(session: Session, thread: Thread, key: CheckpointKey) -> Place:
    from retrograph.engine.errors import RefError
    from retrograph.engine.history import NONE

    history = thread.history
    i = history.find(key.ns, key.id)
    parent = history.parent(i)
    if parent != NONE:
        return _place(session, thread, key._replace(id=history.ids[parent]))
    if gone := history.parent_id(i):
        raise RefError(
            f"The parent of {key.id}, {gone}, is not in the store: name what to compare with."
        )
    return Place(session, thread, None, {})


def _only(values: dict[str, Any], channels: list[str] | None) -> dict[str, Any]:
    return {c: v for c, v in values.items() if not channels or c in channels}


def _side(place: Place) -> dict[str, Any] | None:
    if place.key is None:
        return None
    history = place.thread.history
    session, key = place.session, place.key
    return {
        "source": session.redactor.location(session.loader.location),
        "thread_id": key.thread_id,
        "ns": key.ns,
        "id": key.id,
        "step": history.step(history.find(key.ns, key.id)),
    }
