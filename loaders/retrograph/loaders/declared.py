"""langgraph.json: the graphs that it declares, and what holds where they are run.

Its format is that of LangGraph's command line (`langgraph_cli/schemas.py`). Of it hold here: `env`,
the folders among `dependencies`, and the classes that `checkpointer.serde` allows. A checkpointer
or store of its own is not made, since a run must touch nothing; that is said, and so is another
Python than the one that it asks for. What is only of a server (`auth`, `http`, `ttl`, …) is passed
over.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrograph.engine.errors import ConfigError, GraphError

LANGGRAPH_JSON = "langgraph.json"
_ALLOWED = ("allowed_msgpack_modules", "allowed_json_modules")


@dataclass(frozen=True, slots=True)
class Declared:
    """A langgraph.json. Properties raise `ConfigError`, in one sentence, where it is not as
    LangGraph has it."""

    path: Path
    graphs: Mapping[str, str]
    """Name to `path:attribute`."""
    data: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def folders(self) -> tuple[str, ...]:
        """Local dependencies, which LangGraph's server puts onto the path."""
        folders = [self.folder / name for name in self._dependencies() if self._is_folder(name)]
        return tuple(str(folder.resolve()) for folder in folders)

    @property
    def env(self) -> tuple[Mapping[str, str], Path | None]:
        """Variables that it states, or the file that it names."""
        stated = self.data.get("env")
        if isinstance(stated, dict):
            for name, value in stated.items():
                if isinstance(value, bool) or not isinstance(value, (str, int, float)):
                    raise self._wrong(f"env.{name}", "text")
            return {name: str(value) for name, value in stated.items()}, None
        if stated is None or stated == "":
            return {}, None
        if not isinstance(stated, str):
            raise self._wrong("env", "the path of a file, or a table of names and texts")
        path = self.folder / stated
        if not os.path.isfile(path):  # noqa: PTH113 - of any text
            raise ConfigError(f"There is no {path}, which {self.path} names as `env`.")
        return {}, path

    @property
    def allow(self) -> tuple[str, ...]:
        """Classes, as module.Class, that may be made of stored values."""
        serde = self._serde()
        return tuple(
            dict.fromkeys(
                ".".join(parts) for key in _ALLOWED for parts in self._names(serde.get(key), key)
            )
        )

    @property
    def python_version(self) -> str | None:
        """The Python that it asks for: `3.12`."""
        stated = self.data.get("python_version")
        if stated is None:
            return None
        found = re.match(r"(\d+\.\d+)(-\w+)?$", stated) if isinstance(stated, str) else None
        if found is None:
            raise self._wrong("python_version", 'text such as "3.12"')
        return found[1]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its server does and a run here does not, a sentence each."""
        return tuple(self._differences())

    def _differences(self) -> Iterator[str]:
        for name in self._dependencies():
            if name.startswith(".") and not self._is_folder(name):
                yield f"{self.path} names {name} as a dependency, which is no folder."
        saver = self._path("checkpointer")
        if saver is not None:
            yield (
                f"The checkpointer of {self.path.name} ({saver}) is not used: what the run saves "
                "goes to its sandbox."
            )
        serde = self._serde()
        if any(serde.get(key) is True for key in _ALLOWED):
            yield (
                f"{self.path.name} lets stored values make any class; here they make data classes "
                "of LangChain, LangGraph and the project, and what --allow names."
            )
        store = self._path("store")
        if store is not None:
            yield (
                f"The store of {self.path.name} ({store}) is not opened: nodes without a store of "
                "the graph's own get an empty one."
            )
        elif self._table("store").get("index"):
            yield (
                f"The store of {self.path.name} has an index; here nodes get an empty store that "
                "does not search by meaning."
            )

    def _dependencies(self) -> list[str]:
        stated = self.data.get("dependencies")
        if stated is None:
            return []
        if not isinstance(stated, list) or not all(isinstance(one, str) for one in stated):
            raise self._wrong("dependencies", "a list of texts")
        return stated

    def _is_folder(self, name: str) -> bool:
        return os.path.isdir(self.folder / name)  # noqa: PTH112 - a requirement is no path

    def _serde(self) -> Mapping[str, Any]:
        return self._table("checkpointer", "serde")

    def _names(self, stated: Any, key: str) -> list[list[str]]:
        """What one of the lists of classes holds."""
        if stated is None or isinstance(stated, bool):
            return []
        if not isinstance(stated, list) or not all(map(_is_class, stated)):
            raise self._wrong(
                f"checkpointer.serde.{key}",
                'true, null or a list of classes such as ["shop.models", "Order"]',
            )
        return stated

    def _path(self, table: str) -> str | None:
        stated = self._table(table).get("path")
        if stated is not None and not isinstance(stated, str):
            raise self._wrong(f"{table}.path", "text")
        return stated or None

    def _table(self, *keys: str) -> Mapping[str, Any]:
        table: Any = self.data
        for number, key in enumerate(keys, 1):
            table = table.get(key)
            if table is None:
                return {}
            if not isinstance(table, dict):
                raise self._wrong(".".join(keys[:number]), "a table")
        return dict(table)

    def _wrong(self, key: str, wanted: str) -> ConfigError:
        return ConfigError(f"`{key}` in {self.path} must be {wanted}.")


def find_declared(folder: Path) -> Declared | None:
    """The nearest langgraph.json upward. Raises `GraphError` when it cannot be read."""
    start = folder.resolve()
    for candidate in (start, *start.parents):
        path = candidate / LANGGRAPH_JSON
        if path.is_file():
            return _read(path)
    return None


def _read(path: Path) -> Declared:
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
    return Declared(path, found, data)


def _is_class(stated: Any) -> bool:
    """A module's name, whole or in parts, and a class's."""
    return (
        isinstance(stated, list)
        and len(stated) > 1
        and all(isinstance(part, str) and part for part in stated)
    )
