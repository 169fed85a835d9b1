"""The viewer's end of a host: the process of the user's own Python that runs the user's graph.

    with Host.start(python, project, environment(os.environ)) as host:
        host.hello()                                   # LangGraph is there
        reply = host.ask("load", graph={...})          # waits; events go by
        with host.job("run", ...) as job:              # or: events as they come
            for event in job:
                ...
            job.reply

What a node can do to its process (print without end, exit, crash, hang, close our descriptors) is
noticed at once and told in one sentence (`verdict`). A host is good for one run. Frames and their
meaning: `worker/frames.py`; the requests, typed: `requests.py`.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from retrograph.engine.errors import GraphError, HostDiedError, HostError, HostTimeoutError
from retrograph.engine.host.job import Job
from retrograph.engine.host.output import Tail
from retrograph.engine.host.pump import Pump
from retrograph.engine.host.replies import Blobs, Event, HostFailedError, Reply
from retrograph.engine.host.stacks import Where, where
from retrograph.engine.host.verdict import LOST, Ending, sentence
from retrograph.engine.host.worker.frames import CHANNEL, CRASHES, RING, Frame, Header, pack
from retrograph.engine.host.worker.ring import Ring, memory

WORKER = Path(__file__).parent / "worker"
"""The folder that the user's interpreter runs."""

_START = 60.0
"""Seconds that an interpreter may take to start and to import LangGraph."""
_END = 3.0
"""Seconds that a host has to end by itself when it is closed."""


class Host:
    """A running host. Any thread may call; one request is under way at a time."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        channel: socket.socket,
        crash: int,
        ring: Ring,
        project: Path,
    ) -> None:
        self.project = project
        self.greeting: Mapping[str, Any] = {}
        """`python`, `langgraph`, `checkpoint`: versions; filled by `hello`."""
        self._pump = Pump(process, channel, crash, ring)
        self._channel = channel
        self._sending = threading.Lock()
        self._asking = threading.Lock()
        self._number = 0
        self._running: dict[int, str] = {}
        self._doing: str | None = None
        self._finished = False
        self._stopped = False
        self._dropped_signal: int | None = None

    @classmethod
    def start(cls, python: str, project: Path, environment: Mapping[str, str]) -> Host:
        """Start `python` as a host in the folder `project`. Returns at once; see `hello`.

        Raises `GraphError` when it cannot be started at all.
        """
        ours, theirs = socket.socketpair()
        crash_out, crash_in = os.pipe()
        shared = memory()
        passed = (theirs.fileno(), crash_in, shared)
        named = zip((CHANNEL, CRASHES, RING), map(str, passed), strict=True)
        ring = Ring(shared)
        try:
            process = subprocess.Popen(
                [python, str(WORKER)],
                cwd=project,
                env={**environment, **dict(named)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=passed,
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            ours.close()
            os.close(crash_out)
            ring.close()
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise GraphError(f"{python} cannot be run in {project}: {why}.") from error
        finally:
            theirs.close()
            os.close(crash_in)
            os.close(shared)
        return cls(process, ours, crash_out, ring, project)

    @property
    def pid(self) -> int:
        return self._pump.process.pid

    @property
    def stdout(self) -> Tail:
        """What it printed: the end of it."""
        return self._pump.tails["stdout"]

    @property
    def stderr(self) -> Tail:
        return self._pump.tails["stderr"]

    @property
    def running(self) -> Sequence[str]:
        """The nodes that run now, as far as is known."""
        return tuple(self._running.values())

    @property
    def alive(self) -> bool:
        return self._pump.code is None

    @property
    def ended_at(self) -> float | None:
        """`time.monotonic()` of the moment in which its end was noticed."""
        return None if self._pump.code is None else self._pump.ended_at

    def hello(self, timeout: float = _START) -> Mapping[str, Any]:
        """Wait until it is up, with LangGraph imported: its versions.

        Raises `GraphError` when it does not come up, or has no LangGraph that can be imported.
        """
        if self.greeting:
            return self.greeting
        deadline = time.monotonic() + timeout
        self._doing = "starting"
        while True:
            frame = self._next(deadline)
            if frame is None:
                raise self._late("Starting the graph's Python", timeout)
            if frame[0].get("is") == "hello":
                break
        self._doing = None
        error = frame[0].get("error")
        if error is not None:
            self.close()
            raise GraphError(error["sentence"])
        self.greeting = frame[0]
        return self.greeting

    def ask(
        self, do: str, *, blobs: Sequence[bytes] = (), timeout: float | None = 60.0, **stated: Any
    ) -> Reply:
        """Ask for something and wait for it; events meanwhile go by.

        Raises `HostError` with the host's sentence when it could not be done, `HostDiedError`,
        and `HostTimeoutError` after `timeout` seconds, with where it is.
        """
        with self.job(do, blobs=blobs, timeout=timeout, **stated) as job:
            for _ in job:
                pass
            return job.reply

    def job(
        self, do: str, *, blobs: Sequence[bytes] = (), timeout: float | None = None, **stated: Any
    ) -> Job:
        """Ask for something; iterate over what it returns for the events while it goes on (a loop
        that is left can be gone on with in another), then read its `reply`. A job whose block is
        left before its end kills the host."""
        return Job(self, do, stated, blobs, timeout)

    def tell(self, what: str, **stated: Any) -> None:
        """Steer what is under way: `pause`, `step`, `go`, `stop`. Not answered.

        Any thread may, but no signal handler: it could interrupt the sending of another frame."""
        self._send({"tell": what, **stated})

    def stack(self, timeout: float = 1.0) -> Where | None:
        """The line of the project's code at which it is now, even while native code holds Python.

        `None` where it is at no line of the project, or cannot say."""
        return where(self._dump(timeout), self.project, WORKER)

    def kill(self) -> None:
        """End it and its children at once. What it had stored stays."""
        pump = self._pump
        with pump.ready:
            self._stopped = self._stopped or pump.code is None
            pump.kill()
            pump.ready.wait_for(lambda: pump.code is not None, _END)

    def close(self) -> None:
        """Ask it to end, and kill it where it does not."""
        if self._pump.code is None and not self._stopped and not self._asking.locked():
            try:
                self._send({"id": 0, "do": "end"})
            except HostError:
                pass
            deadline = time.monotonic() + _END
            with self._pump.ready:
                while self._pump.code is None and time.monotonic() < deadline:
                    while self._pump.take() is not None:
                        pass
                    self._pump.ready.wait(0.1)
        self.kill()
        self._pump.join(5.0)

    def __enter__(self) -> Host:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self.kill()
        self.close()

    # Within.

    def _ending(self) -> Ending:
        """How it ended, for `verdict.sentence`. Only once it has."""
        pump = self._pump
        text = pump.crash
        if not text and pump.code == LOST:  # what it had to say went the only way left
            text = pump.tails["stderr"].text()
        return Ending(
            code=pump.code,
            closed_channel=pump.left,
            garbled=pump.garbled,
            stopped=self._stopped,
            doing=self._doing,
            nodes=self.running,
            crash=text,
            at=where(text, self.project, WORKER),
            project=self.project,
            last_line=pump.tails["stderr"].last_line(),
        )

    def _died(self) -> HostDiedError:
        return HostDiedError(sentence(self._ending()))

    def _late(self, what: str, seconds: float) -> HostTimeoutError:
        at = self.stack()
        place = f"; it is at {at.shown(self.project)} (in {at.name})" if at else ""
        return HostTimeoutError(f"{what} has not ended after {seconds:g} s{place}.")

    def _dump(self, timeout: float) -> str:
        """Have the stacks of all threads written, and read them."""
        pump = self._pump
        with pump.ready:
            before = len(pump.crash)
        if not pump.greeted or not hasattr(signal, "SIGUSR1") or not pump.signal(signal.SIGUSR1):
            return ""
        deadline = time.monotonic() + timeout
        with pump.ready:
            seen = before
            while time.monotonic() < deadline:
                pump.ready.wait(0.05)
                if len(pump.crash) == seen != before:
                    break
                seen = len(pump.crash)
            return pump.crash[before:]

    def _next(self, deadline: float | None) -> Frame | None:
        """The next frame; `None` at the deadline. Raises `HostDiedError`."""
        pump = self._pump
        let_go = False
        while True:
            left = None if deadline is None else max(0, deadline - time.monotonic())
            with pump.ready:
                pump.ready.wait_for(lambda: pump.frames or pump.ended or pump.left, left)
                frame = pump.take()
                if frame is not None:
                    self._note(frame[0])
                    return frame
                if not (pump.ended or pump.left):
                    return None
                if pump.ended or let_go:
                    raise self._died()
            self._let_go()  # what it told last comes with its end
            let_go = True

    def _let_go(self) -> None:
        """Its channel is closed and it may still run: give it a moment to end, then end it."""
        with self._pump.ready:
            self._pump.ready.wait_for(lambda: self._pump.ended, 0.5)
        if not self._pump.ended:
            self._pump.kill()
            self._pump.join(2.0)

    def _note(self, header: Header) -> None:
        """Remember which nodes run."""
        event = header.get("event")
        if event == "task_start":
            self._running[header["run"]] = header["node"]
        elif event == "task_end":
            self._running.pop(header["run"], None)

    def _send(self, header: Header, blobs: Sequence[bytes] = ()) -> None:
        with self._sending:
            for piece in pack(header, blobs):
                view = memoryview(piece)
                while view:
                    view = view[self._send_some(view) :]

    def _send_some(self, data: memoryview) -> int:
        pump = self._pump
        while True:
            if pump.code is not None or pump.closed:
                self._let_go()
                raise self._died()
            try:
                return self._channel.send(data, socket.MSG_DONTWAIT)
            except BlockingIOError:
                select.select([], [self._channel], [], 0.1)
            except OSError:
                with pump.ready:
                    pump.ready.wait_for(lambda: pump.ended, 0.5)
                if not pump.ended:
                    pump.kill()
                    pump.join(2.0)
                raise self._died() from None


__all__ = ["WORKER", "Blobs", "Event", "Host", "HostFailedError", "Job", "Reply"]
