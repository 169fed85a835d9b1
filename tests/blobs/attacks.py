"""Stored bytes that want something to happen, and a program that reads them all under guard.

    python -m blobs.attacks

decodes, shows, outlines, compares and encodes each of them with an audit hook that notes every
import, exec, compile, open, process and socket. Prints what each became, as JSON; fails on any
event, on any new module, on any exception, and where memory runs out.
"""

from __future__ import annotations

import json
import resource
import struct
import sys
from pickle import dumps as _pickle
from typing import Any

import ormsgpack

from retrograph.engine.model import Typed
from retrograph.engine.serde import Serde, envelope, send_node
from retrograph.engine.values import equal, from_json, message_fields, to_json, type_name
from retrograph.engine.views.outline import Outline
from retrograph.engine.views.redact import Redactor
from retrograph.engine.views.summary import one_line

MEMORY = 1 << 30
"""Bytes of address space, interpreter and all."""

CMD = "touch /tmp/retrograph-was-here"


def ext(code: int, *parts: Any) -> ormsgpack.Ext:
    return ormsgpack.Ext(code, ormsgpack.packb(parts, default=_keep))


def _keep(obj: Any) -> Any:
    return obj


def msgpack(value: Any) -> bytes:
    return ormsgpack.packb(value, default=_keep, option=ormsgpack.OPT_NON_STR_KEYS)


def lc(version: int, path: list[str], **rest: Any) -> dict[str, Any]:
    return {"lc": version, "type": "constructor", "id": path, **rest}


class _Boom:
    def __reduce__(self) -> Any:
        return print, ("boom",)


def nested_ext(depth: int, code: int = 0) -> bytes:
    raw = msgpack(("builtins", "set", []))
    for _ in range(depth):
        body = b"\x93\xa8builtins\xa3set" + b"\x91" + _ext_bytes(code, raw)
        raw = body
    return _ext_bytes(code, raw)


def _ext_bytes(code: int, raw: bytes) -> bytes:
    return b"\xc9" + struct.pack(">Ib", len(raw), code) + raw


def colliding_tuples(count: int) -> bytes:
    """A map with `count` two-element arrays as keys whose Python hashes are all the same."""
    p1, p2, p5 = 11400714785074694791, 14029467366897019727, 2870177450012600261
    mask = (1 << 64) - 1
    inverse1, inverse2 = pow(p1, -1, 1 << 64), pow(p2, -1, 1 << 64)
    wanted = 12345678901234567

    def turn(x: int) -> int:
        return ((x << 31) | (x >> 33)) & mask

    def turn_back(x: int) -> int:
        return ((x >> 31) | (x << 33)) & mask

    out = []
    first = 0
    before = turn_back(wanted * inverse1 & mask)
    while len(out) < count:
        first += 1
        acc = turn((p5 + first * p2) & mask) * p1 & mask
        second = (before - acc) * inverse2 & mask
        if second < (1 << 61) - 1:
            out.append(b"\x92" + msgpack(first) + msgpack(second) + b"\xc0")
    return b"\xdf" + struct.pack(">I", count) + b"".join(out)


def corpus() -> dict[str, Typed]:
    """By name. None of them may do anything."""
    pack = {
        "os.system": ext(0, "os", "system", CMD),
        "eval": ext(0, "builtins", "eval", "__import__('os').system('id')"),
        "exec by args": ext(1, "builtins", "exec", ["1/0"]),
        "popen by kwargs": ext(2, "subprocess", "Popen", {"args": CMD, "shell": True}),
        "method": ext(3, "os", "path", CMD, "expanduser"),
        "open": ext(0, "io", "open", "/etc/passwd"),
        "pydantic v1 of a function": ext(4, "os", "system", {"command": CMD}),
        "pydantic of a function": ext(5, "subprocess", "run", {"args": CMD}, "model_validate_json"),
        "zone that names a file": ext(0, "zoneinfo", "ZoneInfo", "../../etc/passwd"),
        "module that imports": ext(0, "antigravity", "x", 1),
        "pattern that backtracks": ext(1, "re", "compile", ["(a+)+$", 0]),
        "uuid that is none": ext(0, "uuid", "UUID", {"a": 1}),
        "date out of range": ext(1, "datetime", "date", [99999, 99, 99]),
        "datetime of an object": ext(3, "datetime", "datetime", [1], "fromisoformat"),
        "datetime by another method": ext(3, "datetime", "datetime", "x", "strptime"),
        "timedelta overflow": ext(1, "datetime", "timedelta", [2**62, 0, 0]),
        "time with odd keys": ext(2, "datetime", "time", {"__class__": 1}),
        "decimal bomb": ext(0, "decimal", "Decimal", "1e999999999999999999"),
        "long decimal": ext(0, "decimal", "Decimal", "9" * 100_000),
        "set of lists": ext(0, "builtins", "set", [[1], [1], {}]),
        "set of a number": ext(0, "builtins", "set", 7),
        "send of nothing": ext(1, "langgraph.types", "Send", []),
        "send to a number": ext(1, "langgraph.types", "Send", [5, {}]),
        "message that is a list": ext(5, "langchain_core.messages.ai", "AIMessage", [1, 2]),
        "message with odd parts": ext(
            5,
            "langchain_core.messages.ai",
            "AIMessage",
            {"content": {"x": 1}, "type": ["ai"], "tool_calls": 5},
        ),
        "no names": ext(0, 1, 2, 3),
        "empty tuple": ext(0),
        "not even a tuple": ormsgpack.Ext(5, b"\x01"),
        "payload of garbage": ormsgpack.Ext(5, b"\xc1\xc1"),
        "empty payload": ormsgpack.Ext(2, b""),
        "array that lies": ext(6, "<f8", [10**9, 10**9], "C", b"x"),
        "array of objects": ext(6, "|O", [1], "C", _pickle([_Boom()])),
        "array with negative shape": ext(6, "<f8", [-1], "C", b""),
        "delta of garbage": ormsgpack.Ext(7, b"\xc1"),
        "unknown extension": ormsgpack.Ext(99, b"abc"),
        "secret": ext(0, "pydantic.types", "SecretStr", "hunter2"),
        "marks in data": {"$type": "os.system", "$value": CMD, "$pickle": "gASV"},
        "constructor dict in data": lc(2, ["os", "system"], args=[CMD]),
    }
    found = {name: Typed("msgpack", msgpack({"x": value})) for name, value in pack.items()}
    texts = {
        "json lc 2": lc(2, ["os", "system"], args=[CMD]),
        "json lc 2 method": lc(2, ["os", "path"], method="expanduser", args=["~"]),
        "json lc 1": lc(1, ["os", "system"], kwargs={"command": CMD}),
        "json lc 1 message": lc(1, ["langchain", "schema", "messages", "AIMessage"], kwargs={}),
        "json lc 1 secret": {"lc": 1, "type": "secret", "id": ["OPENAI_API_KEY"]},
        "json lc 1 not implemented": {"lc": 1, "type": "not_implemented", "id": ["x"]},
        "json lc 2 odd": lc(2, [], args=5, kwargs=[]),
        "json lc 2 odd id": lc(2, [1, None], args=[]),
        "json lc of another kind": {"lc": [], "type": {}, "id": 7},
        "json lc 2 set of nothing": lc(2, ["builtins", "set"], args=[]),
        "json lc 2 uuid": lc(2, ["uuid", "UUID"], args=[{"a": 1}]),
        "json lc 2 decimal": lc(2, ["decimal", "Decimal"], args=[[]]),
        "json py/object": {"py/object": "os.system", "py/reduce": [CMD]},
    }
    found |= {name: Typed("json", json.dumps({"x": v}).encode()) for name, v in texts.items()}
    whole = msgpack({"a": list(range(99)), "b": "c"})
    return found | {
        "pickle": Typed("pickle", _pickle(_Boom())),
        "pickle protocol 0": Typed("pickle", b"cos\nsystem\n(S'" + CMD.encode() + b"'\ntR."),
        "pickle with a long number": Typed("pickle", b"I" + b"9" * 100_000 + b"\n."),
        "pickle cut": Typed("pickle", _pickle(_Boom())[:-5]),
        "yaml": Typed("yaml", b"!!python/object/apply:os.system [id]"),
        "100,000 arrays": Typed("msgpack", b"\x91" * 100_000 + b"\xc0"),
        "100,000 maps": Typed("msgpack", b"\x81\xa1a" * 100_000 + b"\xc0"),
        "100,000 map keys": Typed("msgpack", b"\x81" * 100_000),
        "5,000 extensions": Typed("msgpack", nested_ext(5_000)),
        "5,000 snapshots": Typed("msgpack", _snapshots(5_000)),
        "array of 2^32": Typed("msgpack", b"\xdd\xff\xff\xff\xff" + b"\x01" * 100),
        "map of 2^32": Typed("msgpack", b"\xdf\xff\xff\xff\xff\xa1a\x01"),
        "string of 2^32": Typed("msgpack", b"\xdb\xff\xff\xff\xff" + b"a" * 100),
        "bytes of 2^32": Typed("msgpack", b"\xc6\xff\xff\xff\xff" + b"a" * 100),
        "extension of 2^32": Typed("msgpack", b"\xc9\xff\xff\xff\xff\x05" + b"a" * 100),
        "10 MB of NULs": Typed("msgpack", bytes(10_000_000)),
        "10 MB of NULs as JSON": Typed("json", bytes(10_000_000)),
        "array of 2^32 and NULs": Typed("msgpack", b"\xdd\xff\xff\xff\xff" + bytes(10**6)),
        "cut in half": Typed("msgpack", whole[: len(whole) // 2]),
        "keys that collide": Typed("msgpack", colliding_tuples(20_000)),
        "map as key": Typed("msgpack", b"\x81\x80\x01"),
        "extension as key": Typed("msgpack", b"\x81" + msgpack(pack["os.system"]) + b"\x01"),
        "key twice": Typed("msgpack", b"\x82\xa1a\x01\xa1a\x02"),
        "not UTF-8": Typed("msgpack", b"\x82\xa1a\xa2\xff\xfe\xa1b\x01"),
        "surrogates": Typed("msgpack", b"\xa3\xed\xa0\x80"),
        "timestamp": Typed("msgpack", b"\xd6\xff\x00\x00\x00\x01"),
        "reserved byte": Typed("msgpack", b"\x92\x01\xc1"),
        "json 100,000 deep": Typed("json", b"[" * 100_000),
        "json 100,000 objects": Typed("json", b'{"a":' * 100_000),
        "json long number": Typed("json", b'{"a": ' + b"9" * 1_000_000 + b"}"),
        "json long exponent": Typed("json", b"[1e999999999, -1e999999999]"),
        "json surrogates": Typed("json", b'["\\ud800", "\\udc80\\ud83d"]'),
        "json not UTF-8": Typed("json", b'["\xff\xfe"]'),
        "json UTF-16": Typed("json", '{"a": 1}'.encode("utf-16")),
        "json lc deep": Typed("json", _lc_deep(300)),
    }  # fmt: skip


def _snapshots(depth: int) -> bytes:
    raw = b"\xc0"
    for _ in range(depth):
        raw = _ext_bytes(7, raw)
    return raw


def _lc_deep(depth: int) -> bytes:
    head = b'{"lc":2,"type":"constructor","id":["builtins","set"],"args":[['
    return head * depth + b"]]}" * depth


def read(typed: Typed) -> Any:
    """All that the viewer does with a value."""
    serde = Serde()
    value = serde.decode(typed)
    written = to_json(value)
    json.dumps(written)
    one_line(value)
    type_name(value)
    message_fields(value)
    Redactor()(value)
    outline = Outline({"value": value})
    outline.expand_levels(0, 6, 500)
    for at in range(min(len(outline), 50)):
        outline.row(at)
    assert equal(value, serde.decode(typed))
    back = from_json(written, like=value)
    for candidate in (value, back):
        for kind in (None, "json"):
            try:
                serde.encode(candidate, kind)
            except Exception as e:
                if not type(e).__module__.startswith("retrograph"):
                    raise
    envelope("", "id", None, typed, typed, serde)
    wrapped = msgpack({"channel_values": {"x": 1}, "channel_versions": {}})
    envelope("", "id", None, Typed("msgpack", wrapped), typed, serde)
    send_node(typed.type, typed.data[:256])
    return written


_FORBIDDEN = (
    "import", "exec", "compile", "open", "os.", "subprocess.", "socket.", "ctypes.", "pickle.",
    "marshal.", "shutil.", "urllib.", "tempfile.", "glob.", "code.__new__",
)  # fmt: skip


def main() -> None:
    found = corpus()
    read(Typed("msgpack", msgpack({"warm": [ext(0, "uuid", "UUID", "0" * 32)]})))
    read(Typed("pickle", b"N."))
    read(Typed("json", b'{"a": 1.5, "b": {"lc": 1}}'))
    modules = set(sys.modules)
    events: list[str] = []
    watching = True

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if watching and event.startswith(_FORBIDDEN):
            events.append(f"{current}: {event} {str(args)[:200]}")

    current = ""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.addaudithook(watch)
    results = {}
    for current, typed in found.items():
        results[current] = read(typed)
    watching = False
    assert not events, events
    assert set(sys.modules) == modules, set(sys.modules) - modules
    for name in list(results):
        text = json.dumps(results[name])
        if len(text) > 2000:
            results[name] = text[:2000]
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
