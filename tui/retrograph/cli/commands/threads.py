"""`retrograph threads`: the threads of a store, newest activity first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from retrograph.cli.help import Command, Debug, Json, MaybeSource, NoRedact, examples, new_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrograph.engine.threads.status import ThreadInfo

app = new_app()


class Status(StrEnum):
    """How a thread stands, told from its newest checkpoint."""

    DONE = "done"
    INTERRUPTED = "interrupted"
    ERROR = "error"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of the command."""

    status: str | None = None
    search: str | None = None
    where: tuple[str, ...] = ()
    since: str | None = None
    limit: int = 50
    sizes: bool = False


@app.command(
    cls=Command,
    epilog=examples(
        "retrograph threads demo.db",
        "retrograph threads demo.db --status interrupted --json",
        "retrograph threads demo.db --search order --sizes",
    ),
)
def threads(
    source: MaybeSource = None,
    status: Annotated[
        Status | None,
        typer.Option(metavar="S", help="Only done, interrupted, error or unfinished ones."),
    ] = None,
    search: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only those with TEXT in their id.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Only those whose metadata has KEY as VALUE; more than once: all of them.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Only those active since: 30min, 1h, 2d, 2026-01-31."),
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="At most N; 0: all.")] = 50,
    sizes: Annotated[bool, typer.Option("--sizes", help="Add up the stored bytes.")] = False,
    json: Json = False,
    debug: Debug = False,
    no_redact: NoRedact = False,
) -> None:
    """List the threads of a store, newest activity first.

    Each with how it stands: done, interrupted (a question is open), error (a node failed), or
    unfinished (nodes are due: it runs, its process died, or it waits before a node).
    """
    asked = Asked(status, search, tuple(where or ()), since, limit, sizes)
    list_threads(source, asked, json, no_redact)


def list_threads(source: str | None, asked: Asked, as_json: bool, no_redact: bool) -> None:
    """Do the command's work."""
    from retrograph.cli import talk
    from retrograph.cli.session import opened
    from retrograph.engine.errors import UsageError
    from retrograph.engine.threads.listing import (
        ThreadFilter,
        find_threads,
        parse_since,
        parse_where,
    )
    from retrograph.engine.views.shown import shown_info

    if asked.limit < 0:
        raise UsageError(f"--limit takes a number, 0 for all, not {asked.limit}.")
    now = datetime.now(UTC)
    wanted = ThreadFilter(
        status=asked.status,
        where=parse_where(list(asked.where)),
        search=asked.search,
        since=parse_since(asked.since, now) if asked.since else None,
        sizes=asked.sizes,
    )
    limit = asked.limit or None
    with opened(source, as_json, no_redact) as session:
        one_more = None if limit is None else limit + 1
        with talk.Progress("reading {:,} threads · Ctrl-C stops") as progress:
            infos = list(find_threads(session.loader, wanted, one_more, progress.at))
        more = limit is not None and len(infos) > limit
        infos = [shown_info(info, session.redactor) for info in infos[:limit]]
        if as_json:
            from retrograph.engine.views.shapes import thread_shape

            session.out.document([thread_shape(i, session.redactor) for i in infos])
        else:
            from retrograph.cli.draw.threads import thread_lines

            session.out.lines(thread_lines(session, infos, now, asked.sizes))
        if large := _large(infos):
            talk.say(large)
        if more:
            talk.say(f"Only the newest {limit:,} are listed; --limit 0 lists all.")
        elif not infos:
            talk.say(_nothing(asked, session.loader.location))


def _large(infos: Sequence[ThreadInfo]) -> str | None:
    """A sentence about threads whose checkpoints are large, where sizes were asked for."""
    from retrograph.engine.text import cut, size
    from retrograph.engine.views.sizes import LARGE

    means = {
        info.row.thread_id: info.row.size // info.row.checkpoints
        for info in infos
        if info.row.size is not None and info.row.checkpoints
    }
    large = [thread_id for thread_id, mean in means.items() if mean >= LARGE]
    if not large:
        return None
    most = max(large, key=lambda thread_id: means[thread_id])
    stores = "1 thread stores" if len(large) == 1 else f"{len(large):,} threads store"
    return (
        f"{stores} more than {size(LARGE)} a checkpoint, '{cut(most, 80)}' {size(means[most])}: "
        "`show --sizes` says which channel."
    )


def _nothing(asked: Asked, location: str) -> str:
    if asked == Asked(limit=asked.limit, sizes=asked.sizes):
        return f"{location} holds no threads yet."
    return f"No thread of {location} fits."
