"""`retrograph open`: look around in a store."""

from __future__ import annotations

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

app = new_app()


@app.command(
    "open",
    cls=Command,
    epilog=examples("retrograph open demo.db", "retrograph open demo.db --thread order-4412"),
)
def open_source(
    source: MaybeSource = None,
    thread: ThreadOption = None,
    json: Json = False,
    debug: Debug = False,
    no_redact: NoRedact = False,
) -> int | None:
    """Look into a store: its threads, or the tree of one.

    Opens the app; without a terminal it prints what `threads` prints, or with --thread `tree`.
    """
    from retrograph.cli.look import at_a_terminal, look

    if not json and at_a_terminal():
        return look(source, thread, no_redact)
    if thread is None:
        from retrograph.cli.commands.threads import Asked, list_threads

        list_threads(source, Asked(), json, no_redact)
    else:
        from retrograph.cli.commands.tree import print_tree

        print_tree(source, None, thread, as_json=json, no_redact=no_redact)
    return None
