"""`retrograph graph`: the topology."""

from __future__ import annotations

from typing import Annotated

import typer

from retrograph.cli.help import Command, Debug, Json, NoRedact, examples, new_app
from retrograph.cli.hosting import (
    Allow,
    ConfigOption,
    Context,
    EnvFile,
    GraphOption,
    Python,
    RecursionLimit,
    Trace,
)

app = new_app()


@app.command(
    cls=Command,
    epilog=examples(
        "retrograph graph support_agent.py:graph",
        "retrograph graph demo.db --mermaid",
    ),
)
def graph(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE_OR_GRAPH",
            help="A graph (path.py:attribute, module:attribute, a name in langgraph.json), or a "
            "source whose graph is configured, given by --graph, or the only one here.",
            show_default=False,
        ),
    ],
    mermaid: Annotated[bool, typer.Option("--mermaid", help="As Mermaid's text.")] = False,
    xray: Annotated[bool, typer.Option("--xray", help="Sub-graphs opened.")] = False,
    graph: GraphOption = None,
    python: Python = None,
    config: ConfigOption = None,
    context: Context = None,
    env_file: EnvFile = None,
    recursion_limit: RecursionLimit = None,
    allow: Allow = None,
    trace: Trace = False,
    json: Json = False,
    debug: Debug = False,
    no_redact: NoRedact = False,
) -> None:
    """Show a graph's nodes, edges and channels.

    The graph is imported by its own Python, in a process of its own; none of its nodes runs.
    """
    from retrograph.cli.hosting import hosted, of_source, options
    from retrograph.cli.output import Output
    from retrograph.engine.host.requests import topology
    from retrograph.loaders.project import load_config

    settings = load_config()
    stated = options(graph, python, config, context, env_file, recursion_limit, allow, trace)
    out = Output(json)
    with hosted(of_source(stated, source), settings) as (host, plan, loaded):
        found = topology(host, xray)
        versions = host.greeting
    if json:
        from retrograph.cli.draw.graph import graph_shape

        out.document(graph_shape(found, loaded, versions, mermaid))
    elif mermaid:
        from retrograph.cli.draw.graph import mermaid_lines

        out.lines(mermaid_lines(found))
    else:
        from retrograph.cli.draw.graph import graph_lines

        out.lines(graph_lines(found, plan, versions, out))
