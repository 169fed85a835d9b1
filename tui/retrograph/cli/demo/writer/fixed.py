"""Makes LangGraph's ids and times depend on the script alone: a clock and dice that we hold.

Only for the process that writes the demo. Checkpoint ids are UUIDs version 6 of the time
(`langgraph.checkpoint.base.id`), `ts` is the time again (`langgraph.pregel._checkpoint`), and
channel versions end in a random number (`langgraph.checkpoint.sqlite`): each of these modules
gets our clock and dice in place of the standard library's.
"""

from __future__ import annotations

import random
import zlib
from datetime import datetime, timedelta, tzinfo
from threading import Lock
from types import ModuleType
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langgraph.checkpoint import sqlite
from langgraph.checkpoint.base import id as ids
from langgraph.pregel import _checkpoint

# What a run of each node takes, in milliseconds; a node that holds a graph takes what that takes.
TOOK = {
    "receive": 18,
    "assist": 1650,
    "tools": 140,
    "stock": 90,
    "fraud": 610,
    "price": 3,
    "hold": 2,
    "inspect": 900,
    "refund": 230,
    "split": 1,
    "pack": 45,
    "book": 720,
    "notify": 25,
}


class Clock(BaseCallbackHandler):
    """A clock that stands still but for what the nodes are said to take.

    It stands where LangGraph expects the modules `time` and `datetime`. The nodes of a step begin
    together, so the next checkpoint is made when the slowest has ended, whatever threads do.
    """

    run_inline = True

    def __init__(self) -> None:
        self._now = self._step_end = datetime.min
        self._seed = ""
        self._lock = Lock()  # nodes of one step begin in threads of their own

    def begin(self, thread_id: str, at: datetime) -> None:
        """Sets the clock, which may also go back, for the next thread."""
        self._now = self._step_end = at
        self._seed = thread_id
        ids._last_v6_timestamp = None
        dice = random.Random(thread_id)
        _stand_in({ids: "random", sqlite: "random"}, dice)

    def wait(self, seconds: float) -> None:
        self._now = self._step_end = self.now() + timedelta(seconds=seconds)

    def now(self, tz: tzinfo | None = None) -> datetime:
        self._now = max(self._now, self._step_end)
        return self._now

    def time_ns(self) -> int:
        return int(self._now.timestamp() * 1_000_000) * 1_000

    def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
        metadata = kwargs.get("metadata") or {}
        node = kwargs.get("name")
        if node is None or node != metadata.get("langgraph_node") or node not in TOOK:
            return
        seed = f"{self._seed} {metadata.get('langgraph_step')} {node}"
        slower = 1 + zlib.crc32(seed.encode()) % 400 / 1000
        took = timedelta(microseconds=int(TOOK[node] * 1000 * slower))
        with self._lock:
            self._step_end = max(self._step_end, self._now + took)


def install() -> Clock:
    clock = Clock()
    _stand_in({ids: "time", _checkpoint: "datetime"}, clock)
    return clock


def _stand_in(names: dict[ModuleType, str], thing: Any) -> None:
    for module, name in names.items():
        setattr(module, name, thing)
