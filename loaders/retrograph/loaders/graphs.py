"""Which graph is meant: `path.py:attr`, `module:attr`, a name in langgraph.json, or the only one.

Found by reading files; nothing is imported. langgraph.json's format: LangGraph's CLI reference.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from retrograph.engine.errors import ConfigError, GraphError
from retrograph.engine.host.target import GraphTarget
from retrograph.engine.text import cut

LANGGRAPH_JSON = "langgraph.json"
_JAVASCRIPT = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx")
_HOW = "name one with --graph path.py:attribute or --graph module:attribute, or set `graph`"


@dataclass(frozen=True, slots=True)
class FoundGraph:
    """A graph, and the project that it belongs to."""

    target: GraphTarget
    project: Path
    """Where its process runs: the nearest folder upward with langgraph.json or pyproject.toml."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables that langgraph.json states."""
    env_file: Path | None = None
    """A file of variables that langgraph.json names."""


@dataclass(frozen=True, slots=True)
class _Declared:
    """A langgraph.json."""

    path: Path
    graphs: Mapping[str, str]
    """Name to `path:attribute`."""
    data: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        return self.path.parent


def looks_like_graph(text: str) -> bool:
    """Whether a word has the form `path.py:attr` or `module:attr`."""
    where, colon, attribute = text.rpartition(":")
    return bool(colon and where) and all(part.isidentifier() for part in attribute.split("."))


def find_graph(stated: str | None, folder: Path) -> FoundGraph:
    """The graph that `stated` names as seen from `folder`; `None`: the only one of langgraph.json.

    Raises `GraphError`, in one sentence.
    """
    if stated is None:
        return _only_one(folder)
    if looks_like_graph(stated):
        where, _, attribute = stated.rpartition(":")
        return _at(where, attribute, stated, folder)
    declared = _declared(folder)
    if declared is not None and stated in declared.graphs:
        return _declared_graph(declared, stated)
    raise GraphError(_no_such(stated, declared, folder))


def project_of(folder: Path) -> Path:
    """The nearest folder upward with langgraph.json or pyproject.toml; else the folder itself."""
    for candidate in (folder, *folder.parents):
        if (candidate / LANGGRAPH_JSON).is_file() or (candidate / "pyproject.toml").is_file():
            return candidate
    return folder


def _only_one(folder: Path) -> FoundGraph:
    declared = _declared(folder)
    if declared is None:
        raise GraphError(f"There is no {LANGGRAPH_JSON} here, so which graph is meant? {_HOW}.")
    if not declared.graphs:
        raise GraphError(f"{declared.path} names no graph; {_HOW}.")
    if len(declared.graphs) > 1:
        names = ", ".join(declared.graphs)
        raise GraphError(f"{declared.path} has several graphs ({names}): say which with --graph.")
    return _declared_graph(declared, next(iter(declared.graphs)))


def _at(where: str, attribute: str, shown: str, folder: Path) -> FoundGraph:
    """A graph by its file or its module."""
    if where.endswith(_JAVASCRIPT):
        raise GraphError(f"{shown} is JavaScript; Retrograph runs graphs of Python only.")
    path = Path(where).expanduser()
    if where.endswith(".py") or "/" in where:
        path = folder / path
        if not path.is_file():
            raise GraphError(f"There is no file {path} ({shown}).")
        path = path.resolve()
        return FoundGraph(GraphTarget(shown, attribute, path=str(path)), project_of(path.parent))
    if not all(part.isidentifier() for part in where.split(".")):
        raise GraphError(f"{shown} is neither path.py:attribute nor module:attribute.")
    return FoundGraph(GraphTarget(shown, attribute, module=where), project_of(folder.resolve()))


def _declared(folder: Path) -> _Declared | None:
    """The nearest langgraph.json upward. Raises `GraphError` when it cannot be read."""
    start = folder.resolve()
    for candidate in (start, *start.parents):
        path = candidate / LANGGRAPH_JSON
        if path.is_file():
            return _read(path)
    return None


def _read(path: Path) -> _Declared:
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise GraphError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise GraphError(f"{path} is not valid JSON: {error}.") from error
    graphs = data.get("graphs") if isinstance(data, dict) else None
    if not isinstance(graphs, dict):
        raise GraphError(f"{path} has no table `graphs`.")
    found: dict[str, str] = {}
    for name, stated in graphs.items():
        where = stated.get("path") if isinstance(stated, dict) else stated
        if not isinstance(where, str):
            raise GraphError(f"{path} does not say where the graph '{name}' is.")
        found[name] = where
    return _Declared(path, found, data)


def _declared_graph(declared: _Declared, name: str) -> FoundGraph:
    where, colon, attribute = declared.graphs[name].rpartition(":")
    shown = f"{name} ({where}:{attribute})"
    if where.endswith(_JAVASCRIPT):
        raise GraphError(
            f"The graph '{name}' of {declared.path} is JavaScript ({where}); "
            "Retrograph runs graphs of Python only."
        )
    if not colon:
        raise GraphError(
            f"The graph '{name}' of {declared.path} must be path:attribute, "
            f"not {cut(declared.graphs[name], 80)!r}."
        )
    module: str | None = where
    path: str | None = None
    if "/" in where or where.endswith(".py"):
        file = declared.folder / where
        if not file.is_file():
            raise GraphError(f"The graph '{name}' of {declared.path}: there is no file {file}.")
        module, path = None, str(file.resolve())
    env, env_file = _env(declared)
    target = GraphTarget(
        shown, attribute, module=module, path=path, folders=_folders(declared), served=True
    )
    return FoundGraph(target, declared.folder, env, env_file)


def _folders(declared: _Declared) -> tuple[str, ...]:
    """Local dependencies, which LangGraph's server puts onto the path."""
    stated = declared.data.get("dependencies")
    folders = [declared.folder / str(one) for one in stated] if isinstance(stated, list) else []
    return tuple(str(folder.resolve()) for folder in folders if folder.is_dir())


def _env(declared: _Declared) -> tuple[Mapping[str, str], Path | None]:
    stated = declared.data.get("env")
    if isinstance(stated, dict):
        return {str(name): str(value) for name, value in stated.items()}, None
    if isinstance(stated, str) and stated:
        path = declared.folder / stated
        if not path.is_file():
            raise ConfigError(f"There is no {path}, which {declared.path} names as `env`.")
        return {}, path
    return {}, None


def _no_such(stated: str, declared: _Declared | None, folder: Path) -> str:
    from difflib import get_close_matches

    said = cut(stated, 80)
    if declared is None:
        if (folder / stated).is_file() and stated.endswith(".py"):
            return f"{said} is a file: which attribute of it is the graph? --graph {said}:NAME"
        return f"There is no graph '{said}': no {LANGGRAPH_JSON} here names one; {_HOW}."
    near = get_close_matches(stated, declared.graphs, n=1)
    names = ", ".join(declared.graphs) or "none"
    hint = f"did you mean '{near[0]}'?" if near else f"it has: {names}."
    return f"{declared.path} has no graph '{said}'; {hint}"
