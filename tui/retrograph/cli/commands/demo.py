"""`retrograph demo`: a store to try everything on."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from retrograph.cli.help import Command, Debug, Json, NoRedact, examples, new_app

app = new_app()


@app.command(
    cls=Command, epilog=examples("retrograph demo shop", "retrograph threads shop/demo.db")
)
def demo(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]",
            help="Where to make it; unsaid: in the user's data folder.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    debug: Debug = False,
    no_redact: NoRedact = False,
) -> int | None:
    """Make a demo store and look into it.

    A small shop's support agent, its graph beside its store: conditional routes, tools, parallel
    nodes, a sub-graph, open questions, a failed and a killed thread, and forks.

    Opens the app on its main thread; without a terminal it prints what `tree` prints.
    """
    from retrograph.cli import talk
    from retrograph.cli.demo import default_folder, make_demo
    from retrograph.cli.look import at_a_terminal, look

    with talk.Progress("making the demo") as progress:
        progress.at()
        info = make_demo(folder if folder is not None else default_folder())
    if info.made:
        talk.say(f"Made {info.db} with its graph {info.graph}.")
    more = f"More of it: retrograph threads {shlex.quote(str(info.db))}"
    if not json and at_a_terminal():
        code = look(str(info.db), info.thread, no_redact)
        talk.say(more)
        return code
    from retrograph.cli.commands.tree import print_tree

    print_tree(str(info.db), None, info.thread, as_json=json, no_redact=no_redact)
    talk.say(more)
    return None
