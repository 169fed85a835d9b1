"""The user's graph, imported and made: compiled, builder, or factory of any kind.

What can be wrong with it is told in one sentence each, as a `GraphError`.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import os
import sys
from types import ModuleType
from typing import Any, NamedTuple

from langgraph.pregel import Pregel

from .faults import GraphError, is_users, one_line, place, set_roots, users_frame


class Found(NamedTuple):
    """A graph, and how it was come by."""

    graph: Any
    """A `Pregel`, still with what it brings: checkpointer, store, cache."""
    kind: str
    """graph, builder or factory."""
    module: ModuleType
    names: list[str]
    """Names under which stored data may know the module."""


class Loader:
    """Imports and makes the graph. `loop` runs what is asynchronous; context managers stay open
    until `close`."""

    def __init__(self, loop: Any, config: dict[str, Any], context: Any) -> None:
        self._loop = loop
        self._config = config
        self._context = context
        self._open = contextlib.AsyncExitStack()

    def load(self, target: dict[str, Any]) -> Found:
        """Raises `GraphError`."""
        for folder in target["folders"]:
            if folder not in sys.path:
                sys.path.append(folder)
        set_roots([sys.path[0], *target["folders"]])
        module, names = self._module(target)
        found = self._attribute(module, target)
        graph, kind = self._graph(found, target)
        return Found(graph, kind, module, names)

    async def close(self) -> None:
        """Leave the context managers that gave the graph."""
        await self._open.aclose()

    # Importing.

    def _module(self, target: dict[str, Any]) -> tuple[ModuleType, list[str]]:
        name = target["module"]
        path = target["path"]
        names = ["__main__"]
        if path is not None:
            name, others = _names_of(path)
            names += others
        try:
            if path is None or _finds(name, path):
                return importlib.import_module(name), names
            return _from_file(name, path), names
        except GraphError:
            raise
        except BaseException as error:
            raise _import_fault(error, target) from error

    def _attribute(self, module: ModuleType, target: dict[str, Any]) -> Any:
        found: Any = module
        for part in target["attribute"].split("."):
            try:
                found = getattr(found, part)
            except AttributeError:
                raise GraphError(_no_attribute(module, target)) from None
        return found

    # Making.

    def _graph(self, found: Any, target: dict[str, Any]) -> tuple[Any, str]:
        if isinstance(found, Pregel):
            return found, "graph"
        if _is_builder(found):
            return self._compiled(found, target), "builder"
        bound = _unbound(found)
        if bound is not None:
            return bound, "graph"
        if not callable(found) and not _is_manager(found):
            raise GraphError(
                f"{target['shown']} is {_a(type(found).__name__)}, not a graph: "
                "name a compiled graph, a StateGraph, or a function that makes one."
            )
        made = self._made(found, target)
        if isinstance(made, Pregel):
            return made, "factory"
        if _is_builder(made):
            return self._compiled(made, target), "factory"
        bound = _unbound(made)
        if bound is None:
            raise GraphError(f"{target['shown']}() gave {_a(type(made).__name__)}, not a graph.")
        return bound, "factory"

    def _compiled(self, builder: Any, target: dict[str, Any]) -> Any:
        try:
            return builder.compile()
        except Exception as error:
            raise GraphError(f"{target['shown']} cannot be compiled: {one_line(error)}.") from error

    def _made(self, factory: Any, target: dict[str, Any]) -> Any:
        made = factory
        if callable(factory) and not _is_manager(factory):
            arguments, keywords = self._arguments(factory, target)
            made = self._call(lambda: factory(*arguments, **keywords), target)
        if inspect.isawaitable(made):
            made = self._call(lambda: self._loop.run_until_complete(_awaited(made)), target)
        if hasattr(made, "__aenter__"):
            made = self._call(
                lambda: self._loop.run_until_complete(self._open.enter_async_context(made)), target
            )
        elif hasattr(made, "__enter__"):
            made = self._call(lambda: self._open.enter_context(made), target)
        return made

    def _call(self, function: Any, target: dict[str, Any]) -> Any:
        try:
            return function()
        except BaseException as error:
            frame = users_frame(error)
            where = f" at {place(frame.filename, frame.lineno)}" if frame else ""
            if isinstance(error, SystemExit):
                raise GraphError(f"{target['shown']}() called sys.exit{where}.") from error
            raise GraphError(f"{target['shown']}() failed{where}: {one_line(error)}.") from error

    def _arguments(self, factory: Any, target: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """What a factory is called with: nothing, the config, the server's runtime, or both."""
        try:
            parameters = list(inspect.signature(factory).parameters.values())
        except (TypeError, ValueError):
            return [], {}
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for parameter in parameters:
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if _wants_runtime(parameter):
                try:
                    value = self._runtime(target)
                except GraphError:
                    if parameter.default is parameter.empty:
                        raise
                    value = parameter.default
            elif _wants_config(parameter) or (
                parameter.default is parameter.empty
                and len(parameters) == 1
                and _is_open(parameter)
            ):
                value = self._config
            elif parameter.default is not parameter.empty:
                continue
            else:
                raise GraphError(
                    f"{target['shown']}() needs an argument '{parameter.name}' that only your "
                    "program can give; name a function without, or give it a default."
                )
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(value)
            else:  # by its name: one before it may be left out
                keywords[parameter.name] = value
        return positional, keywords

    def _runtime(self, target: dict[str, Any]) -> Any:
        """What LangGraph's server gives a factory (`langgraph_sdk.runtime.ServerRuntime`)."""
        from langgraph.store.memory import InMemoryStore

        try:
            from langgraph_sdk import runtime

            make: Any = getattr(runtime, "_ExecutionRuntime", None)
            return make(
                access_context="threads.create_run", store=InMemoryStore(), context=self._context
            )
        except Exception as error:
            raise GraphError(
                f"{target['shown']}() takes the server's runtime, which cannot be made with the "
                f"langgraph-sdk that is installed there: {one_line(error)}."
            ) from error


def _names_of(path: str) -> tuple[str, list[str]]:
    """The module name of a file, and others that stored data may know it by.

    In a package: its dotted name, and the folder above the package goes onto the path. Else, below
    the project's folder: the dotted name from there. The file's own folder goes onto the path.
    """
    folder, file = os.path.split(os.path.realpath(path))
    stem = os.path.splitext(file)[0]
    parts = [stem]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    if stem == "__init__":
        parts.pop()
    names = [stem, ".".join(parts)]
    relative = os.path.relpath(os.path.realpath(path), os.path.realpath(sys.path[0]))
    dotted = os.path.splitext(relative)[0].split(os.sep)
    if not relative.startswith(os.pardir) and all(part.isidentifier() for part in dotted):
        names.append(".".join(dotted))
    if folder not in sys.path:
        sys.path.append(folder)
    own = len(parts) > 1
    name = ".".join(parts) if own else names[-1]
    return name, names


def _finds(name: str, path: str) -> bool:
    """Whether an ordinary import of this name gives this file."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return False
    origin = spec.origin if spec is not None else None
    return origin is not None and os.path.realpath(origin) == os.path.realpath(path)


def _from_file(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise GraphError(f"{place(path, None)} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _import_fault(error: BaseException, target: dict[str, Any]) -> GraphError:
    """Why a module cannot be imported: it is not there, it lacks a package, or its code fails."""
    shown = target["shown"].rpartition(":")[0] or target["shown"]
    frame = users_frame(error)
    where = f" at {place(frame.filename, frame.lineno)}" if frame is not None else ""
    if isinstance(error, SystemExit):
        return GraphError(
            f"Importing {shown} called sys.exit{where}: it is a program, not a module."
        )
    if isinstance(error, ModuleNotFoundError) and error.name:
        missing = error.name
        wanted = target["module"]
        if frame is None and wanted and (wanted == missing or wanted.startswith(missing + ".")):
            return GraphError(
                f"There is no module {missing} in {sys.path[0]} or in {sys.executable}."
            )
        return GraphError(
            f"Importing {shown} failed{where}: {sys.executable} has no module {missing}; "
            "install it there, or name another interpreter with --python."
        )
    if isinstance(error, EOFError):
        return GraphError(
            f"Importing {shown} asked for input{where}, and there is nobody to give it."
        )
    if isinstance(error, SyntaxError):
        return GraphError(f"{shown} is not valid Python{where}: {error.msg}.")
    if isinstance(error, ImportError) and frame is not None and not _is_own_import(error):
        return GraphError(
            f"Importing {shown} failed{where}, in the packages of {sys.executable}: "
            f"{one_line(error)}; that environment is broken."
        )
    return GraphError(f"Importing {shown} failed{where}: {one_line(error)}.")


def _is_own_import(error: ImportError) -> bool:
    """Whether it was raised by the user's own import line, not below it in a package."""
    trace = error.__traceback__
    last = None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith("<frozen"):
            last = file
        trace = trace.tb_next
    return last is None or is_users(last)


def _no_attribute(module: ModuleType, target: dict[str, Any]) -> str:
    from difflib import get_close_matches

    shown, _, attribute = target["shown"].rpartition(":")
    graphs = [
        name
        for name, value in list(vars(module).items())
        if not name.startswith("_") and (isinstance(value, Pregel) or _is_builder(value))
    ]
    near = get_close_matches(attribute, [n for n in vars(module) if not n.startswith("_")], n=1)
    if graphs:
        hint = f"; its graphs are: {', '.join(graphs)}."
    elif near:
        hint = f"; did you mean '{near[0]}'?"
    else:
        hint = ", and no graph by any other name; a function that makes one can be named too."
    return f"{shown or module.__name__} has no '{attribute}'{hint}"


def _is_builder(value: Any) -> bool:
    """A StateGraph, before it is compiled."""
    return hasattr(value, "compile") and hasattr(value, "nodes") and hasattr(value, "edges")


def _is_manager(value: Any) -> bool:
    return not inspect.isclass(value) and (
        hasattr(value, "__enter__") or hasattr(value, "__aenter__")
    )


def _unbound(value: Any) -> Any:
    """The graph in what `.with_config`, `.bind` and the like gave; `None` where there is none."""
    config: Any = None
    for _ in range(10):
        if isinstance(value, Pregel):
            return value.with_config(config) if config else value
        config = {**(getattr(value, "config", None) or {}), **(config or {})}
        value = getattr(value, "bound", None)
    return None


async def _awaited(value: Any) -> Any:
    return await value


def _annotation(parameter: inspect.Parameter) -> str:
    stated = parameter.annotation
    if stated is parameter.empty:
        return ""
    return stated if isinstance(stated, str) else getattr(stated, "__name__", "") or str(stated)


def _wants_runtime(parameter: inspect.Parameter) -> bool:
    stated = _annotation(parameter)
    return "Runtime" in stated or (not stated and parameter.name == "runtime")


def _wants_config(parameter: inspect.Parameter) -> bool:
    return parameter.name == "config" or "RunnableConfig" in _annotation(parameter)


def _is_open(parameter: inspect.Parameter) -> bool:
    """Whether the one parameter of a factory may be the config, as LangGraph's server takes it."""
    stated = _annotation(parameter).lower()
    return stated in ("dict", "any") or stated.startswith(("dict[", "mapping"))


def _a(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
