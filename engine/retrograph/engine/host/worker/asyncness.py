"""Whether a graph can only run under asyncio, and why."""

from __future__ import annotations

import inspect
from typing import Any

from .isolate import subgraphs


def why_asynchronous(graph: Any) -> str | None:
    """In words: "node 'a' is async", "the router of 'b' is async", "the tool 'x' of 't' is async";
    `None` where the graph runs without asyncio."""
    for ns, inner in [("", graph), *subgraphs(graph)]:
        where = f" in '{ns}'" if ns else ""
        for name, node in inner.nodes.items():
            if name != "__start__" and _only_async(node.bound):
                return f"node '{name}'{where} is async"
            for tool_name, tool in (getattr(node.bound, "tools_by_name", None) or {}).items():
                if getattr(tool, "func", None) is None and getattr(tool, "coroutine", None):
                    return f"the tool '{tool_name}' of '{name}'{where} is async"
        branches = getattr(getattr(inner, "builder", None), "branches", None) or {}
        for name, routers in branches.items():
            if any(_only_async(router.path) for router in routers.values()):
                return f"the router of '{name}'{where} is async"
    return None


def _only_async(runnable: Any) -> bool:
    function = getattr(runnable, "func", None)
    return (function is None or inspect.iscoroutinefunction(function)) and (
        getattr(runnable, "afunc", None) is not None
    )
