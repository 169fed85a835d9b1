"""From what a person says of a graph to all that its process needs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrograph.engine.errors import UsageError
from retrograph.engine.host.environ import environment as host_environment
from retrograph.engine.host.target import Launch
from retrograph.loaders.dotenv import read_env
from retrograph.loaders.graphs import find_graph
from retrograph.loaders.interpreters import find_interpreter
from retrograph.loaders.project import Config

_CONFIG_KEYS = ("configurable", "metadata", "tags", "run_name", "max_concurrency")


@dataclass(frozen=True, slots=True)
class HostOptions:
    """What a person may say of the process that runs the graph, as words of a call."""

    graph: str | None = None
    """`path.py:attr`, `module:attr`, a name in langgraph.json."""
    python: str | None = None
    config: str | None = None
    """JSON."""
    context: str | None = None
    """JSON."""
    env_file: str | None = None
    recursion_limit: int | None = None
    allow: tuple[str, ...] = ()
    trace: bool = False


def plan_launch(
    options: HostOptions,
    config: Config,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Launch:
    """Work out the interpreter, the graph and the environment; nothing is started or imported.

    Raises `GraphError`, `UsageError` or `ConfigError`, in one sentence.
    """
    folder = Path.cwd() if folder is None else folder
    environment = os.environ if environment is None else environment
    settings = config.settings
    stated = _object(options.config, "--config")
    context = None if options.context is None else _json(options.context, "--context")
    found = find_graph(options.graph or settings.graph, folder)
    interpreter = find_interpreter(found.project, options.python, settings.python, environment)
    defaults: dict[str, str] = {}
    forced: dict[str, str] = dict(found.env)
    if found.env_file is not None:
        forced = read_env(found.env_file, environment)
    elif (found.project / ".env").is_file():
        defaults = read_env(found.project / ".env", environment)
    if options.env_file is not None:
        forced.update(read_env(folder / Path(options.env_file).expanduser(), environment))
    limit = options.recursion_limit
    if limit is None:
        limit = stated.pop("recursion_limit", None)
    return Launch(
        python=interpreter.path,
        python_from=interpreter.said_by,
        project=str(found.project),
        target=found.target,
        environment=host_environment(environment, defaults, forced, options.trace),
        config=_checked(stated),
        context=context,
        recursion_limit=limit,
        allow=(*found.allow, *settings.allow, *options.allow),
        trace=options.trace,
        notes=interpreter.notes,
        python_version=found.python_version,
        warnings=found.warnings,
    )


def _json(text: str, option: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"{option} is not valid JSON: {error}.") from error


def _object(text: str | None, option: str) -> dict[str, Any]:
    value = {} if text is None else _json(text, option)
    if not isinstance(value, dict):
        raise UsageError(f"{option} must be a JSON object.")
    return value


def _checked(config: dict[str, Any]) -> dict[str, Any]:
    """`--config` as LangGraph's RunnableConfig."""
    for name in config:
        if name not in _CONFIG_KEYS:
            raise UsageError(
                f"--config has no '{name}' (it has {', '.join(_CONFIG_KEYS)}, recursion_limit); "
                f'values for the graph go below configurable: {{"configurable": {{"{name}": …}}}}.'
            )
    if not isinstance(config.get("configurable", {}), dict):
        raise UsageError("`configurable` in --config must be a JSON object.")
    return config
