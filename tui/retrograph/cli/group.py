"""The Typer application, whose commands are imported when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from retrograph.cli.help import CONTEXT, examples
from retrograph.cli.names import COMMANDS


class LazyGroup(TyperGroup):
    """A group that knows its commands by name, and loads each on its own."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"retrograph.cli.commands.{cmd_name}")
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        return command


def root() -> Any:
    """The program's root command."""
    app = typer.Typer(
        cls=LazyGroup,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback(
        context_settings=CONTEXT,
        invoke_without_command=True,
        epilog=examples("retrograph threads demo.db", "retrograph tree demo.db order-4412"),
    )(_root)
    return typer.main.get_command(app)


def _root(
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version.")] = False,
    install: Annotated[
        bool,
        typer.Option(
            "--install-completion", help="Install completion for a shell: bash, zsh, fish."
        ),
    ] = False,
    show: Annotated[
        bool, typer.Option("--show-completion", help="Print the completion of a shell.")
    ] = False,
) -> None:
    """A time-travel debugger for LangGraph in the terminal.

    Opens the checkpoints that a graph has stored and shows what ran, where each route went, and
    what the values were. Looking never writes. Without a command: opens what is here.
    """
