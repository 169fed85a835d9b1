"""The environment that a host runs in: the user's, less what would change its Python."""

from __future__ import annotations

from collections.abc import Mapping

_DROPPED = (
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONSAFEPATH",  # would take the project's folder off the path
    "PYTHONINSPECT",
    "PYTHONEXECUTABLE",
    "__PYVENV_LAUNCHER__",
)
TRACING = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2")
"""What switches LangSmith's tracing on."""


def environment(
    base: Mapping[str, str],
    defaults: Mapping[str, str] | None = None,
    stated: Mapping[str, str] | None = None,
    trace: bool = False,
) -> dict[str, str]:
    """The host's environment: `base`, `defaults` where it says nothing (the project's `.env`),
    `stated` over all (`--env-file`, langgraph.json). Without `trace`, tracing is off."""
    merged = {**(defaults or {}), **base, **(stated or {})}
    for name in _DROPPED:
        merged.pop(name, None)
    if not trace:
        merged.pop("LANGCHAIN_TRACING", None)
        merged.update(dict.fromkeys(TRACING, "false"))
    return merged
