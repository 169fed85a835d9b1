"""How commands are declared: arguments and options that several have, and their help.

Every help text ends in examples that can be run as they stand beside the demo's store.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def examples(*commands: str) -> str:
    """The end of a help text: commands to try."""
    return "\b\nExample:\n" + "\n".join(f"  {command}" for command in commands)


class Command(TyperCommand):
    """A command whose usage line names required arguments without braces."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


def new_app() -> typer.Typer:
    """An application for one command, or one group of them."""
    return typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=CONTEXT,
    )


_SOURCE = "What to open: a SQLite file, a postgresql:// URL, sandbox:ID, or `.` for what is here."
_REF = (
    "Which checkpoint: a thread id (its head), or THREAD@END with the end of a checkpoint id, "
    "THREAD@step:N, THREAD@root; THREAD::NAMESPACE@…; ~N after it goes N parents up."
)

Source = Annotated[str, typer.Argument(metavar="SOURCE", help=_SOURCE, show_default=False)]
MaybeSource = Annotated[
    str | None, typer.Argument(metavar="[SOURCE]", help=_SOURCE, show_default=False)
]
Ref = Annotated[str | None, typer.Argument(metavar="REF", help=_REF, show_default=False)]
ThreadOption = Annotated[
    str | None,
    typer.Option(
        "--thread",
        metavar="T",
        help="The thread, whatever its id looks like; REF then only says where: @…, ::NS@…, ~N.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
NoRedact = Annotated[
    bool, typer.Option("--no-redact", help="Show credentials in metadata and locations.")
]
