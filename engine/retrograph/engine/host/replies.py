"""What comes back from a host: replies, events, failures; and values as they go there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retrograph.engine.errors import GraphError, HostError
from retrograph.engine.model import Typed


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the header and the blobs."""

    header: Mapping[str, Any]
    blobs: Sequence[bytes] = ()

    def __getitem__(self, name: str) -> Any:
        return self.header[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self.header.get(name, default)

    def typed(self, stated: Mapping[str, Any]) -> Typed:
        """A typed value of this frame: `{"type": tag, "blob": i}`."""
        return Typed(stated["type"], self.blobs[stated["blob"]])


class Event(Reply):
    """Something that happened in the host.

    `name` is one of: `task_start`, `task_end`, `writes`, `checkpoint`, `interrupt`, `custom`,
    `message`, `paused` of a run (`worker/run.py` says what each brings); `output` (`stream`,
    `text`, `dropped`: characters lost before it), `silent` (no beat for `seconds`: native code
    holds Python; `Host.stack` tells where) and `heard` again.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        return str(self.header["event"])

    @property
    def at(self) -> float:
        """Seconds since 1970."""
        return float(self.header["at"])


class Blobs(list[bytes]):
    """The blobs of a request that is being put together."""

    def add(self, value: Typed) -> dict[str, Any]:
        """Add a typed value; returns what stands for it in the header."""
        self.append(value.data)
        return {"type": value.type, "blob": len(self) - 1}

    def raw(self, data: bytes) -> int:
        """Add bytes; returns their number."""
        self.append(data)
        return len(self) - 1


class HostFailedError(HostError):
    """What was asked raised an exception in the user's code."""

    def __init__(self, sentence: str, error: Mapping[str, Any]) -> None:
        super().__init__(sentence)
        self.error = error
        """`type`, `message`, `traceback` (text, from the user's first frame on), `file`, `line`."""


def failed(error: Mapping[str, Any]) -> HostError | GraphError:
    """The exception for what a host said of a failure."""
    if error.get("kind") == "graph":
        return GraphError(error["sentence"])
    return HostFailedError(error["sentence"], error)
