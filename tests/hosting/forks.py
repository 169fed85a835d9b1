"""Edits of the zoo's checkpoints, in a host: seen before they are made, made, and run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hosting.replays import Again, Call, Told, thread_in
from retrograph.engine.edits.plan import Asked as Edits
from retrograph.engine.host.requests import Edit, Preview, preview
from retrograph.engine.model import ROOT, CheckpointKey
from retrograph.engine.replay.asked import Asked
from retrograph.engine.replay.carried import config_of
from retrograph.engine.replay.driving import Driver
from retrograph.engine.replay.forking import Fork, make_fork, preview_fork
from retrograph.engine.replay.plan import plan_replay
from retrograph.engine.sandbox.closure import for_replay
from retrograph.engine.thread import Thread
from retrograph.engine.threads.producers import producers
from retrograph.engine.values import ABSENT


class Forker:
    """Forks in one thread of a scenario, with its graph as it was before the thread's last call."""

    def __init__(self, again: Again, told: Told, thread: Thread) -> None:
        self._host = again.host
        self._store = str(told.store())
        self._thread = thread
        self.last: Call = [call for call in told.calls if call.thread == thread.thread_id][-1]
        self._launch, self._loaded = again.loaded(told.scenario, self.last)

    def same(self, ns: str, id_: str) -> Preview | None:
        """An edit that changes nothing: one channel gets the value that it has. `None` where the
        checkpoint has none."""
        thread = self._thread
        snapshot = thread.snapshot(ns, id_)
        plain = (n for n, v in snapshot.values.items() if isinstance(v, str | int | list))
        channel = next(plain, "")
        value = snapshot.values.get(channel, ABSENT)
        pending = snapshot.internal.get("__start__", ABSENT)
        if pending is not ABSENT:
            channel, value = "__start__", pending
        if value is ABSENT:
            return None
        led = producers(thread, ns, id_)
        return preview(
            self._host,
            for_replay(thread, ns, id_).rows,
            ns,
            id_,
            [Edit(channel, "set", thread.serde.encode(value))],
            led.writes,
            nodes=led.nodes,
            config=config_of(snapshot.envelope.metadata, {}),
        )

    def fork(self, id_: str, *sets: str, as_node: str | None = None) -> Fork:
        key = CheckpointKey(self._thread.thread_id, ROOT, id_)
        return preview_fork(self._host, self._thread, key, Edits(sets), as_node=as_node)

    def make(self, fork: Fork, folder: Path) -> Path:
        """The sandbox of a fork."""
        return make_fork(self._thread, fork, self._store, folder=folder).path

    def run(self, fork: Fork, folder: Path) -> list[str]:
        """Make a fork and run it: the nodes of its first super-step, sorted."""
        path = self.make(fork, folder)
        with thread_in(path, self._thread.thread_id) as sandbox:
            key = CheckpointKey(self._thread.thread_id, ROOT, fork.preview.row.id)
            plan = plan_replay(
                self._host,
                self._launch,
                self._loaded,
                sandbox,
                key,
                Asked(),
                recordings={},
                in_place=True,
            )
            number = sandbox.history.step(sandbox.history.find(ROOT, key.id))
            assert number is not None
            outcome = Driver(self._host, plan, path).run()
        return sorted(r.node for r in outcome.ran if not r.ns and r.step == number + 1)


def at(thread: Thread, due: Sequence[str], nth: int = 0) -> str:
    """The n-th checkpoint at which exactly these nodes are due, sorted."""
    found = [i for i, _, step in thread.walk(ROOT) if list(step.next) == list(due)]
    return thread.history.ids[found[nth]]
