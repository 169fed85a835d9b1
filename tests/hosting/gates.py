"""Run by a user's interpreter in a project: the class gate, over what data may name.

python gates.py WORKER_FOLDER legitimate|attacks|allowed [MODULE]…
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import os
import pathlib
import pickle
import re
import sys
import uuid
import warnings
import zoneinfo
from collections import deque
from decimal import Decimal
from types import ModuleType
from typing import Any

warnings.simplefilter("ignore")
package = ModuleType("_rg_worker")
package.__path__ = [sys.argv[1]]
sys.modules["_rg_worker"] = package
sys.path[0] = os.getcwd()

import ormsgpack
from _rg_worker import faults  # type: ignore[import-not-found]
from _rg_worker.gate import Gate, RefusedError  # type: ignore[import-not-found]
from _rg_worker.serde import GateSerde  # type: ignore[import-not-found]
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command, Interrupt, Send

faults.set_roots([os.getcwd()])
gate = Gate(sys.argv[3:])
serde = GateSerde(gate)


def ext(code: int, *parts: Any) -> bytes:
    return ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(parts)))


def legitimate() -> None:
    from models import Customer, Order, Point, Tier

    values = [
        None,
        True,
        1,
        1.5,
        "text",
        b"bytes",
        bytearray(b"x"),
        [1, {"a": (1, 2)}],
        {1: 2},
        {1, 2},
        frozenset({1}),
        deque([1]),
        dt.datetime(2024, 1, 2, 3, tzinfo=dt.timezone.utc),
        dt.date(2024, 1, 2),
        dt.time(1, 2),
        dt.timedelta(days=1),
        dt.timezone.utc,
        zoneinfo.ZoneInfo("UTC"),
        uuid.uuid4(),
        Decimal("1.20"),
        pathlib.Path("a"),
        re.compile("a+"),
        ipaddress.ip_address("::1"),
        Tier.GOLD,
        Customer("Ada"),
        Order(id=1, customer=Customer("Ada")),
        Point(1, 2),
        [
            HumanMessage("hi", id="1"),
            AIMessage("ho", id="2", tool_calls=[]),
            ToolMessage("x", tool_call_id="1"),
        ],
        Document("text"),
        Send("n", {"a": Customer("Bo")}),
        Interrupt("really?"),
        Command(goto="x"),
    ]
    for value in values:
        typed = serde.dumps_typed(value)
        mine, theirs = serde.loads_typed(typed), JsonPlusSerializer().loads_typed(typed)
        same = mine == theirs or (
            type(mine) is type(theirs) and getattr(mine, "node", 0) == getattr(theirs, "node", 1)
        )
        assert same and type(mine) is type(theirs), (value, mine, theirs)
    # A class that is gone gives its fields.
    assert serde.loads_typed(("msgpack", ext(2, "models", "Gone", {"a": 1}))) == {"a": 1}
    assert serde.loads_typed(("msgpack", ext(2, "gone.module", "Gone", {"a": 1}))) == {"a": 1}
    # Under the name of `python agent.py`, once the graph's module is known.
    import models

    gate.aliases["__main__"] = models
    assert serde.loads_typed(
        ("msgpack", ext(2, "__main__", "Customer", {"name": "Ada"}))
    ) == Customer("Ada")
    # JSON of 2024.
    old = b'{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"], "kwargs": {"content": "hi"}}'
    assert serde.loads_typed(("json", old)).content == "hi"
    old = (
        b'{"lc": 2, "type": "constructor", "id": ["models", "Customer"], "kwargs": {"name": "Ada"}}'
    )
    assert serde.loads_typed(("json", old)) == Customer("Ada")
    print("fine", sorted(gate.made))


def attacks() -> None:
    ran: list[str] = []
    sys.addaudithook(
        lambda name, args: (
            ran.append(name)
            if name
            in (
                "os.system",
                "subprocess.Popen",
                "os.exec",
                "os.posix_spawn",
                "pickle.find_class",
                "shutil.rmtree",
            )
            else None
        )
    )

    class Evil:
        def __reduce__(self):
            return os.system, ("true",)

    named = [
        ("msgpack", ext(0, "os", "system", "touch hacked")),
        ("msgpack", ext(1, "os", "system", ["touch hacked"])),
        ("msgpack", ext(2, "subprocess", "Popen", {"args": ["touch", "hacked"]})),
        ("msgpack", ext(1, "builtins", "eval", ["open('hacked', 'w')"])),
        ("msgpack", ext(0, "builtins", "exec", "open('hacked', 'w')")),
        ("msgpack", ext(3, "pathlib", "Path", "hacked", "touch")),
        ("msgpack", ext(3, "datetime", "datetime", "x", "now")),
        ("msgpack", ext(1, "models", "Popen", [["touch", "hacked"]])),
        ("msgpack", ext(0, "models", "system", "touch hacked")),
        ("msgpack", ext(0, "models", "function", "x")),
        ("msgpack", ext(0, "models", "Plain", "x")),
        ("msgpack", ext(5, "models", "Plain", {}, "model_validate_json")),
        ("msgpack", ext(4, "smtplib", "SMTP", {"host": "127.0.0.1"})),
        ("msgpack", ext(2, "langchain_core.runnables.base", "RunnableLambda", {"func": 1})),
        ("msgpack", ext(0, "sqlite3", "connect", "hacked")),
        ("msgpack", ext(0, "antigravity", "x", 1)),
        ("msgpack", ext(0, 1, 2, 3)),
        ("msgpack", ext(9, 1)),
        ("pickle", pickle.dumps(Evil())),
        (
            "json",
            b'{"lc": 2, "type": "constructor", "id": ["os", "system"], "args": ["touch hacked"]}',
        ),
        (
            "json",
            b'{"lc": 2, "type": "constructor", "id": ["pathlib", "Path"], "method": "touch", "args": ["hacked"]}',
        ),
        (
            "json",
            b'{"lc": 1, "type": "constructor", "id": ["langchain_core", "load", "loads"], "kwargs": {}}',
        ),
        ("json", b'{"lc": 1, "type": "secret", "id": ["PATH"]}'),
        ("elf", b"x"),
        ("msgpack+aes", b"x" * 40),
    ]
    os.environ.pop("LANGGRAPH_AES_KEY", None)
    for attack in named:
        try:
            value = serde.loads_typed(attack)
        except RefusedError as refused:
            assert str(refused).startswith("A stored value") or "encrypted" in str(refused), refused
            assert str(refused).count(". ") == 0, refused
        else:
            raise AssertionError((attack, value))
    # The module of the project that no name of a class leads to is not even imported.
    assert serde.loads_typed(("msgpack", ext(0, "bomb", "nothing", 1))) == 1
    assert (
        "bomb" not in sys.modules
        and "antigravity" not in sys.modules
        and "smtplib" not in sys.modules
    )
    # Deep nesting ends in an error.
    deep = b"x"
    for _ in range(3000):
        deep = ormsgpack.packb(ormsgpack.Ext(0, deep))
    try:
        serde.loads_typed(("msgpack", deep))
    except Exception:
        pass
    assert not ran and "RAN" not in os.environ and not os.path.exists("hacked"), ran
    print("fine")


def allowed() -> None:
    value = serde.loads_typed(("msgpack", ext(0, "models", "Plain", "x")))
    assert type(value).__name__ == "Plain" and os.environ["RAN"] == "Plain"
    try:
        serde.loads_typed(("msgpack", ext(0, "models", "function", "x")))
    except RefusedError:
        print("fine")


{"legitimate": legitimate, "attacks": attacks, "allowed": allowed}[sys.argv[2]]()
