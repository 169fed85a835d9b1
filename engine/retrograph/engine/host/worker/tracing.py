"""LangSmith's tracing, switched off: by the environment, which user code may have set again while
it was imported, and by its context, which outweighs that."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

_SWITCHES = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2")


def off() -> None:
    """Switch it off in the environment, and forget what was read of it."""
    for name in _SWITCHES:
        os.environ[name] = "false"
    utils = sys.modules.get("langsmith.utils")
    for name in ("get_env_var", "get_tracer_project"):
        clear = getattr(getattr(utils, name, None), "cache_clear", None)
        if clear is not None:
            clear()


@contextlib.contextmanager
def context(trace: bool) -> Any:
    """Run with tracing as the user asked for it."""
    if trace:
        yield
        return
    off()
    try:
        from langsmith.run_helpers import tracing_context
    except Exception:
        yield
        return
    with tracing_context(enabled=False):
        yield
