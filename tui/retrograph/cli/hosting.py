"""What commands that run the user's graph share: their options, and the start of its process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any

import typer

from retrograph.cli import talk
from retrograph.engine.errors import RetrographError

if TYPE_CHECKING:
    from retrograph.engine.host.client import Host
    from retrograph.engine.host.requests import Loaded
    from retrograph.engine.host.target import Launch
    from retrograph.engine.thread import Thread
    from retrograph.loaders.launch import HostOptions
    from retrograph.loaders.project import Config

GraphOption = Annotated[
    str | None,
    typer.Option(
        "--graph",
        metavar="G",
        help="The graph: path.py:attribute, module:attribute, or a name in langgraph.json.",
        show_default=False,
    ),
]
FoldGraph = Annotated[
    str | None,
    typer.Option(
        "--graph",
        metavar="G",
        help="The graph whose reducers fold DeltaChannels: path.py:attribute, module:attribute, or "
        "a name in langgraph.json. Its code is imported then.",
        show_default=False,
    ),
]
Python = Annotated[
    str | None,
    typer.Option(
        "--python",
        metavar="PATH",
        help="The Python that runs it, or its environment's folder.",
        show_default=False,
    ),
]
ConfigOption = Annotated[
    str | None,
    typer.Option(
        "--config",
        metavar="JSON",
        help="LangGraph's config for it: configurable, metadata, tags.",
        show_default=False,
    ),
]
Context = Annotated[
    str | None,
    typer.Option(
        "--context", metavar="JSON", help="The context that its nodes get.", show_default=False
    ),
]
EnvFile = Annotated[
    str | None,
    typer.Option(
        "--env-file",
        metavar="F",
        help="Variables for its process; those of the project's .env otherwise.",
        show_default=False,
    ),
]
RecursionLimit = Annotated[
    int | None,
    typer.Option(
        "--recursion-limit", metavar="N", min=1, help="Super-steps at most.", show_default=False
    ),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="MODULE",
        help="A module whose data classes stored values may become there, besides the project's.",
        show_default=False,
    ),
]
Trace = Annotated[
    bool, typer.Option("--trace", help="Leave LangSmith's tracing on, if it is set up.")
]


def options(
    graph: str | None = None,
    python: str | None = None,
    config: str | None = None,
    context: str | None = None,
    env_file: str | None = None,
    recursion_limit: int | None = None,
    allow: list[str] | None = None,
    trace: bool = False,
) -> HostOptions:
    """The options of a call, together."""
    from retrograph.loaders.launch import HostOptions

    return HostOptions(
        graph, python, config, context, env_file, recursion_limit, tuple(allow or ()), trace
    )


def of_source(stated: HostOptions, source: str | None) -> HostOptions:
    """The options, with the graph that SOURCE_OR_GRAPH names where it is no source."""
    from retrograph.loaders.graphs import looks_like_graph

    if stated.graph is not None or source in (None, "", "."):
        return stated
    assert source is not None
    if "://" in source or (Path(source).exists() and not looks_like_graph(source)):
        return stated
    return replace(stated, graph=source)


@contextmanager
def hosted(stated: HostOptions, config: Config) -> Iterator[tuple[Host, Launch, Loaded]]:
    """The graph, loaded in a process of its own that ends with the block.

    What is worth saying of how it was found and loaded is said on stderr.
    """
    from retrograph.engine.host.requests import launch, load
    from retrograph.loaders.launch import plan_launch

    plan = plan_launch(stated, config)
    for note in plan.notes:
        talk.say(note)
    with ExitStack() as stack:
        with talk.Waiting(f"starting {plan.target.shown} · Ctrl-C stops"):
            host = stack.enter_context(launch(plan))
            loaded = load(host, plan)
        for note in loaded.notes:
            talk.say(note)
        yield host, plan, loaded


@contextmanager
def folding(stated: HostOptions | None, config: Config) -> Iterator[Callable[[Thread], None]]:
    """Lets threads show DeltaChannels whole, where a graph is given. Its process is started by the
    first of these, once, and ends with the block. Any thread of this process may fold."""
    with ExitStack() as stack:
        started: Host | None = None
        failure: RetrographError | None = None
        alone = Lock()

        def host() -> Host:
            nonlocal started, failure
            assert stated is not None
            if failure is not None:
                raise failure
            if started is None:
                try:
                    started = stack.enter_context(hosted(stated, config))[0]
                except RetrographError as error:
                    failure = error
                    raise
            return started

        def fold(thread: Thread, ns: str, deltas: Mapping[str, Any]) -> Mapping[str, Any]:
            from retrograph.engine.host.folding import folded

            with alone:
                return folded(host(), thread, ns, deltas)

        def let_fold(thread: Thread) -> None:
            if stated is not None and stated.graph is not None:
                thread.fold = partial(fold, thread)

        yield let_fold
