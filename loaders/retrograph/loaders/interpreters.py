"""Which Python runs the user's graph: the first of several that has LangGraph.

Whether an environment has it is seen from its files; nothing is imported, and an interpreter is
only asked for its path where the files do not say.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from retrograph.engine.errors import GraphError

_NAMES = ("python", "python3")
_ASK = "import json, sys; print(json.dumps(sys.path))"


class Interpreter(NamedTuple):
    """A Python that has LangGraph."""

    path: str
    said_by: str
    """Who named it: "--python", "the configuration", ".venv", "VIRTUAL_ENV", "Retrograph's own"."""
    notes: tuple[str, ...]
    """One sentence for each that was passed over."""


def find_interpreter(
    project: Path,
    stated: str | None = None,
    configured: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Interpreter:
    """The interpreter for a project: `--python`, the configuration's, the project's own
    environment, the active one, Retrograph's own; of those that nobody named, the first with
    LangGraph.

    Raises `GraphError`, in one sentence.
    """
    environment = os.environ if environment is None else environment
    for name, said_by in ((stated, "--python"), (configured, "the configuration")):
        if name:
            return _named(name, said_by, project)
    notes: list[str] = []
    for python, said_by in _found(project, environment):
        if has_langgraph(python):
            return Interpreter(str(python), said_by, tuple(notes))
        notes.append(f"{python} ({said_by}) has no LangGraph: passed over.")
    passed = " ".join(notes)
    raise GraphError(
        "There is no Python with LangGraph here; name one with --python, or install langgraph in "
        f"the project's .venv. {passed}".rstrip()
    )


def _named(name: str, said_by: str, project: Path) -> Interpreter:
    """An interpreter that somebody named: by its path, its environment's folder, or its name."""
    path = Path(name).expanduser()
    if not path.is_absolute() and (os.sep in name or (project / path).exists()):
        path = project / path
    if path.is_dir():
        inside = _python_of(path)
        if inside is None:
            raise GraphError(f"{path} ({said_by}) is a folder without bin/python.")
        path = inside
    elif not path.is_absolute():
        found = shutil.which(name)
        if found is None:
            raise GraphError(f"There is no program {name} ({said_by}).")
        path = Path(found)
    if not path.exists():
        raise GraphError(f"There is no {path} ({said_by}).")
    if not os.access(path, os.X_OK):
        raise GraphError(f"{path} ({said_by}) is no program.")
    if not has_langgraph(path):
        raise GraphError(f"{path} ({said_by}) has no LangGraph; install langgraph there.")
    return Interpreter(str(path), said_by, ())


def _found(project: Path, environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """Interpreters that nobody named, the nearest first, each once."""
    seen: set[Path] = set()
    folders = [(project / name, f"the project's {name}") for name in (".venv", "venv", "env")]
    active = [name for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if environment.get(name)]
    folders += [(Path(environment[name]), name) for name in active]
    for folder, said_by in folders:
        python = _python_of(folder)
        if python is not None and python not in seen:
            seen.add(python)
            yield python, said_by
    own = Path(sys.executable)
    if sys.executable and own not in seen:
        yield own, "Retrograph's own"


def _python_of(folder: Path) -> Path | None:
    for name in _NAMES:
        python = folder / "bin" / name
        if os.access(python, os.X_OK):
            return python
    return None


def has_langgraph(python: Path) -> bool:
    """Whether an interpreter has LangGraph, by its files. A broken one has not."""
    if str(python) == sys.executable:
        return any(_holds_langgraph(Path(folder)) for folder in sys.path)
    # Not resolved: an environment's python is a link to the one that it was made from.
    prefix = python.parent.parent
    settings = _settings(prefix / "pyvenv.cfg")
    if settings is not None:
        folders = [*prefix.glob("lib*/python*/site-packages")]
        if any(_holds_langgraph(folder) for folder in folders):
            return True
        if settings.get("include-system-site-packages") != "true" and not any(
            next(folder.glob("*.pth"), None) for folder in folders
        ):
            return False
    return any(_holds_langgraph(Path(folder)) for folder in _path_of(python))


def _settings(path: Path) -> dict[str, str] | None:
    """What a pyvenv.cfg says; `None` where there is none."""
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return None
    pairs = (line.partition("=") for line in text.splitlines())
    return {name.strip().lower(): value.strip().lower() for name, _, value in pairs}


def _holds_langgraph(folder: Path) -> bool:
    """Whether a folder of packages holds LangGraph itself, not only a part of its namespace."""
    return (folder / "langgraph" / "pregel").is_dir()


def _path_of(python: Path) -> list[str]:
    """An interpreter's own path; empty where it does not start."""
    try:
        asked = subprocess.run(
            [str(python), "-I", "-c", _ASK],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=True,
        )
        found = json.loads(asked.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return []
    return [folder for folder in found if isinstance(folder, str)]
