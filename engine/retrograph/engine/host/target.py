"""Which graph a host loads, worked out by the loaders without importing anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class GraphTarget:
    """Where a graph is. Exactly one of `module` and `path` is given."""

    shown: str
    """As it is called in sentences: "agent.py:graph", "my_app.agent:make_graph"."""
    attribute: str
    """The name in the module; dots reach into it."""
    module: str | None = None
    path: str | None = None
    """A file, absolute."""
    folders: tuple[str, ...] = ()
    """Folders that are put onto the path: langgraph.json's local dependencies."""
    served: bool = False
    """It is of a langgraph.json: LangGraph's server gives it a store, where it has none."""

    def header(self) -> dict[str, Any]:
        """As the request `load` has it."""
        return {
            "shown": self.shown,
            "attribute": self.attribute,
            "module": self.module,
            "path": self.path,
            "folders": list(self.folders),
            "served": self.served,
        }


@dataclass(frozen=True, slots=True)
class Launch:
    """All that is needed to start a host and to load the graph in it."""

    python: str
    """The interpreter."""
    python_from: str
    """Who named it: "--python", "the project's .venv", …"""
    project: str
    """The folder in which it runs, which is first on its path."""
    target: GraphTarget
    environment: Mapping[str, str]
    """Of its process, whole."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """`--config`: as LangGraph's RunnableConfig, `configurable` and the like."""
    context: Any = None
    """`--context`: JSON; `None` where none is given."""
    recursion_limit: int | None = None
    allow: tuple[str, ...] = ()
    """Modules, or module.Class, whose objects may be made of stored data besides the usual."""
    trace: bool = False
    notes: tuple[str, ...] = ()
    """What is worth saying: interpreters that were passed over, and why."""
    python_version: str | None = None
    """The Python that langgraph.json asks for: `3.12`."""
    warnings: tuple[str, ...] = ()
    """What a run differs in from one of LangGraph's server, a sentence each."""
