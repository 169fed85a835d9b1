"""One run of a command: its source, what is looked up in it, and where its result goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from retrograph.cli import talk
from retrograph.cli.hosting import folding
from retrograph.cli.output import Output
from retrograph.engine.model import CheckpointKey, Loader
from retrograph.engine.views.redact import Redactor
from retrograph.loaders.project import load_config
from retrograph.loaders.registry import open_source

if TYPE_CHECKING:
    from retrograph.engine.model import Envelope
    from retrograph.engine.steps.step import Step
    from retrograph.engine.thread import Snapshot, Thread
    from retrograph.engine.threads.lookup import LoaderIndex
    from retrograph.loaders.launch import HostOptions


class Session(NamedTuple):
    """What a reading command works with."""

    loader: Loader
    redactor: Redactor
    out: Output
    let_fold: Callable[[Thread], None]
    others: list[Loader]
    """Sandboxes of the source that were opened besides."""

    def locate(self, ref: str | None, thread: str | None) -> tuple[Thread, CheckpointKey]:
        """The checkpoint that REF and --thread name, and its thread; one that is not in the source
        is looked for in the source's sandboxes."""
        from retrograph.engine.errors import RefError
        from retrograph.engine.threads.lookup import LoaderIndex
        from retrograph.engine.threads.refs import locate

        index = LoaderIndex(self.loader)
        try:
            key = locate(ref, index, thread)
        except RefError:
            elsewhere = self._elsewhere(ref, thread)
            if elsewhere is None:
                raise
            index, key = elsewhere
        found = index.thread(key.thread_id)
        self.let_fold(found)
        return found, key

    def _elsewhere(
        self, ref: str | None, thread: str | None
    ) -> tuple[LoaderIndex, CheckpointKey] | None:
        from retrograph.engine.threads.lookup import LoaderIndex
        from retrograph.loaders.sandbox.finding import find_in_sandboxes

        found = find_in_sandboxes(self.loader, ref, thread)
        if found is None:
            return None
        self.others.append(found[0])
        return LoaderIndex(found[0]), found[1]

    def shown_step(self, thread: Thread, i: int) -> tuple[Envelope, Step]:
        """One checkpoint without its values, as it may be seen."""
        from retrograph.engine.threads.pages import read_page
        from retrograph.engine.views.shown import shown_step

        envelope, step = read_page(thread, [i])[i]
        return envelope, shown_step(step, self.redactor)

    def shown(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot without what must not be seen: the one to draw and to print."""
        from retrograph.engine.views.shown import shown_snapshot

        return shown_snapshot(snapshot, self.redactor)


@contextmanager
def opened(
    source: str | None,
    as_json: bool,
    no_redact: bool,
    origin: str | None = None,
    graph: HostOptions | None = None,
) -> Iterator[Session]:
    """Open SOURCE for one command; afterwards say what could not be read. `origin`: of a sandbox,
    where it is from. `graph`: whose reducers make whole values of DeltaChannels."""
    config = load_config()
    redactor = config.redactor(no_redact)
    loader = open_source(source, configured=config.settings.source, origin=origin)
    others: list[Loader] = []
    try:
        with folding(graph, config) as let_fold:
            yield Session(loader, redactor, Output(as_json), let_fold, others)
        for opened_loader in (loader, *others):
            for warning in opened_loader.warnings:
                talk.say(redactor.location(warning))
    finally:
        for opened_loader in (loader, *others):
            opened_loader.close()
