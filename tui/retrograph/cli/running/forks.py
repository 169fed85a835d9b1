"""A fork that is run at once."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from retrograph.cli import talk
from retrograph.cli.draw.fork import fork_lines, fork_shape
from retrograph.cli.running.carrying import Call, carry_out, ready
from retrograph.cli.running.flags import teller_of
from retrograph.cli.running.steps import answered_in_turn, confirmed, show_ending
from retrograph.engine.model import CheckpointKey
from retrograph.engine.thread import Thread
from retrograph.loaders.registry import open_source, reopens

if TYPE_CHECKING:
    from retrograph.cli.session import Session
    from retrograph.engine.host.client import Host
    from retrograph.engine.host.requests import Loaded
    from retrograph.engine.host.target import Launch
    from retrograph.engine.replay.forking import Fork
    from retrograph.engine.sandbox.file import Sandbox


def run_fork(
    call: Call,
    session: Session,
    thread: Thread,
    fork: Fork,
    sandbox: Sandbox,
    started: tuple[Host, Launch, Loaded],
    jsonl: bool,
) -> int:
    """Run on from a fork, in its sandbox, in the process that has previewed it; the exit code."""
    source = reopens(thread.loader)
    origin = call.origin_of(sandbox, thread.loader)
    if not session.out.json:
        session.out.now([*fork_lines(session, thread, fork, sandbox), []])
    key = CheckpointKey(fork.key.thread_id, fork.key.ns, fork.preview.row.id)
    with closing(open_source(str(sandbox.path), origin=origin)) as loader:
        there = Thread(loader, key.thread_id)
        prepared = ready(call, *started, there, key, edited=_channels(fork))
        if not confirmed(call, session, there, prepared.plan, None):
            return talk.CANCELLED
        teller = teller_of(session, there.serde, jsonl)
        ending = replace(carry_out(call, prepared, teller), origin=origin)
        ending = answered_in_turn(call, session, ending, teller)
    shape = fork_shape(session, fork, source, sandbox) if session.out.json else None
    show_ending(session, ending, source, jsonl, {"fork": shape})
    return ending.code


def _channels(fork: Fork) -> list[str]:
    """The channels that were edited."""
    paths = (change.new_path or change.old_path or () for change in fork.changes)
    return sorted({str(path[0]) for path in paths if path})
