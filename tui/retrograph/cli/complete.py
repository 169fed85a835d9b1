"""Completion in bash, zsh and fish: what a shell asks while a line is typed.

A shell's script (`shells`) sets `_RETROGRAPH_COMPLETE` and passes the words so far. The answer is
one word, `files` (let the shell complete a path) or `words`, then a line for each candidate:
its text, a tab, what it is. Nothing is said on errors, and nothing is written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from retrograph.cli.names import EVERYWHERE

_MANY = 100
"""Candidates of one kind that are offered at most."""


class Answer(NamedTuple):
    """What may stand at the cursor."""

    files: bool
    candidates: Sequence[tuple[str, str]] = ()
    """(text, what it is)."""


def answer(shell: str, arguments: Sequence[str]) -> int:
    """Print the answer to a shell's question; always 0."""
    try:
        if shell == "bash":
            from retrograph.cli.shells import bash_words

            words, strip = bash_words(*arguments)
        else:
            words, strip = list(arguments[1:]) or [""], 0
        found = complete(words)
        lines = ["files" if found.files else "words"]
        for text, what in found.candidates:
            if text.startswith(words[-1]) and text.isprintable():
                if shell == "bash":
                    from retrograph.cli.shells import bash_quoted

                    lines.append(bash_quoted(text[strip:]))
                else:
                    lines.append(f"{text}\t{what}")
        sys.stdout.buffer.write(("\n".join(lines) + "\n").encode("utf-8", "replace"))
        sys.stdout.flush()
    except BaseException:
        pass
    return 0


def complete(words: Sequence[str]) -> Answer:
    """What may stand in place of the last of `words` (those after the program's name)."""
    from retrograph.cli.group import root

    *before, current = words
    while before and before[0] in EVERYWHERE:
        before.pop(0)
    command: Any = root()
    context = command.context_class(command, info_name="retrograph")
    while hasattr(command, "list_commands"):
        if not before:
            if current.startswith("-"):
                return Answer(False, list(_options(command, context)))
            return Answer(False, list(_commands(command, context)))
        command = command.get_command(context, before.pop(0))
        if command is None:
            return Answer(False)
    return _of_command(command, context, before, current)


def _commands(group: Any, context: Any) -> Iterator[tuple[str, str]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            yield name, command.get_short_help_str(80)


def _options(command: Any, context: Any) -> Iterator[tuple[str, str]]:
    for option in command.get_params(context):
        if option.param_type_name == "option" and not option.hidden:
            yield option.opts[0], (option.help or "").split(": ")[0]


def _of_command(command: Any, context: Any, before: list[str], current: str) -> Answer:
    parameters = command.get_params(context)
    options = {name: p for p in parameters if p.param_type_name == "option" for name in p.opts}
    given: dict[str, str] = {}
    places = [p for p in parameters if p.param_type_name == "argument"]
    place, awaited, literal = 0, None, False
    for word in before:
        if awaited is not None:
            given[awaited.name], awaited = word, None
        elif word == "--":
            literal = True
        elif word.startswith("-") and not literal:
            option = options.get(word)
            awaited = option if option is not None and not option.is_flag else None
        elif place < len(places):
            given[places[place].name] = word
            place += 1
    if awaited is not None:
        return _value(awaited, given, current)
    if current.startswith("-") and not literal:
        return Answer(False, list(_options(command, context)))
    return _value(places[place], given, current) if place < len(places) else Answer(False)


def _value(parameter: Any, given: dict[str, str], current: str) -> Answer:
    choices = getattr(parameter.type, "choices", None)
    if choices is not None:
        return Answer(False, [(str(getattr(c, "value", c)), "") for c in choices])
    if parameter.name in ("source", "folder", "other", "values", "env_file", "save_test", "origin"):
        return Answer(True)
    if parameter.name in ("ref", "second", "thread", "line"):
        return Answer(False, _threads(given.get("source"), current))
    if parameter.name == "ns":
        return Answer(False, _namespaces(given))
    return Answer(False)


def _threads(source: str | None, current: str) -> list[tuple[str, str]]:
    """Thread ids that begin so; of a thread that is there, its checkpoints after the `@`."""
    from retrograph.engine.model import ThreadQuery
    from retrograph.engine.threads.lookup import LoaderIndex

    loader = _open(source)
    try:
        rows = loader.threads(ThreadQuery(limit=_MANY, prefix=current))
        found = [
            (row.thread_id, f"{row.checkpoints} checkpoints")
            for row in islice(rows, _MANY)
            if row.thread_id.startswith(current)
        ]
        name, at, _ = current.rpartition("@")
        if not found and at:
            index = LoaderIndex(loader)
            if index.has(name):
                found = list(_points(name, index))
        return found
    finally:
        loader.close()


def _open(source: str | None) -> Any:
    from retrograph.loaders.project import load_config
    from retrograph.loaders.registry import open_source

    return open_source(source, configured=load_config().settings.source)


def _points(name: str, index: Any) -> Iterator[tuple[str, str]]:
    from retrograph.engine.threads.refs import short_length

    history = index.history(name)
    length = short_length(history.ids)
    yield f"{name}@root", "the first checkpoint"
    for i in list(history.span(""))[: -_MANY - 1 : -1]:
        yield f"{name}@{history.ids[i][-length:]}", f"step {history.step(i)}"


def _namespaces(given: dict[str, str]) -> list[tuple[str, str]]:
    from retrograph.engine.threads.lookup import LoaderIndex
    from retrograph.engine.threads.refs import parse

    loader = _open(given.get("source"))
    try:
        index = LoaderIndex(loader)
        thread_id = parse(given.get("ref"), index.has, given.get("thread")).thread_id
        return [(ns, "") for ns in index.history(thread_id).namespaces() if ns][:_MANY]
    finally:
        loader.close()


def script_for(arguments: Sequence[str]) -> int:
    """`--show-completion [SHELL]` prints a shell's script, `--install-completion [SHELL]` puts
    it where that shell finds it. Without a name: the shell of `$SHELL`."""
    from retrograph.cli import talk
    from retrograph.cli.shells import SCRIPTS, install
    from retrograph.engine.errors import UsageError

    action, *rest = arguments
    shell = rest[0] if rest else os.path.basename(os.environ.get("SHELL", ""))  # noqa: PTH119
    if shell not in SCRIPTS or len(rest) > 1:
        raise UsageError(f"Completion is there for {', '.join(SCRIPTS)}: retrograph {action} bash")
    if action == "--show-completion":
        sys.stdout.write(SCRIPTS[shell])
        return talk.DONE
    for sentence in install(shell):
        sys.stdout.write(sentence + "\n")
    return talk.DONE
