"""Options that commands which run the graph have in common."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from retrograph.cli.running.tellers import Teller
    from retrograph.cli.session import Session
    from retrograph.engine.replay.asked import Asked
    from retrograph.engine.serde import Serde
    from retrograph.loaders.project import Config

Origin = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="SOURCE",
        help="Of a sandbox: where it is from, when that has moved or needs credentials.",
        show_default=False,
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
JsonLines = Annotated[
    bool,
    typer.Option("--jsonl", help="Print events while it runs, one JSON object a line; last `end`."),
]
Messages = Annotated[
    bool,
    typer.Option(
        "--messages",
        help="Show what models say as they say it; it makes chat models stream.",
    ),
]
Stub = Annotated[
    list[str] | None,
    typer.Option(
        "--stub",
        metavar="NODE=JSON",
        help='NODE does not run but gives this; {"$goto": …, "$update": …} is a Command.',
        show_default=False,
    ),
]
Recorded = Annotated[
    list[str] | None,
    typer.Option(
        "--recorded",
        metavar="NODE",
        help="NODE does not run but gives what it gave on the original line; a node of a sub-graph "
        "is sub:node.",
        show_default=False,
    ),
]
Live = Annotated[
    list[str] | None,
    typer.Option(
        "--live",
        metavar="NODE",
        help="NODE runs, also where the configuration names its side effects.",
        show_default=False,
    ),
]
PauseBefore = Annotated[
    list[str] | None,
    typer.Option("--pause-before", metavar="NODE", help="Hold before NODE.", show_default=False),
]


def policies(
    stub: Sequence[str] | None,
    recorded: Sequence[str] | None,
    live: Sequence[str] | None,
    pause_before: Sequence[str] | None,
    config: Config,
) -> Asked:
    """What is asked of nodes. Raises `UsageError`."""
    from retrograph.engine.replay.asked import Asked

    return Asked(
        stubs=stubs(stub),
        recorded=tuple(recorded or ()),
        live=tuple(live or ()),
        pause_before=tuple(pause_before or ()),
        side_effects=config.settings.side_effects,
    )


def stubs(given: Sequence[str] | None) -> dict[str, Any]:
    """`NODE=JSON`, parsed. Raises `UsageError`."""
    from retrograph.engine.edits.plan import json_or_word
    from retrograph.engine.errors import UsageError

    found = {}
    for text in given or ():
        node, equals, value = text.partition("=")
        if not (equals and node):
            raise UsageError(f"--stub takes NODE=JSON, not '{text}'.")
        found[node] = json_or_word(value, f"--stub {node}")
    return found


def check_messages(messages: bool, json: bool, jsonl: bool) -> None:
    """Raises `UsageError` where nobody would see what models say."""
    from retrograph.engine.errors import UsageError

    if messages and json and not jsonl:
        raise UsageError(
            "--messages shows text as it comes, and --json prints one document: take --jsonl."
        )


def someone_asks(json: bool, yes: bool) -> bool:
    """Whether somebody sits at the terminal and wants to be asked."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return not (json or yes) and all(s is not None and s.isatty() for s in streams)


def teller_of(session: Session, serde: Serde, jsonl: bool) -> Teller:
    """Who is told of the run."""
    from retrograph.cli.running.tellers import Nobody, Person, Program

    if jsonl:
        return Program(session.out, session.redactor, serde)
    if session.out.json:
        return Nobody()
    return Person(session.out, session.redactor, serde)
