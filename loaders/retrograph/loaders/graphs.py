"""Which graph is meant: `path.py:attr`, `module:attr`, a name in langgraph.json, or the only one.

Found by reading files; nothing is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from retrograph.engine.errors import GraphError
from retrograph.engine.host.target import GraphTarget
from retrograph.engine.text import cut
from retrograph.loaders.declared import LANGGRAPH_JSON, Declared, find_declared

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
    allow: tuple[str, ...] = ()
    """Classes, as module.Class, that langgraph.json lets stored values make."""
    python_version: str | None = None
    """The Python that langgraph.json asks for: `3.12`."""
    warnings: tuple[str, ...] = ()
    """What runs of it differ in from those of its server, a sentence each."""


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
    declared = find_declared(folder)
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
    declared = find_declared(folder)
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


def _declared_graph(declared: Declared, name: str) -> FoundGraph:
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
    env, env_file = declared.env
    target = GraphTarget(
        shown, attribute, module=module, path=path, folders=declared.folders, served=True
    )
    return FoundGraph(
        target,
        declared.folder,
        env,
        env_file,
        declared.allow,
        declared.python_version,
        declared.warnings,
    )


def _no_such(stated: str, declared: Declared | None, folder: Path) -> str:
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
