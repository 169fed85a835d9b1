"""`retrograph grep`: where a value holds a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from retrograph.cli.help import (
    Command,
    Debug,
    Json,
    NoRedact,
    Source,
    ThreadOption,
    examples,
    new_app,
)

if TYPE_CHECKING:
    from retrograph.cli.session import Session
    from retrograph.engine.search.grep import Grep, Hit
    from retrograph.engine.thread import Thread

app = new_app()


class Asked(NamedTuple):
    """What is searched: a REF, or (`None`) all threads; for what; and how many hits at most."""

    ref: str | None
    thread: str | None
    all: bool
    limit: int | None


@app.command(
    cls=Command,
    epilog=examples(
        "retrograph grep demo.db order-4412 espresso",
        "retrograph grep demo.db order-4412~3 GRINDER --ignore-case --json",
        "retrograph grep demo.db --all 'order-44\\d\\d' --regex",
    ),
)
def grep(
    source: Source,
    ref: Annotated[
        str | None,
        typer.Argument(
            metavar="REF",
            help="Where: a thread id (all of it), THREAD::NAMESPACE, or with @… or ~N a "
            "checkpoint, up to which its line is searched. Left out with --all, and with --thread "
            "where all of it is meant.",
            show_default=False,
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Argument(metavar="PATTERN", help="The text to look for.", show_default=False),
    ] = None,
    thread: ThreadOption = None,
    all_: Annotated[bool, typer.Option("--all", help="Search all threads.")] = False,
    regex: Annotated[
        bool, typer.Option("--regex", help="PATTERN is a regular expression (Python's).")
    ] = False,
    ignore_case: Annotated[
        bool, typer.Option("--ignore-case", "-i", help="Capital letters are like small ones.")
    ] = False,
    limit: Annotated[int, typer.Option(metavar="N", help="At most N hits; 0: all.")] = 1000,
    json: Json = False,
    debug: Debug = False,
    no_redact: NoRedact = False,
) -> None:
    """Find where a value holds a text.

    A hit is a place in a value (or in a question or an error) at the checkpoint where it begins
    to hold the text: a message that stays for 500 checkpoints is one hit. What is removed and
    comes again, and what another branch says too, are hits again. Texts, numbers and times are
    searched; not keys, metadata, secrets, nor what is redacted.
    """
    from retrograph.cli import talk
    from retrograph.cli.session import opened
    from retrograph.engine.errors import UsageError
    from retrograph.engine.search.grep import Grep
    from retrograph.engine.search.needle import Needle

    if limit < 0:
        raise UsageError(f"--limit takes a number, 0 for all, not {limit}.")
    where, text = _words(ref, pattern, thread, all_)
    asked = Asked(where, thread, all_, limit or None)
    needle = Needle(text, regex, ignore_case)
    with opened(source, json, no_redact) as session:
        with talk.Progress("searched {:,} checkpoints, {:,} hits · Ctrl-C stops") as progress:
            search = Grep(needle, session.redactor, progress.at)
            found = _Found(_hits(session, search, asked), asked.limit)
            if json:
                document = [_shape(hit) for _, hit in found]
                progress.end()
                session.out.document(document)
            else:
                from retrograph.cli.draw.grep import hit_lines

                # On a terminal a screenful is drawn at once, or the pager begins.
                screen = session.out.rows - 1 if session.out.terminal else None
                session.out.lines(hit_lines(session, found.until(screen, progress.end)))
        if found.more:
            talk.say(f"Only the first {limit:,} hits are listed; --limit 0 lists all.")
        if search.unreadable:
            talk.say(f"{search.unreadable:,} checkpoints could not be read, so not searched.")
        if not found.count:
            talk.say(f"Nothing holds it: searched {search.checkpoints:,} checkpoints.")
        if found.stopped:
            raise KeyboardInterrupt


def _words(
    ref: str | None, pattern: str | None, thread: str | None, everything: bool
) -> tuple[str | None, str]:
    """(REF, PATTERN): where one word is given, and REF may be left out, it is the pattern."""
    from retrograph.engine.errors import UsageError

    if everything and (thread is not None or pattern is not None):
        raise UsageError("--all searches all threads: it takes a PATTERN, and no REF or --thread.")
    if pattern is None and (everything or thread is not None):
        ref, pattern = None, ref
    if pattern is None:
        raise UsageError("What to look for is missing: grep SOURCE REF PATTERN, or --all PATTERN.")
    return ref, pattern


class _Found:
    """Hits as they are found, until there are enough, or Ctrl-C."""

    def __init__(self, hits: Iterator[tuple[Thread, Hit]], limit: int | None) -> None:
        self._hits = hits
        self._limit = limit
        self.count = 0
        self.more = False
        self.stopped = False

    def until(self, count: int | None, then: Callable[[], None]) -> Iterator[tuple[Thread, Hit]]:
        """The same, with `then` called before so many have been given, or all."""
        for found in self:
            if count is not None and self.count >= count:
                then()
            yield found
        then()

    def __iter__(self) -> Iterator[tuple[Thread, Hit]]:
        try:
            for found in islice(self._hits, self._limit):
                self.count += 1
                yield found
            self.more = self._limit is not None and next(self._hits, None) is not None
        except KeyboardInterrupt:
            # What has been found is shown all the same.
            self.stopped = True


def _hits(session: Session, search: Grep, asked: Asked) -> Iterator[tuple[Thread, Hit]]:
    if not asked.all:
        yield from _in_ref(session, search, asked)
        return
    from retrograph.engine.model import ThreadQuery
    from retrograph.engine.thread import Thread

    for row in session.loader.threads(ThreadQuery(limit=None)):
        thread = Thread(session.loader, row.thread_id)
        for hit in search.thread(thread):
            yield thread, hit


def _in_ref(session: Session, search: Grep, asked: Asked) -> Iterator[tuple[Thread, Hit]]:
    from retrograph.engine.threads.lookup import LoaderIndex
    from retrograph.engine.threads.refs import parse

    thread, key = session.locate(asked.ref, asked.thread)
    ref = parse(asked.ref, LoaderIndex(thread.loader).has, asked.thread)
    history = thread.history
    whole = ref.point is None and not ref.up
    line = None if whole else history.line(history.find(key.ns, key.id))
    for hit in search.thread(thread, ref.ns, line):
        yield thread, hit


def _shape(hit: Hit) -> dict[str, Any]:
    from retrograph.engine.ids import step_of
    from retrograph.engine.paths import pointer

    return {
        "thread_id": hit.thread_id,
        "id": hit.id,
        "ns": hit.ns,
        "path": pointer(hit.path),
        "value": hit.text,
        "in": hit.where,
        "step": step_of(hit.id),
        "match": [hit.begin, hit.end],
        "cut": hit.cut,
    }
