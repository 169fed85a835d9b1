"""`retrograph config`: the configuration, and where each value came from."""

from __future__ import annotations

from typing import Any

from retrograph.cli.help import CONTEXT, Command, Debug, Json, NoRedact, examples, new_app

app = new_app()


@app.callback(
    context_settings=CONTEXT,
    epilog=examples("retrograph config show", "retrograph config path"),
)
def config() -> None:
    """Show the configuration, and where it comes from.

    It is read from `config.toml` in the user's own folder, from [tool.retrograph] in the nearest
    pyproject.toml, from retrograph.toml beside it, and from RETROGRAPH_… variables; each overrides
    the ones before.
    """


@app.command(cls=Command, epilog=examples("retrograph config path"))
def path(json: Json = False, debug: Debug = False, no_redact: NoRedact = False) -> None:
    """List the places that it is read from, the weakest first."""
    from retrograph.cli.output import Output
    from retrograph.cli.paint import Column, Span, table
    from retrograph.engine.text import escape
    from retrograph.loaders.project import load_config

    places = load_config().places
    out = Output(json)
    if json:
        out.document(
            [{"path": str(p.path), "table": p.table or None, "exists": p.there} for p in places]
        )
        return
    rows = [
        [
            [Span("found" if place.there else "not there", "done" if place.there else "dim")],
            [Span(escape(f"{place.path}" + (f" [{place.table}]" if place.table else "")))],
        ]
        for place in places
    ]
    out.lines(table([Column("state"), Column("place", flexible=True)], rows, out.width))


@app.command(cls=Command, epilog=examples("retrograph config show --json"))
def show(json: Json = False, debug: Debug = False, no_redact: NoRedact = False) -> None:
    """Show each value in force, and where it came from."""
    from retrograph.cli.output import Output
    from retrograph.cli.paint import Column, Span, table
    from retrograph.engine.text import escape
    from retrograph.loaders.project import load_config

    config = load_config()
    redactor = config.redactor(no_redact)
    values: dict[str, Any] = config.settings._asdict()
    if values["source"] is not None:
        values["source"] = redactor.location(values["source"])
    out = Output(json)
    if json:
        out.document(
            {key: {"value": value, "from": config.origins[key]} for key, value in values.items()}
        )
        return
    rows = [
        [[Span(key)], [Span(escape(_words(value)))], [Span(escape(config.origins[key]), "dim")]]
        for key, value in values.items()
    ]
    heads = [Column("key"), Column("value", flexible=True), Column("from", flexible=True)]
    out.lines(table(heads, rows, out.width))


def _words(value: Any) -> str:
    if value is None or value == () or value == {}:
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return ", ".join(f"{name} = {said}" for name, said in value.items())
    return ", ".join(value) if isinstance(value, tuple) else str(value)
