"""Reading off the screen's thread: one worker a group, one message with the result.

A screen that mixes `Reads` in starts jobs with `read`. A job runs in a thread; starting another of
its group makes the older one's result void. Only the message's handler, on the screen's thread,
changes what is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakSet

from textual.dom import DOMNode
from textual.message import Message
from textual.message_pump import MessagePump
from textual.timer import Timer
from textual.worker import Worker, get_current_worker

from retrograph.engine.errors import Cancelled, RetrographError
from retrograph.engine.text import escape
from retrograph.tui.messages import ReadingFailed, WorkEnded, WorkGrew

_QUIET = 0.1
"""Seconds between two words on how far a job is."""


class Job:
    """What a reading function knows of its own run."""

    def __init__(self, node: DOMNode, group: str, ticket: int, worker: Worker[None]) -> None:
        self._node = node
        self.group = group
        self.ticket = ticket
        self._worker = worker
        self._grew = 0.0

    @property
    def stopped(self) -> bool:
        """Nobody waits for the result any more."""
        return self._worker.is_cancelled

    def wait(self, seconds: float) -> bool:
        """Sleep; true where the job was stopped meanwhile."""
        return self._worker.cancelled_event.wait(seconds)

    def post(self, message: Message) -> None:
        """Something on the way to the result."""
        if not self.stopped:
            self._node.post_message(message)

    def grew(self, done: int, total: int | None) -> None:
        """Say how far it is, ten times a second at most; raises `Cancelled` when it was stopped."""
        if self.stopped:
            raise Cancelled("Stopped.")
        now = monotonic()
        if now - self._grew < _QUIET:
            return
        self._grew = now
        self._node.post_message(WorkGrew(self.group, done, total))


# At run time a mixin is no node: Textual follows the first base that is one for styles.
if TYPE_CHECKING:
    _Node = DOMNode
else:
    _Node = object


class Reads(_Node):
    """A screen that reads in the background; mixed in before Textual's class."""

    def read(self, group: str, work: Callable[[Job], Message | None]) -> int:
        """Run `work` in a thread; its message, or what went wrong, is posted here.

        Returns the job's ticket, which its result carries.
        """
        tickets: dict[str, int] = self.__dict__.setdefault("_tickets", {})
        ended: dict[str, int] = self.__dict__.setdefault("_ended", {})
        ticket = tickets[group] = tickets.get(group, 0) + 1

        def run() -> None:
            job = Job(self, group, ticket, get_current_worker())
            message: Message | None
            try:
                message = work(job)
            except Cancelled:
                message = WorkEnded(group, stopped=True)
            except RetrographError as error:
                message = ReadingFailed(group, escape(str(error)), error, ticket)
            except Exception as error:
                kind = f"{type(error).__name__}: {error}"
                sentence = f"Retrograph has a fault ({escape(kind)})."
                message = ReadingFailed(group, sentence, error, ticket)
            # Before it is told: what is asked for from then on is a matter of another job.
            ended[group] = max(ended.get(group, 0), ticket)
            if message is not None:
                job.post(message)

        self.run_worker(
            run, name=group, group=group, exclusive=True, thread=True, exit_on_error=False
        )
        return ticket

    def newest(self, group: str, ticket: int) -> bool:
        """Whether a result belongs to the last job of its group."""
        tickets: dict[str, int] = self.__dict__.get("_tickets", {})
        return tickets.get(group) == ticket

    def reading(self, group: str) -> bool:
        """Whether a job of a group is under way, so that its result is still to come. Not whether
        its worker runs: that has yet to begin, and goes on a little after the result was told."""
        tickets: dict[str, int] = self.__dict__.get("_tickets", {})
        ended: dict[str, int] = self.__dict__.get("_ended", {})
        return tickets.get(group, 0) > ended.get(group, 0)

    def stop(self, group: str) -> bool:
        """Make the running job of a group void; whether there was one."""
        under_way = self.reading(group)
        if under_way:
            self.__dict__["_ended"][group] = self.__dict__["_tickets"][group]
        self.workers.cancel_group(self, group)
        return under_way


class Settled:
    """Calls a function once its cause has been quiet for a moment."""

    def __init__(self, node: MessagePump, seconds: float, function: Callable[[], None]) -> None:
        self._node = node
        self._seconds = seconds
        self._function = function
        self._timer: Timer | None = None
        Settled._all.add(self)

    _all: ClassVar[WeakSet[Settled]] = WeakSet()

    @classmethod
    def waiting(cls, seconds: float) -> list[Settled]:
        """What is about to be done, of what waits no longer than `seconds`; for tests, which wait
        for work and not for time."""
        return [
            settled
            for settled in cls._all
            if settled._timer is not None
            and settled._seconds <= seconds
            and settled._node.is_running
        ]

    def hurry(self) -> None:
        """Take the moment for over."""
        if self._timer is not None:
            self._timer.stop()
            self._node.call_later(self._now)

    def __call__(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._node.set_timer(self._seconds, self._now)

    def _now(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = None
        self._function()
