"""The messages between the viewer and a host, over one socket pair (and, see `ring`, beside it).

A frame is `u32 length of the header`, `u32 number of blobs` (both big-endian), the header as JSON
in UTF-8, then for each blob `u64 length` and its bytes. A header of `events` may be msgpack, which
costs a run less; a JSON object is told from it by its first byte. Both sides use this
module: the viewer as part of its package, the worker by its location. So: standard library (and
ormsgpack once LangGraph, which brings it, has been imported), Python 3.9.

Viewer to host: `{"id": n, "do": NAME, …}` asks for something, exactly one frame with that id
answers it; `{"tell": NAME, …}` steers what is under way and is not answered.

Host to viewer, by `"is"`:

| is | with |
|---|---|
| `hello` | `python`, `langgraph`, `checkpoint`: versions; or `error`: no LangGraph that works |
| `beat` | nothing: the host is alive, ten times a second |
| `event` | `event`: its name, `at`: seconds since 1970, and what belongs to it |
| `events` | `events`: several of these, without blobs, in order |
| `result` | `id`: what was asked is done, with what belongs to it |
| `failed` | `id`, `error`: what was asked could not be done |
| `done` | nothing: the host ends now, as it was asked to |

A typed value (LangGraph's type tag and bytes) stands in a header as `{"type": tag, "blob": i}`:
the i-th blob of the same frame holds its bytes.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Callable, Optional

Header = dict[str, Any]
Frame = tuple[Header, list[bytes]]

CHANNEL = "RETROGRAPH_HOST_CHANNEL"
"""Environment variable: the number of the descriptor for frames."""
CRASHES = "RETROGRAPH_HOST_CRASHES"
"""Environment variable: the number of the descriptor that fatal errors are written to."""
RING = "RETROGRAPH_HOST_RING"
"""Environment variable: the number of the descriptor of the memory that both sides share."""

MAX_HEADER = 256 * 2**20
MAX_BLOBS = 1_000_000

# Kept, like all that is called here while user code runs: that may put others in their place.
_encoded = json.JSONEncoder(separators=(",", ":"), default=str).encode
_decoded = json.JSONDecoder().decode
_HEAD = struct.Struct("!II")
_SIZE = struct.Struct("!Q")


Packb = Optional[Callable[[Any], bytes]]
"""`ormsgpack.packb`, where it is known to be there."""


class FrameError(Exception):
    """The bytes are no frame: somebody else wrote into the channel."""


def pack(header: Header, blobs: Sequence[bytes] = ()) -> list[bytes]:
    """A frame, in pieces to be sent one after another (blobs are not copied)."""
    text = _encoded(header).encode()
    pieces = [_HEAD.pack(len(text), len(blobs)) + text]
    for blob in blobs:
        pieces.append(_SIZE.pack(len(blob)))
        pieces.append(bytes(blob))
    return pieces


def pack_events(events: Sequence[Header], packb: Packb = None) -> bytes:
    """A frame of events without blobs."""
    header = {"is": "events", "events": events}
    if packb is not None:
        try:
            text = packb(header)
        except (TypeError, ValueError):  # half a surrogate pair, an integer beyond 64 bits
            pass
        else:
            return _HEAD.pack(len(text), 0) + text
    return pack(header)[0]


def told(header: Header) -> list[Header]:
    """The headers of the events in a frame of several. Raises `FrameError`."""
    events = header.get("events")
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise FrameError("events that are none")
    return [{"is": "event", **event} for event in events]


def _unpacked(text: bytes) -> Any:
    import ormsgpack

    return ormsgpack.unpackb(text)


class Unpacker:
    """Takes bytes as they come, gives whole frames."""

    def __init__(self) -> None:
        self.position = 0
        """Bytes of the frames that were given."""
        self._data = bytearray()
        self._need = _HEAD.size  # not worth looking before there is this much

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that are complete with these bytes. Raises `FrameError`."""
        self._data += data
        while len(self._data) >= self._need:
            frame = self._next()
            if frame is None:
                return
            yield frame

    def _next(self) -> Frame | None:
        data = self._data
        length, count = _HEAD.unpack_from(data)
        if length > MAX_HEADER or count > MAX_BLOBS:
            raise FrameError(f"a header of {length} bytes with {count} blobs")
        at = _HEAD.size + length
        spans = []
        for _ in range(count):
            if len(data) < at + _SIZE.size:
                self._need = at + _SIZE.size
                return None
            (size,) = _SIZE.unpack_from(data, at)
            spans.append((at + _SIZE.size, size))
            at += _SIZE.size + size
        if len(data) < at:
            self._need = at
            return None
        try:
            text = bytes(data[_HEAD.size : _HEAD.size + length])
            header = _decoded(text.decode()) if text[:1] == b"{" else _unpacked(text)
        except ValueError as error:
            raise FrameError(str(error)) from None
        if not isinstance(header, dict):
            raise FrameError("a header that is no object")
        view = memoryview(data)
        blobs = [bytes(view[start : start + size]) for start, size in spans]
        view.release()
        del data[:at]
        self.position += at
        self._need = _HEAD.size
        return header, blobs
