"""`retrograph open`: look around in a store."""

from __future__ import annotations

from typing import Annotated

import typer

from retrograph.cli.help import (
    Command,
    Debug,
    Json,
    MaybeSource,
    NoRedact,
    ThreadOption,
    examples,
    new_app,
)
from retrograph.cli.hosting import Allow, ConfigOption, EnvFile, FoldGraph, Python

app = new_app()


@app.command(
    "open",
    cls=Command,
    epilog=examples("retrograph open demo.db", "retrograph open demo.db --thread order-4412"),
)
def open_source(
    source: MaybeSource = None,
    thread: ThreadOption = None,
    theme: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How the app looks: dark, light, terminal or contrast.",
            show_default=False,
        ),
    ] = None,
    ascii: Annotated[
        bool, typer.Option("--ascii", help="Draw with characters that every terminal has.")
    ] = False,
    no_mouse: Annotated[
        bool, typer.Option("--no-mouse", help="Leave the mouse to the terminal, to select text.")
    ] = False,
    graph: FoldGraph = None,
    python: Python = None,
    config: ConfigOption = None,
    env_file: EnvFile = None,
    allow: Allow = None,
    json: Json = False,
    debug: Debug = False,
    no_redact: NoRedact = False,
) -> int | None:
    """Look into a store: its threads, or the tree of one.

    Opens the app; without a terminal it prints what `threads` prints, or with --thread `tree`.
    """
    from retrograph.cli.hosting import options
    from retrograph.cli.look import Looks, at_a_terminal, look

    if not json and at_a_terminal():
        stated = options(graph, python, config, None, env_file, None, allow)
        return look(source, thread, no_redact, Looks(theme, ascii, not no_mouse), stated)
    if thread is None:
        from retrograph.cli.commands.threads import Asked, list_threads

        list_threads(source, Asked(), json, no_redact)
    else:
        from retrograph.cli.commands.tree import print_tree

        print_tree(source, None, thread, as_json=json, no_redact=no_redact)
    return None
