"""One value or more of every kind that LangGraph's JsonPlusSerializer can store."""

from __future__ import annotations

import ipaddress
import re
from collections import deque
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.store.base import Item
from langgraph.types import Command, Interrupt, Overwrite, Send
from pydantic import SecretStr

from blobs.models import Customer, Money, Names, Order, Point, Tier

_NOW = datetime(2026, 11, 29, 12, 30, 5, 123456)
_CALL = {"name": "lookup", "args": {"q": "refund", "n": 2}, "id": "call_1", "type": "tool_call"}

MESSAGES = {
    "human": HumanMessage("where is my refund?", id="h0"),
    "ai": AIMessage("", id="ai1", tool_calls=[_CALL], name="clerk"),
    "ai with blocks": AIMessage([{"type": "text", "text": "yes"}, "no"], usage_metadata={
        "input_tokens": 3, "output_tokens": 4, "total_tokens": 7}),
    "chunk": AIMessageChunk("par", id="c1"),
    "tool": ToolMessage("paid", tool_call_id="call_1", artifact={"raw": b"\x00"}),
    "system": SystemMessage("be brief"),
    "chat": ChatMessage("hm", role="critic"),
    "remove": RemoveMessage(id="h0"),
}  # fmt: skip

VALUES = {
    "null": None,
    "true": True,
    "int": 42,
    "biggest int": 2**64 - 1,
    "smallest int": -(2**63),
    "float": 1.5,
    "nan": float("nan"),
    "infinity": float("-inf"),
    "text": 'naïve 線程 \x00 \x1b[31m "quoted" \u202e',
    "bytes": b"\x00\xff",
    "bytearray": bytearray(b"abc"),
    "list": [1, [2, [3, []]], None],
    "map": {"a": 1, "b": {"c": []}},
    "odd keys": {7: "int", "s": 1, None: 2, 1.5: 3, b"b": 4, (1, "x"): 5, True: 6},
    "names of our own marks": {"$type": "x", "$set": [1], "$bytes": "?"},
    "uuid": UUID("27b94798-ab43-5fc6-b914-ce3519ea0808"),
    "decimal": Decimal("1.20"),
    "decimal nan": Decimal("sNaN"),
    "set": {1, "a"},
    "frozenset": frozenset({b"x"}),
    "set of tuples": {(1, 2)},
    "deque": deque([1, {2}]),
    "ip": ipaddress.ip_address("10.0.0.1"),
    "network": ipaddress.ip_network("fe80::/10"),
    "zone": ZoneInfo("Europe/Paris"),
    "enum": Tier.GOLD,
    "enum of a float": Tier.GREY,
    "secret": SecretStr("hunter2"),
    "path": Path("/srv/data/x.txt"),
    "relative path": Path("a/../b"),
    "pattern": re.compile("a+b?", re.IGNORECASE),
    "datetime": _NOW,
    "datetime in a zone": _NOW.replace(tzinfo=timezone(timedelta(hours=5, minutes=30))),
    "datetime utc": _NOW.replace(tzinfo=UTC, microsecond=0),
    "date": date(2024, 2, 29),
    "time": time(12, 30, 1, 5),
    "time in a zone": time(12, 30, tzinfo=UTC),
    "timedelta": timedelta(days=-1, seconds=5, microseconds=7),
    "timezone": timezone(timedelta(hours=-3), "X"),
    "send": Send("pack", {"order": Order(1)}),
    "interrupt": Interrupt(value={"ask": "ship?"}, id="abc"),
    "command": Command(goto=[Send("a", 1), "b"], update={"x": 1}),
    "overwrite": Overwrite([1, 2]),
    "dataclass": Order(7, ["x"]),
    "namedtuple": Point(1, (2, 3)),
    "pydantic": Customer(name="Ada", balance=Money(amount=2)),
    "pydantic root": Names(["a", "b"]),
    "document": Document(page_content="text", metadata={"source": Path("/a")}),
    "item": Item(value={"k": 1}, key="k", namespace=("a", "b"), created_at=_NOW, updated_at=_NOW),
    "array": np.arange(6, dtype="int32").reshape(2, 3),
    "fortran array": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "empty array": np.zeros((0, 3)),
    "delta snapshot": _DeltaSnapshot([1, HumanMessage("x", id="1"), {2}]),
    "empty delta snapshot": _DeltaSnapshot(None),
    "exception": ValueError("boom"),
    "state": {"messages": list(MESSAGES.values()), "join": {"a", "b"}, "who": Customer(name="B")},
    **MESSAGES,
}
"""By name. Exceptions are stored as their repr, tuples as lists."""
