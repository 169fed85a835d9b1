"""A checkpoint without its values, in every layout."""

from __future__ import annotations

import json
from typing import Any

import ormsgpack
import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Send

from retrograph.engine.model import Envelope, Typed
from retrograph.engine.serde import Serde, decode_metadata, envelope, send_node
from retrograph.engine.values import SetValue

SERDE = Serde()
OFFICIAL = JsonPlusSerializer()
BODY: dict[str, Any] = {
    "v": 4,
    "ts": "2026-11-29T12:41:38+00:00",
    "id": "c2",
    "channel_values": {
        "messages": [HumanMessage("hi", id="1")],
        "total": 1.5,
        "branch:to:ship": None,
        "branch:to:late": [None, True],
        "join:a+b:c": {"a", "b"},
        "start:x": "__start__",
        "__pregel_tasks": [Send("pack", {"big": "x" * 1000}), Send("wräp", None)],
    },
    "channel_versions": {"messages": "0001.5", "total": 2, "odd": 1.5},
    "versions_seen": {"__input__": {}, "a": {"messages": "0001.5"}},
    "updated_channels": ["messages"],
}


def stored(body: Any) -> Typed:
    return Typed(*OFFICIAL.dumps_typed(body))


def read(checkpoint: Typed, metadata: Typed | None = None) -> Envelope:
    return envelope("", "c2", "c1", checkpoint, metadata, SERDE)


def test_all_that_decides_the_next_step() -> None:
    found = read(stored(BODY), Typed("json", b'{"source": "loop", "step": 2}'))
    assert found.unreadable is None
    assert (found.ns, found.id, found.parent_id, found.v) == ("", "c2", "c1", 4)
    assert found.versions == BODY["channel_versions"]
    assert found.seen == BODY["versions_seen"]
    assert found.updated == ["messages"]
    assert found.present == set(BODY["channel_values"])
    assert found.sends == ("pack", "wräp")
    assert set(found.control) == {"branch:to:ship", "branch:to:late", "join:a+b:c", "start:x"}
    assert found.control["branch:to:late"] == [None, True]
    assert isinstance(found.control["join:a+b:c"], SetValue)
    assert set(found.control["join:a+b:c"]) == {"a", "b"}
    assert (found.source, found.step) == ("loop", 2)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"updated_channels": None}, {"updated": None}),
        ({"channel_values": {}}, {"present": frozenset(), "control": {}, "sends": ()}),
        ({"pending_sends": [Send("old", 1)], "channel_values": {}}, {"sends": ("old",)}),
        ({"channel_values": {"x": {7: "int keys"}}}, {"present": frozenset({"x"})}),
        ({"channel_values": {"d": {i: [i] for i in range(5000)}}}, {"present": frozenset({"d"})}),
        (
            {"channel_values": {"branch:to:x": {"a": [{"b": HumanMessage("x").content}]}}},
            {"control": {"branch:to:x": {"a": [{"b": "x"}]}}},
        ),
        ({"versions_seen": {"a": None}}, {"seen": {"a": {}}}),
        ({"channel_versions": {"a": None, "b": 1}}, {"versions": {"b": 1}}),
    ],
)
def test_variations(change: dict[str, Any], expected: dict[str, Any]) -> None:
    found = read(stored(BODY | change))
    assert found.unreadable is None
    assert {k: getattr(found, k) for k in expected} == expected


def test_a_deferred_join_keeps_its_set() -> None:
    control = read(stored(BODY | {"channel_values": {"join:a+b:c": [{"a"}, False]}})).control
    names, finished = control["join:a+b:c"]
    assert (set(names), finished) == ({"a"}, False)
    odd = read(stored(BODY | {"channel_values": {"join:a+b:c": {"x": [{"a"}]}}})).control
    assert set(odd["join:a+b:c"]["x"][0]) == {"a"}


def test_deep_metadata() -> None:
    deep = b'{"a":' * 900 + b"1" + b"}" * 900
    assert decode_metadata(Typed("json", deep), SERDE)["a"]


def test_langgraph_js() -> None:
    body = {
        "v": 4,
        "channel_values": {
            "audit": ["a"],
            "__pregel_tasks": [{"node": "pack", "args": {"x": 1}}],
            "branch:to:ship": "price",
            "join:a:b": {"lc": 2, "type": "constructor", "id": ["Set"], "args": [["a"]]},
        },
        "channel_versions": {"audit": 3, "branch:to:ship": 4},
        "versions_seen": {"price": {"audit": 2}},
    }
    found = read(Typed("json", json.dumps(body).encode()))
    assert found.versions == {"audit": 3, "branch:to:ship": 4}
    assert found.sends == ("pack",)
    assert found.control["branch:to:ship"] == "price"
    assert found.updated is None


def test_before_msgpack() -> None:
    """2024: JSON text, Sends as constructor dicts, no type."""
    send = {
        "lc": 2,
        "type": "constructor",
        "id": ["langgraph", "constants", "Send"],
        "kwargs": {"node": "pack", "arg": {}},
    }
    body = {
        "v": 1,
        "channel_values": {"start:a": "__start__"},
        "channel_versions": {"start:a": 2},
        "versions_seen": {},
        "pending_sends": [send],
    }
    found = read(Typed(None, json.dumps(body).encode()), Typed(None, b'{"step": -1}'))
    assert (found.v, found.step, found.sends) == (1, -1, ("pack",))


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (None, {}),
        (Typed(None, b""), {}),
        (Typed("json", b'{"step": 15}'), {"step": 15}),
        (Typed("msgpack", ormsgpack.packb({"step": 15})), {"step": 15}),
        (Typed("msgpack", ormsgpack.packb({"step": b"15", "source": b'"loop"'})), {
            "step": 15, "source": "loop"}),
        (Typed("msgpack", ormsgpack.packb({"step": ["msgpack", b"\x0f"]})), {"step": 15}),
        (Typed("msgpack", ormsgpack.packb({"a": {"b": ["json", b"[1]"]}})), {"a": {"b": [1]}}),
        (Typed("msgpack", ormsgpack.packb({"raw": b"\xff\xfe"})), {"raw": b"\xff\xfe"}),
        (Typed("json", b"[1]"), {}),
        (Typed("json", b"{broken"), {}),
    ],
)  # fmt: skip
def test_metadata_in_all_its_shapes(metadata: Typed | None, expected: Any) -> None:
    assert decode_metadata(metadata, SERDE) == expected


@pytest.mark.parametrize(
    ("checkpoint", "why"),
    [
        (Typed("msgpack", b""), "empty"),
        (Typed("msgpack", b"\x07"), "not a checkpoint (int)"),
        (Typed("msgpack", b"\x81\xa1a\x01"), "not a checkpoint (no channel_versions)"),
        (Typed("json", b"[1]"), "not a checkpoint (list)"),
        (Typed("json", b"{"), "truncated"),
        (Typed("pickle", b"N."), "a pickle, which is never loaded"),
        (Typed(None, b"\x80\x04N."), "a pickle, which is never loaded"),
        (Typed("yaml", b"a"), "unknown type 'yaml'"),
        (Typed("null", b""), "not a checkpoint (null)"),
    ],
)
def test_what_is_no_checkpoint_says_why(checkpoint: Typed, why: str) -> None:
    found = read(checkpoint, Typed("json", b'{"source": "loop", "step": 1}'))
    assert (found.unreadable, found.v, found.step) == (why, 0, 1)


def test_a_blob_cut_in_half_tells_what_is_left() -> None:
    whole = stored(BODY)
    cut = Typed("msgpack", whole.data[: whole.data.index(b"versions_seen") + 20])
    found = read(cut)
    assert (found.unreadable, found.v) == ("truncated", 0)
    assert found.versions == BODY["channel_versions"]
    assert found.sends == ("pack", "wräp")


def test_a_bad_string_in_a_value_leaves_the_envelope_whole() -> None:
    data = stored(BODY | {"channel_values": {"x": "AAAA"}}).data.replace(b"AAAA", b"\xff\xfeAA")
    found = read(Typed("msgpack", data))
    assert (found.unreadable, found.v, found.present) == (None, 4, {"x"})


@pytest.mark.parametrize("node", ["pack", "线程", "n" * 200])
@pytest.mark.parametrize("payload", [None, {"big": "x" * 100_000}])
def test_where_a_send_goes_stands_in_its_first_bytes(node: str, payload: Any) -> None:
    kind, data = OFFICIAL.dumps_typed(Send(node, payload))
    assert send_node(kind, data[:256]) == node
    js = json.dumps({"node": node, "args": payload}).encode()
    assert send_node("json", js[:1400]) == node


@pytest.mark.parametrize(
    ("kind", "head"),
    [
        ("msgpack", b""),
        ("msgpack", None),
        ("msgpack", b"\xc7"),
        ("msgpack", b"\x01"),
        ("msgpack", OFFICIAL.dumps_typed({"a": 1})[1]),
        ("msgpack", OFFICIAL.dumps_typed(HumanMessage("x"))[1]),
        ("json", b'{"args": 1}'),
        ("msgpack+aes", b"\x00" * 64),
    ],
)
def test_what_is_no_send(kind: str, head: bytes | None) -> None:
    assert send_node(kind, head) is None
