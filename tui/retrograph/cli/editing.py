"""A state edited as text, in the editor that the user has."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from retrograph.engine.edits.plan import differing
from retrograph.engine.edits.yamlform import commented, from_yaml, to_yaml
from retrograph.engine.errors import (
    Cancelled,
    DecodeError,
    HostDiedError,
    HostError,
    RefError,
    RetrographError,
    UsageError,
)
from retrograph.engine.text import escape
from retrograph.engine.values import Value, equal, from_json
from retrograph.engine.views.redact import Redactor
from retrograph.engine.views.shown import shown_state

T = TypeVar("T")
_MARK = "# ! "
_MISTAKES = (UsageError, RefError, DecodeError, HostError)


def edited(
    values: Mapping[str, Value],
    title: Sequence[str],
    redactor: Redactor,
    use: Callable[[Mapping[str, object]], T],
) -> T:
    """Let the user edit values by channel; `use` gets those that changed, as JSON.

    Where it, or the text, is mistaken, the editor comes back with the text kept and the reason on
    top. Raises `Cancelled` where nothing was changed, and the mistake itself where the text came
    back as it was.
    """
    shown = shown_state(values, redactor)
    body = to_yaml(shown)
    head = commented(
        [
            *title,
            "Channels that you leave out stay as they are. Save and close to go on;",
            "leave everything as it is to cancel.",
        ]
    )
    with tempfile.TemporaryDirectory(prefix="retrograph-edit-") as folder:
        path = Path(folder) / "state.yaml"
        path.touch(mode=0o600)
        text = head + body
        mistake: RetrographError | None = None
        while True:
            path.write_text(_told(mistake) + text, "utf-8", "surrogatepass")
            _run_editor(path)
            new = _untold(path.read_text("utf-8", "surrogatepass"))
            if mistake is not None and new == text:
                raise mistake
            text = new
            try:
                changed = _changed(from_yaml(text, "What you wrote"), values, shown)
                if not changed:
                    raise Cancelled("Nothing was changed.")
                return use(changed)
            except HostDiedError:
                raise
            except _MISTAKES as error:
                mistake = error


def _changed(
    written: Mapping[str, object], values: Mapping[str, Value], shown: Mapping[str, Value]
) -> dict[str, object]:
    read = {name: from_json(value, like=shown.get(name)) for name, value in written.items()}
    names = set(differing({n: shown[n] for n in read if n in shown}, read))
    for name in sorted(names):
        if name in values and not equal(values[name], shown[name]):
            raise UsageError(
                f"Parts of '{name}' are hidden, so it cannot be edited as a whole: use "
                "--no-redact, or --set the part."
            )
    return {name: value for name, value in written.items() if name in names}


def _told(mistake: RetrographError | None) -> str:
    return "" if mistake is None else f"{_MARK}{escape(str(mistake))}\n"


def _untold(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(_MARK))


def _run_editor(path: Path) -> None:
    command = _editor()
    try:
        code = subprocess.run([*command, str(path)], check=False).returncode
    except OSError as error:
        raise UsageError(f"The editor {command[0]} cannot be run: {error.strerror}.") from error
    if code:
        raise Cancelled(f"The editor {command[0]} ended with code {code}.")


def _editor() -> list[str]:
    """$VISUAL, $EDITOR, or one that is there."""
    stated = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if stated:
        try:
            return shlex.split(stated)
        except ValueError as error:
            raise UsageError(f"$EDITOR cannot be understood: {error}.") from error
    found = next((name for name in ("nano", "vim", "vi") if shutil.which(name)), None)
    if found is None:
        raise UsageError("There is no editor: set $EDITOR.")
    return [found]
