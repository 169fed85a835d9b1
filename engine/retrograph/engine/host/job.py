"""One request to a host, from its question to its answer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from retrograph.engine.errors import HostError
from retrograph.engine.host.replies import Event, Reply, failed

if TYPE_CHECKING:
    from retrograph.engine.host.client import Host


class Job:
    """One request under way. Iterate for its events; `reply` is there when the iteration ends.

    The iteration raises `HostError` when what was asked could not be done, `HostDiedError`, and
    `HostTimeoutError`.
    """

    def __init__(
        self,
        host: Host,
        do: str,
        stated: Mapping[str, Any],
        blobs: Sequence[bytes],
        timeout: float | None,
    ) -> None:
        if not host._asking.acquire(blocking=False):
            raise HostError("The graph's process is busy with something else.")
        self._host = host
        self._do = do
        self._timeout = timeout
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._reply: Reply | None = None
        self._over = False
        host._number += 1
        self._id = host._number
        host._doing = do
        try:
            host._send({**stated, "id": self._id, "do": do}, blobs)
        except BaseException:
            self._finish()
            raise

    @property
    def reply(self) -> Reply:
        """What was asked for. Only after the iteration has ended."""
        if self._reply is None:
            raise HostError("The graph's process has not answered yet.")
        return self._reply

    def __iter__(self) -> Iterator[Event]:
        try:
            while not self._over:
                frame = self._host._next(self._deadline)
                if frame is None:
                    assert self._timeout is not None
                    raise self._host._late(_WORDS.get(self._do, self._do), self._timeout)
                header, blobs = frame
                kind = header.get("is")
                if kind == "event":
                    yield Event(header, blobs)
                elif kind == "result" and header.get("id") == self._id:
                    self._reply = Reply(header, blobs)
                    self._finish()
                elif kind == "failed" and header.get("id") == self._id:
                    self._finish()
                    raise failed(header["error"])
        except GeneratorExit:  # the loop was left: another may go on, or the block ends
            raise
        except BaseException:
            self._finish()
            raise

    def __enter__(self) -> Job:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._over:
            self._host.kill()
            self._finish()

    def _finish(self) -> None:
        if not self._over:
            self._over = True
            self._host._doing = None
            self._host._asking.release()


_WORDS = {
    "load": "Loading the graph",
    "topology": "Reading the graph's topology",
    "fold": "Folding DeltaChannels",
    "preview": "The preview",
    "run": "The run",
}
