"""Every command has a help text that ends in examples, every example runs, the README lists all."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.running import Run
from retrograph.cli.group import root
from retrograph.cli.names import COMMANDS

README = Path(__file__).parent.parent.parent / "README.md"


def commands() -> Iterator[tuple[str, Any]]:
    """(words, command) of all, groups and the program itself among them."""
    program = root()
    context = program.context_class(program)
    yield "", program
    for name in COMMANDS:
        command = program.get_command(context, name)
        yield name, command
        if hasattr(command, "list_commands"):
            for inner in command.list_commands(context):
                yield f"{name} {inner}", command.get_command(context, inner)


ALL = dict(commands())


def examples_of(command: Any) -> list[str]:
    found = re.fullmatch(r"\x08\nExample:\n((?:  retrograph .+\n?)+)", command.epilog or "")
    return [line.strip() for line in found[1].splitlines()] if found else []


@pytest.mark.parametrize("words", ALL)
def test_help(run: Run, words: str) -> None:
    command = ALL[words]
    done = run(*words.split(), "--help")
    assert done.code == 0
    assert command.help
    first = command.help.strip().splitlines()[0]
    assert len(first) < 66, "the list of commands cuts it"
    assert first.endswith(".")
    assert examples_of(command), "no example"
    assert done.out.rstrip().endswith(examples_of(command)[-1])
    for parameter in command.get_params(command.context_class(command)):
        assert parameter.help, parameter.name


@pytest.mark.parametrize("words", [words for words, c in ALL.items() if words and c.callback])
def test_options_of_every_command(words: str) -> None:
    if hasattr(ALL[words], "list_commands"):
        return
    names = {name for p in ALL[words].params for name in p.opts}
    assert {"--json", "--debug", "--no-redact"} <= names


@pytest.mark.parametrize("words", ALL)
def test_examples_run(run: Run, demo_folder: Path, words: str) -> None:
    for example in examples_of(ALL[words]):
        program, *call = shlex.split(example)
        assert program == "retrograph"
        done = run(*call)
        assert done.code == 0, done.err
        assert done.out


def test_the_readme_lists_every_command() -> None:
    rows = re.findall(r"^\| `retrograph ?([^`]*)`", README.read_text(), re.MULTILINE)
    listed = {" ".join(re.findall(r"^[a-z ]+", row)[:1]).strip() for row in rows}
    for words, command in ALL.items():
        if words and not hasattr(command, "list_commands"):
            assert words in listed, f"`retrograph {words}` is not in the README's table"
