"""The program `retrograph`: which command is meant, and how everything ends.

`run` is the entry point. It answers `--version` and shell completion by itself, before anything
large is imported; each command's module is imported only when that command is run.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from retrograph.cli import talk
from retrograph.cli.look import at_a_terminal, look
from retrograph.cli.names import COMMANDS, EVERYWHERE
from retrograph.cli.plain import plain_open

if TYPE_CHECKING:
    from retrograph.engine.views.redact import Redactor

_OBJECTS = 200_000
_COMPLETE = "_RETROGRAPH_COMPLETE"


def run(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program and exit with its code (see `talk`)."""
    # Nearly nothing of what is imported and read becomes garbage: to look for it every 700 objects
    # takes a tenth of the time.
    gc.set_threshold(_OBJECTS, 20, 20)
    sys.exit(main(sys.argv[1:] if arguments is None else list(arguments)))


def main(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    if os.environ.get(_COMPLETE):
        from retrograph.cli.complete import answer

        return answer(os.environ[_COMPLETE], arguments)
    try:
        return _main(arguments)
    except (KeyboardInterrupt, EOFError):
        return talk.CANCELLED
    except Exception as error:
        return _ended(error, "--debug" in arguments, "--no-redact" in arguments)


def _main(arguments: list[str]) -> int:
    if arguments and arguments[0] in ("--version", "-V"):
        return _version()
    if arguments and arguments[0] in ("--install-completion", "--show-completion"):
        from retrograph.cli.complete import script_for

        return script_for(arguments)
    ordered = _ordered(arguments)
    plain = plain_open(ordered)
    if plain is not None and at_a_terminal():
        return look(plain.source, plain.thread, no_redact=False)
    from retrograph.cli.group import root

    code = root().main(ordered, prog_name="retrograph", standalone_mode=False)
    return code if isinstance(code, int) else talk.DONE


def _version() -> int:
    from importlib.metadata import version

    sys.stdout.write(f"retrograph {version('retrograph')}\n")
    return talk.DONE


def _ordered(arguments: list[str]) -> list[str]:
    """The arguments with the command first: `open` where none is named.

    Options of every command that stand before its name go to its end.
    """
    early = []
    rest = list(arguments)
    while rest and rest[0] in EVERYWHERE:
        early.append(rest.pop(0))
    if not rest:
        return ["open", *early]
    first = rest[0]
    if first.startswith("-"):
        return [*early, *rest] if first in ("--help", "-h") else ["open", *early, *rest]
    if first not in COMMANDS:
        _no_command(first)
    end = rest.index("--") if "--" in rest else len(rest)
    return [*rest[:end], *early, *rest[end:]]


def _no_command(word: str) -> NoReturn:
    from difflib import get_close_matches

    from retrograph.engine.errors import UsageError
    from retrograph.engine.text import cut

    near = get_close_matches(word, COMMANDS, n=1)
    if "://" in word or os.path.exists(word):  # noqa: PTH110 — also of what is no path at all
        hint = f"to look into it: retrograph open {word}"
    elif near:
        hint = f"did you mean '{near[0]}'?"
    else:
        hint = "`retrograph --help` lists them."
    raise UsageError(f"There is no command '{cut(word, 80)}'; {hint}")


def _ended(error: Exception, debug: bool, no_redact: bool) -> int:
    """Say what ended the command; returns the exit code."""
    from retrograph.cli.output import ReaderGoneError
    from retrograph.engine.errors import Cancelled, HostError, RetrographError

    if isinstance(error, ReaderGoneError):
        return talk.DONE
    if isinstance(error, Cancelled) or type(error).__name__ == "Abort":
        return talk.CANCELLED
    redactor = _redactor(no_redact)
    if debug:
        talk.show_traceback(error, redactor.location)
    if isinstance(error, RetrographError):
        talk.complain(redactor.location(str(error)))
        return talk.FAILED if isinstance(error, HostError) else talk.WRONG
    if hasattr(error, "format_message"):  # what Typer finds wrong with a call
        talk.complain(redactor.location(_usage(error)))
        return talk.WRONG
    talk.complain(
        redactor.location(f"Retrograph has a fault ({type(error).__name__}: {error})")
        + ("." if debug else "; --debug shows where.")
    )
    return talk.FAILED


def _redactor(no_redact: bool) -> Redactor:
    """For sentences about an error, which may be about the configuration itself."""
    from retrograph.engine.errors import RetrographError
    from retrograph.engine.views.redact import Redactor
    from retrograph.loaders.project import load_config

    try:
        return load_config().redactor(no_redact)
    except (RetrographError, OSError):
        return Redactor(enabled=not no_redact)


def _usage(error: Exception) -> str:
    """Typer's message as one sentence, with where help is."""
    message = " ".join(str(error.format_message()).split()).rstrip(".")  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "retrograph"
    return f"{message}; see `{command} --help`."
