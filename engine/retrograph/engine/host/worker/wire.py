"""The host's end of the channel: frames out from any thread, requests in through a queue.

Events go out together: a run has several in each super-step, and waking the viewer for each would
cost more than they do. They wait for whatever else is sent, or for a blink, in memory that the
viewer shares (`ring`): where the process ends first, it reads them there. That something is done,
which is on disk besides, is written there only with what begins next, or at the blink; but at once
while other nodes run, which may be what ends the process.

The user's code may close or reuse any descriptor. So before each frame it is looked whether the
descriptor is still our socket: else a frame would be written into whatever file has its number.
"""

from __future__ import annotations

import errno
import faulthandler
import os
import queue
import signal
import socket
import threading
from collections.abc import Sequence
from time import sleep
from time import time as now
from typing import Any, Callable

from .frames import Frame, FrameError, Packb, Unpacker, pack, pack_events
from .ring import SIZE, Ring

BEAT = 0.1
"""Seconds between two beats."""
_BLINK = 0.02
"""Seconds that an event may wait."""
_MUCH = 64 * 1024
"""Bytes of events that do not wait."""
_AT_ONCE = frozenset(("paused", "interrupt"))
_DONE = frozenset(("task_end", "writes", "checkpoint"))
_GOING = {"task_start": 1, "task_end": -1}
_MANY = 100
"""Events that wait for each other at most."""
LOST = 70
"""The exit code where the channel was taken from us (`sysexits.h`, EX_SOFTWARE)."""
EXITED = "rg: os._exit"

_Identity = tuple[int, int]
exit_now: Callable[[int], Any] = os._exit
"""The real `os._exit`: the one that user code finds writes down where it was called first."""


class Wire:
    """Frames out, requests in. After a fork, the child's is dead and silent."""

    def __init__(self, channel: int, crashes: int, ring: int) -> None:
        self.requests: queue.Queue[Frame] = queue.Queue()
        self.steer: Callable[[dict[str, Any]], None] | None = None
        """Called with each `tell`, in the reading thread."""
        self.packb: Packb = None
        """What encodes events, once it is there."""
        self._socket = socket.socket(fileno=channel)
        self._crashes = crashes
        self._mine: dict[int, _Identity] = {fd: _identity(fd) for fd in (channel, crashes)}
        self._lock = threading.Lock()
        self._ring = Ring(ring)
        os.close(ring)
        self._sent = 0
        """How much of what stands in the ring has been sent."""
        self._told: list[dict[str, Any]] = []
        """Events that are not in the ring yet."""
        self._going = 0
        """Nodes that run now."""
        self._dead = False
        for fd in (channel, crashes):
            os.set_inheritable(fd, False)
        os.register_at_fork(after_in_child=self._in_child)
        faulthandler.enable(crashes, all_threads=True)
        if hasattr(faulthandler, "register"):
            faulthandler.register(signal.SIGUSR1, crashes, all_threads=True)
        os._exit = self._exit  # type: ignore[assignment]
        threading.Thread(target=self._read, name="retrograph-read", daemon=True).start()
        threading.Thread(target=self._beat, name="retrograph-beat", daemon=True).start()

    def send(self, header: dict[str, Any], blobs: Sequence[bytes] = ()) -> None:
        """Send a frame whole. Never returns where there is nobody to send to."""
        self._put(pack(header, blobs), at_once=True)

    def _put(self, pieces: Sequence[bytes], at_once: bool) -> None:
        if self._dead:
            return
        with self._lock:
            self._put_in(pieces, at_once)

    def _put_in(self, pieces: Sequence[bytes], at_once: bool) -> None:
        """What `_put` does under the lock."""
        self._write_told()
        for piece in pieces:
            self._write(piece)
        waiting = self._ring.end - self._sent
        if waiting > _MUCH or (at_once and waiting):
            self._send_rest()

    def _write_told(self) -> None:
        """All in one frame: for each of its own, much of Python's code would be gone through."""
        if self._told:
            told, self._told = self._told, []
            self._write(pack_events(told, self.packb))

    def _write(self, piece: bytes) -> None:
        for start in range(0, len(piece), SIZE):
            part = piece[start : start + SIZE] if len(piece) > SIZE else piece
            if self._ring.end + len(part) - self._sent > SIZE:
                self._send_rest()
            self._ring.write(part)

    def _send_rest(self) -> None:
        """Send what stands in the ring and was not sent."""
        if not self._ours(self._socket.fileno()):
            self._lost()
        try:
            self._socket.sendall(self._ring.between(self._sent, self._ring.end))
        except OSError as error:
            if error.errno in (errno.EPIPE, errno.ECONNRESET):
                _end_group()
            self._lost()
        self._sent = self._ring.end

    def event(self, name: str, blobs: Sequence[bytes] = (), **data: Any) -> None:
        """Say that something happened."""
        self.tell(name, data, blobs)

    def tell(self, name: str, data: dict[str, Any], blobs: Sequence[bytes] = ()) -> None:
        """The same; `data` is the wire's own from now on."""
        if self._dead:  # not under the lock: of a forked process, nobody may ever let go of it
            return
        data["event"] = name
        data["at"] = now()
        pieces = pack({"is": "event", **data}, blobs) if blobs else ()
        with self._lock:
            self._going += _GOING.get(name, 0)
            if not blobs:
                self._told.append(data)
            if name in _DONE and self._going <= 0 and len(self._told) < _MANY:
                return
            self._put_in(pieces, name in _AT_ONCE)

    def _read(self) -> None:
        unpacker = Unpacker()
        while True:
            try:
                data = self._socket.recv(256 * 1024)
            except OSError:
                self._lost()
            if self._dead:
                return
            if not data:
                # Nobody looks any more: the run must not go on by itself.
                if self._ours(self._socket.fileno()):
                    _end_group()
                self._lost()
            try:
                for header, blobs in unpacker.feed(data):
                    if "tell" in header:
                        if self.steer is not None:
                            self.steer(header)
                    else:
                        self.requests.put((header, blobs))
            except FrameError:
                self._lost()

    def _beat(self) -> None:
        blinks = 0
        while not self._dead:
            if blinks % round(BEAT / _BLINK) == 0:
                self.send({"is": "beat"})
            else:
                self._put((), at_once=True)
            blinks += 1
            sleep(_BLINK)

    def _ours(self, fd: int) -> bool:
        try:
            return fd in self._mine and _identity(fd) == self._mine[fd]
        except OSError:
            return False

    def _lost(self) -> None:
        """The user's code closed the channel: leave word of where it is, and end."""
        if self._dead:
            return
        for fd in (self._crashes, 2):
            if fd == 2 or self._ours(fd):
                try:
                    faulthandler.dump_traceback(fd, all_threads=True)
                    break
                except (OSError, ValueError):
                    continue
        exit_now(LOST)

    def _exit(self, code: int) -> Any:
        """In place of `os._exit`: says where it was called."""
        if not self._dead and self._lock.acquire(timeout=0.1):
            self._write_told()  # and lets nobody begin another
        if self._ours(self._crashes):
            try:
                os.write(self._crashes, (EXITED + "\n").encode())
                faulthandler.dump_traceback(self._crashes, all_threads=False)
            except (OSError, ValueError):
                pass
        return exit_now(code)

    def _in_child(self) -> None:
        self._dead = True
        os._exit = exit_now  # type: ignore[assignment]
        faulthandler.disable()
        for fd in list(self._mine):
            if self._ours(fd):
                try:
                    os.close(fd)
                except OSError:
                    pass


def _identity(fd: int) -> _Identity:
    found = os.fstat(fd)
    return found.st_dev, found.st_ino


def _end_group() -> None:
    """End this process and those it started: nobody looks at them any more."""
    try:
        os.killpg(os.getpgrp(), signal.SIGKILL)
    finally:
        exit_now(0)


class Values:
    """The blobs of a frame that is being put together."""

    def __init__(self) -> None:
        self.blobs: list[bytes] = []

    def add(self, typed: tuple[str | None, bytes]) -> dict[str, Any]:
        """Add a typed value; returns what stands for it in the header."""
        self.blobs.append(bytes(typed[1]))
        return {"type": typed[0], "blob": len(self.blobs) - 1}

    def raw(self, data: bytes) -> int:
        self.blobs.append(data)
        return len(self.blobs) - 1
