"""One thread that reads everything a host sends: frames, both outputs, fatal errors, its end.

Both outputs are always read, so that no amount of printing holds the host up; what nobody takes
is dropped in the middle and counted. Frames are never dropped: when nobody takes them the channel
is left alone, and the host waits. A second thread only waits for the process, so its end is seen
at once whoever else still holds the pipes.
"""

from __future__ import annotations

import os
import select
import selectors
import signal
import socket
import subprocess
import threading
import time
from collections import deque
from typing import IO, Any, Literal

from retrograph.engine.host.output import Decoder, Tail
from retrograph.engine.host.worker.frames import Frame, FrameError, Unpacker, told
from retrograph.engine.host.worker.ring import Ring

_READ = 256 * 1024
_FULL = 32 * 2**20
"""Bytes of frames that wait to be taken before the channel is left alone."""
_OUTPUT = 512 * 1024
"""Bytes of output that wait to be taken before more is dropped."""
_SILENT = 2.0
"""Seconds without a beat after which a living host is stuck in native code."""
_DRAIN = 0.5
"""Seconds at most that are read on after the process has ended."""

Stream = Literal["stdout", "stderr"]


class Pump:
    """Reads a host until it ends. All attributes are read under `ready`, a condition that is
    notified at every change."""

    def __init__(
        self, process: subprocess.Popen[bytes], channel: socket.socket, crash: int, ring: Ring
    ) -> None:
        self.process = process
        self.ready = threading.Condition()
        self.frames: deque[tuple[Frame, int]] = deque()
        """Frames not taken yet, with their sizes in bytes."""
        self.ended = False
        """The process is gone and all that it sent is here."""
        self.code: int | None = None
        """How it ended, as `Popen.returncode`; known a moment before `ended`."""
        self.ended_at = 0.0
        """`time.monotonic()` when its end was noticed."""
        self.closed = False
        """It closed its channel, at its end or before it."""
        self.garbled: str | None = None
        """Why what came over the channel were no frames."""
        self.tails: dict[Stream, Tail] = {"stdout": Tail(), "stderr": Tail()}
        self.crash = ""
        """What faulthandler wrote."""
        self.greeted = False
        """Frames have come: signals are handled."""
        self._channel = channel
        self._waiting = 0
        self._paused = False
        self._printed = 0
        self._dropped: dict[Stream, int] = {"stdout": 0, "stderr": 0}
        self._ring = ring
        self._received = 0
        """Bytes that came over the channel."""
        self._taken = 0
        """Bytes of that stream that the unpacker had: of some, the ring knew first."""
        self._unpacker = Unpacker()
        self._decoders: dict[Stream, Decoder] = {"stdout": Decoder(), "stderr": Decoder()}
        self._last = time.monotonic()
        self._silent = False
        self._wake_out, self._wake_in = os.pipe()
        os.set_blocking(self._wake_out, False)
        os.set_blocking(self._wake_in, False)
        self._selector = selectors.DefaultSelector()
        assert process.stdout is not None
        assert process.stderr is not None
        self._pipes: dict[Stream, IO[bytes]] = {"stdout": process.stdout, "stderr": process.stderr}
        for fd, what in (
            (process.stdout.fileno(), "stdout"),
            (process.stderr.fileno(), "stderr"),
            (crash, "crash"),
            (channel.fileno(), "channel"),
            (self._wake_out, "wake"),
        ):
            if what != "channel":
                os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ, what)
        self._crash_fd = crash
        self._waiter = threading.Thread(target=self._wait, name="host-end", daemon=True)
        self._reader = threading.Thread(target=self._read, name="host-read", daemon=True)
        self._waiter.start()
        self._reader.start()

    # What others call.

    def take(self) -> Frame | None:
        """The next frame, `None` where there is none now. Call it holding `ready`."""
        if not self.frames:
            return None
        frame, size = self.frames.popleft()
        self._waiting -= size
        if frame[0].get("event") == "output":
            self._printed -= len(frame[0]["text"])
        if self._paused and self._waiting < _FULL // 2:
            self._nudge()
        return frame

    @property
    def left(self) -> bool:
        """It closed its channel and has not ended, as far as is known."""
        return self.closed and self.code is None

    def signal(self, number: int) -> bool:
        """Send the host a signal, if it is still there."""
        with self.ready:
            if self.code is not None:
                return False
            try:
                os.kill(self.process.pid, number)
            except ProcessLookupError:
                return False
        return True

    def kill(self) -> None:
        """End the host and all processes of its group, at once."""
        with self.ready:
            if self.code is None:
                _kill_group(self.process.pid)

    def join(self, timeout: float | None = None) -> None:
        self._reader.join(timeout)

    # The thread that waits for the process.

    def _wait(self) -> None:
        pid = self.process.pid
        if hasattr(os, "waitid"):
            # Its id stays taken until it is reaped: nobody else's group is hit.
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            _kill_group(pid)
        else:
            self.process.wait()
            _kill_group(pid)
        with self.ready:
            self.code = self.process.wait()
            self.ended_at = time.monotonic()
            self.ready.notify_all()
            self._nudge()

    def _nudge(self) -> None:
        try:
            os.write(self._wake_in, b"\0")
        except OSError:  # full, which wakes as well; or closed
            pass

    # The thread that reads.

    def _read(self) -> None:
        deadline = None
        while True:
            if self.code is not None and deadline is None:
                deadline = time.monotonic() + _DRAIN
            self._flow(deadline is not None)
            # After the end: what is there now, and no waiting for who else holds the pipes.
            keys = self._selector.select(0 if deadline is not None else 0.25)
            useful = False
            for key, _ in keys:
                if key.data == "wake":
                    _drain(self._wake_out)
                else:
                    useful = True
                    self._take_in(key.fd, key.data)
            if deadline is not None and (not useful or time.monotonic() > deadline):
                break
            if deadline is None:
                if not keys:  # native code may hold up the threads that would send
                    self._catch_up()
                self._watch()
        self._catch_up()
        with self.ready:
            for stream in self._decoders:
                self._print(stream, b"", final=True)
            self.closed = True
            self.ended = True
            self.ready.notify_all()
        self._close()

    def _take_in(self, fd: int, what: str) -> None:
        try:
            if what == "channel":
                data = self._channel.recv(_READ, socket.MSG_DONTWAIT)
            else:
                data = os.read(fd, _READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        with self.ready:
            if not data:
                self._selector.unregister(fd)
                if what == "channel":
                    self.closed = True
            elif what == "channel":
                self._receive(data)
            elif what == "crash":
                self.crash = (self.crash + data.decode("utf-8", "backslashreplace"))[-_READ:]
            elif what == "stdout":
                self._print("stdout", data)
            else:
                self._print("stderr", data)
            self.ready.notify_all()

    def _receive(self, data: bytes) -> None:
        self._last = time.monotonic()
        self.greeted = True
        if self._silent:
            self._silent = False
            self._say({"event": "heard"})
        self._received += len(data)
        if self._received > self._ring.counts():
            # A host writes into the ring first. Before this the frames may look like frames: what
            # somebody else wrote can claim the next thousands of bytes for its own.
            self._garble("more came than was sent")
            return
        fresh = self._received - self._taken
        if fresh <= 0:
            return
        self._taken = self._received
        try:
            self._unpack(data[-fresh:])
        except FrameError as error:
            self._garble(str(error))

    def _garble(self, why: str) -> None:
        """Somebody else wrote into the channel. What the host itself said stands in the ring."""
        self.garbled = why
        self._selector.unregister(self._channel.fileno())
        self.closed = True
        self._taken = self._unpacker.position
        self._unpacker = Unpacker()

    def _catch_up(self) -> None:
        """Take what was told and has not been sent, from a host that will not send it."""
        with self.ready:
            rest = self._ring.after(self._taken)
            if not rest:
                return
            self._taken += len(rest)
            try:
                self._unpack(rest)
            except FrameError as error:
                self.garbled = str(error)
            self.ready.notify_all()

    def _unpack(self, data: bytes) -> None:
        before = self._unpacker.position
        for frame in self._unpacker.feed(data):
            at = self._unpacker.position
            kind = frame[0].get("is")
            if kind == "events":
                events = told(frame[0])
                for event in events:
                    self._add((event, []), (at - before) // len(events))
            elif kind != "beat":
                self._add(frame, at - before)
            before = at

    def _add(self, frame: Frame, size: int) -> None:
        size += 200
        self.frames.append((frame, size))
        self._waiting += size

    def _say(self, header: dict[str, Any]) -> None:
        self._add(({"is": "event", "at": time.time(), **header}, []), len(header.get("text", "")))

    def _print(self, stream: Stream, data: bytes, final: bool = False) -> None:
        self.tails[stream].add(data)
        text = self._decoders[stream].text(data, final)
        if self._printed > _OUTPUT and not final:
            self._dropped[stream] += len(text)
            return
        dropped, self._dropped[stream] = self._dropped[stream], 0
        if text or dropped:
            self._printed += len(text)
            self._say({"event": "output", "stream": stream, "text": text, "dropped": dropped})

    def _flow(self, ending: bool) -> None:
        """Leave the channel alone while too much waits, and come back to it."""
        with self.ready:
            if self.closed:
                return
            if not self._paused and self._waiting > _FULL and not ending:
                self._selector.unregister(self._channel.fileno())
                self._paused = True
            elif self._paused and (self._waiting < _FULL // 2 or ending):
                self._selector.register(self._channel.fileno(), selectors.EVENT_READ, "channel")
                self._paused = False
                self._last = time.monotonic()

    def _watch(self) -> None:
        """Say it once when a living host gives no beat: only native code can hold that up."""
        with self.ready:
            quiet = time.monotonic() - self._last
            if not self.greeted or self.closed or self._paused or self._silent or quiet < _SILENT:
                return
            self._silent = True
        if hasattr(signal, "SIGUSR1") and self.signal(signal.SIGUSR1):
            select.select([self._crash_fd], [], [], 0.2)
            time.sleep(0.05)  # the stack is written line by line
            if self._crash_fd in self._selector.get_map():
                self._take_in(self._crash_fd, "crash")
        with self.ready:
            self._say({"event": "silent", "seconds": quiet})
            self.ready.notify_all()

    def _close(self) -> None:
        self._selector.close()
        for pipe in self._pipes.values():
            pipe.close()
        self._channel.close()
        self._ring.close()
        with self.ready:
            for fd in (self._crash_fd, self._wake_in, self._wake_out):
                os.close(fd)
            self._wake_in = -1


def _drain(fd: int) -> None:
    try:
        while os.read(fd, 4096):
            pass
    except OSError:
        pass


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # nobody is left
        pass
