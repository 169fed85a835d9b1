"""Which classes stored data may have made of it: data classes of the framework and the project.

LangGraph's serializer imports and calls whatever the bytes name. Here, of what they name, a
module is imported only if it is a data module of the framework, one of the project, or allowed by
the user; the attribute must be a class, itself at home in such a module, and a data class
(dataclass, Pydantic, attrs, enum, named tuple). Whatever else is refused with an exception, never
silently turned into something else. A class that is gone gives its fields, as in LangGraph.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import importlib
import inspect
import os
import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from .faults import is_users

SAFE: dict[str, set[str]] = {
    "builtins": {"set", "frozenset"},
    "collections": {"deque"},
    "datetime": {"datetime", "date", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "ipaddress": {
        "IPv4Address", "IPv4Interface", "IPv4Network",
        "IPv6Address", "IPv6Interface", "IPv6Network",
    },
    "pathlib": {"Path", "PosixPath", "WindowsPath", "PurePath", "PurePosixPath", "PureWindowsPath"},
    "pydantic.types": {"SecretStr", "SecretBytes"},
    "pydantic.v1.types": {"SecretStr", "SecretBytes"},
    "uuid": {"UUID"},
    "zoneinfo": {"ZoneInfo"},
    "langgraph.types": {
        "Send", "Command", "Interrupt", "Overwrite", "TimeoutPolicy", "StateSnapshot", "PregelTask",
    },
    "langgraph.store.base": {"Item", "SearchItem", "GetOp"},
}  # fmt: skip
SAFE["pathlib._local"] = SAFE["pathlib"]
"""Classes that may be made although some are no data classes: making one runs nothing."""

FRAMEWORK = (
    "langchain_core.messages",
    "langchain_core.documents",
    "langchain_core.outputs",
    "langchain_core.prompt_values",
    "langchain_core.agents",
    "langgraph.types",
    "langgraph.store.base",
    "langgraph.graph.message",
    "langgraph.prebuilt.interrupt",
)
"""Modules, with what is below them, whose data classes may be made."""


class RefusedError(Exception):
    """A stored value names something that may not be made; the message is the sentence."""


class GoneError(Exception):
    """The class is not there any more."""


class Gate:
    """Decides for one host. `allow`: modules, or `module.Class`, that the user allows."""

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self._allow = [name.replace(":", ".") for name in allow]
        self.aliases: dict[str, ModuleType] = {}
        """Names under which stored data knows a module that is loaded under another one:
        `__main__` of `python agent.py`."""
        self.made: set[str] = set()
        """The classes outside the fixed table that were made so far, as `module.Class`."""
        self._known: dict[tuple[str, str], Any] = {}

    def find(self, module: str, name: str) -> Any:
        """The class of that name. Raises `RefusedError` or `GoneError`."""
        key = (module, name)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._find(module, name)
        return found

    def _find(self, module: str, name: str) -> Any:
        if not isinstance(module, str) or not isinstance(name, str):
            raise RefusedError("A stored value names its class by something that is no text.")
        if name in SAFE.get(module, ()):
            try:
                return getattr(importlib.import_module(module), name)
            except (ImportError, AttributeError):
                raise GoneError(f"{module}.{name}") from None
        named = f"{module}.{name}" in self._allow
        if not named and not self._may_import(module):
            if _is_nowhere(module):
                raise GoneError(f"{module}.{name}")
            raise RefusedError(
                f"A stored value names {module}.{name}, which is no class of the project, "
                f"so it is not made; `--allow {module}` allows its data classes."
            )
        cls = self._attribute(module, name, named)
        if not inspect.isclass(cls):
            raise RefusedError(
                f"A stored value names {module}.{name}, which is no class: not called."
            )
        home = getattr(cls, "__module__", "")
        if not named and home != module and not self._at_home(home, cls.__name__):
            raise RefusedError(
                f"A stored value names {module}.{name}, which is {home}.{cls.__qualname__}: no "
                f"class of the project, so not made; `--allow {home}` allows its data classes."
            )
        if not named and not is_data(cls):
            raise RefusedError(
                f"A stored value names {module}.{name}, which is no data class, so it is not made; "
                f"`--allow {module}.{name}` allows it."
            )
        self.made.add(f"{home}.{cls.__qualname__}")
        return cls

    def _at_home(self, module: str, name: str) -> bool:
        return name in SAFE.get(module, ()) or self._may_import(module)

    def _may_import(self, module: str) -> bool:
        """Whether a module is the framework's, allowed, or the project's. Imports nothing."""
        if module in self.aliases:
            return True
        for root in (*FRAMEWORK, *self._allow):
            if module == root or module.startswith(root + "."):
                return True
        return is_users(_file(module) or "")

    def _attribute(self, module: str, name: str, named: bool) -> Any:
        loaded = self.aliases.get(module) or sys.modules.get(module)
        if loaded is None:
            file = _file(module)
            if file is None:
                raise GoneError(f"{module}.{name}")
            if is_users(file) and not named:
                # A module of the project that is only imported because data names it must at
                # least have such a class.
                has = _holds(file, name)
                if has is None:
                    raise GoneError(f"{module}.{name}")
                if not has:
                    raise RefusedError(
                        f"A stored value names {module}.{name}, which is no class of that module: "
                        "not called."
                    )
            try:
                loaded = importlib.import_module(module)
            except Exception:
                raise GoneError(f"{module}.{name}") from None
        try:
            return getattr(loaded, name)
        except AttributeError:
            raise GoneError(f"{module}.{name}") from None


def is_data(cls: type) -> bool:
    """Whether a class only holds data."""
    return (
        dataclasses.is_dataclass(cls)
        or isinstance(getattr(cls, "model_fields", None), dict)
        or isinstance(getattr(cls, "__pydantic_fields__", None), dict)
        or hasattr(cls, "__fields__")
        or hasattr(cls, "__attrs_attrs__")
        or issubclass(cls, enum.Enum)
        or (issubclass(cls, tuple) and hasattr(cls, "_fields"))
    )


def _file(module: str) -> str | None:
    """The file of a module, without importing it or what is above it; `None` where it has none."""
    loaded = sys.modules.get(module)
    if loaded is not None:
        return getattr(loaded, "__file__", None)
    path: list[str] | None = None
    spec: ModuleSpec | None = None
    name = ""
    for part in module.split("."):
        if not part.isidentifier():
            return None
        name = f"{name}.{part}" if name else part
        try:
            spec = PathFinder.find_spec(name, path)
        except Exception:
            return None
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or ())
    return spec.origin if spec is not None else None


def _is_nowhere(module: str) -> bool:
    """Whether there is nothing to import: the module has gone, or its package has."""
    top = module.partition(".")[0]
    if module in sys.modules or top in sys.builtin_module_names or not top.isidentifier():
        return False
    try:
        spec = PathFinder.find_spec(top)
    except Exception:
        return False
    if spec is None:
        return True
    below = [*(spec.submodule_search_locations or ()), spec.origin or ""]
    return (
        any(
            is_users(os.path.join(place, "x") if place != spec.origin else place)
            for place in below
            if place
        )
        and _file(module) is None
    )


def _holds(file: str, name: str) -> bool | None:
    """Whether a source file has a class of this name, or assigns something to it; False where the
    name is something else there, `None` where it is nothing."""
    if not file.endswith(".py"):
        return None
    try:
        with open(file, "rb") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return None
    other: bool | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return True
        if isinstance(node, ast.Assign):
            if any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
                return True
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            other = False if node.name == name else other
        elif isinstance(node, ast.alias) and (node.asname or node.name) == name:
            other = False
    return other
