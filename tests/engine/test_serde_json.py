"""The JSON serializers: LangGraph.js, Redis, and LangGraph before msgpack."""

from __future__ import annotations

import json
import logging
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from retrograph.engine.errors import DecodeError
from retrograph.engine.model import Typed
from retrograph.engine.serde import Serde
from retrograph.engine.values import (
    Obj,
    Secret,
    SetValue,
    equal,
    field,
    from_json,
    is_message,
    message_fields,
    to_json,
)

SERDE = Serde()
CALL = {"name": "lookup", "args": {"q": "x"}, "id": "c1", "type": "tool_call"}


def lc(version: int, path: list[str], **rest: Any) -> dict[str, Any]:
    return {"lc": version, "type": "constructor", "id": path, **rest}


def decode(value: Any) -> Any:
    return SERDE.decode(Typed("json", json.dumps(value).encode()))


KINDS: dict[str, tuple[Any, Any]] = {
    "uuid": (
        lc(2, ["uuid", "UUID"], args=["27b94798ab435fc6b914ce3519ea0808"]),
        UUID("27b94798-ab43-5fc6-b914-ce3519ea0808"),
    ),
    "decimal": (lc(2, ["decimal", "Decimal"], args=["1.20"]), Decimal("1.20")),
    "datetime": (
        lc(2, ["datetime", "datetime"], args=["2024-01-02T03:04:05"], method="fromisoformat"),
        datetime(2024, 1, 2, 3, 4, 5),
    ),
    "date": (lc(2, ["datetime", "date"], args=[2024, 1, 2]), date(2024, 1, 2)),
    "timedelta": (lc(2, ["datetime", "timedelta"], args=[1, 2, 3]), timedelta(1, 2, 3)),
    "set": (lc(2, ["builtins", "set"], args=[["a", "b"]]), SetValue(["a", "b"], how="lc2")),
    "js set": (
        lc(2, ["Set"], method=None, args=[["a"]], kwargs={}),
        SetValue(["a"], "Set", "", "lc2"),
    ),
    "secret": (
        lc(2, ["pydantic", "SecretStr"], args=["hunter2"]),
        Secret("pydantic", "SecretStr", "lc2", ["hunter2"]),
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_constructor_dicts_of_the_serializer_are_values(name: str) -> None:
    stored, expected = KINDS[name]
    value = decode({"x": stored})
    assert equal(value, {"x": expected})
    assert decode(json.loads(SERDE.encode(value, "json").data)) == value
    assert equal(from_json(to_json(value), like=value), value)


@pytest.mark.parametrize(
    "stored",
    [
        lc(2, ["Map"], method=None, args=[[["k", 1]]], kwargs={}),
        lc(2, ["RegExp"], method=None, args=["a+", "g"], kwargs={}),
        lc(2, ["Error"], method=None, args=["boom"], kwargs={}),
        lc(2, ["Uint8Array"], method="from", args=[[1, 2]], kwargs={}),
        lc(2, ["app", "models", "Order"], method=None, args=[], kwargs={"id": 1}),
        lc(2, ["app", "models", "Customer"], method=[None, "construct"], kwargs={"name": "A"}),
        lc(2, ["app", "Tier"], args=["gold"]),
        {"lc": 2, "type": "undefined"},
        lc(1, ["langchain_core", "messages", "AIMessage"], kwargs={"content": "hi"}),
        lc(1, ["langchain", "schema", "messages", "HumanMessage"], kwargs={"content": "a"}),
        lc(1, ["langchain_core", "messages", "ToolMessage"], kwargs={"content": ""}, name="x"),
        lc(1, ["langchain_core", "documents", "Document"], kwargs={"page_content": "x"}),
        lc(1, ["os", "system"], kwargs={"command": "id"}),
        {"lc": 1, "type": "secret", "id": ["KEY"]},
        {"lc": 3, "a": None},
    ],
)  # fmt: skip
def test_every_constructor_dict_is_written_back_as_it_was(stored: Any) -> None:
    value = decode({"x": [stored]})
    assert json.loads(SERDE.encode(value, "json").data) == {"x": [stored]}
    assert equal(from_json(json.loads(json.dumps(to_json(value))), like=value), value)


def test_messages_of_langchain_are_messages() -> None:
    value = decode(
        lc(
            1,
            ["langchain_core", "messages", "AIMessage"],
            kwargs={"content": "", "tool_calls": [CALL], "id": "1"},
        )
    )
    assert is_message(value)
    assert message_fields(value) == {"type": "ai", "content": "", "id": "1", "tool_calls": [CALL]}


def test_other_constructor_dicts_are_data() -> None:
    """`lc: 1` in user data is only data; whatever it is, nothing is revived."""
    stored = lc(1, ["langchain", "llms", "OpenAI"], kwargs={"api": "x"})
    assert decode({"user": stored}) == {"user": stored}
    # In msgpack a dict is a dict.
    plain = SERDE.encode({"user": stored | {"lc": 2}})
    assert SERDE.decode(plain) == {"user": stored | {"lc": 2}}


def test_a_class_shows_its_fields() -> None:
    value = decode(lc(2, ["app", "models", "Order"], method=None, kwargs={"id": 1, "lines": []}))
    assert to_json(value) == {"id": 1, "lines": [], "$type": "app.models.Order"}
    assert field(value, "id") == 1


def test_rows_of_redis_become_what_python_loads() -> None:
    """Messages in LangChain's form, written as msgpack, are for LangGraph real messages."""
    logging.disable(logging.WARNING)
    stored = AIMessage("hi", id="1", tool_calls=[CALL]).to_json()
    value = decode({"messages": [stored], "ids": [KINDS["uuid"][0]], "s": KINDS["set"][0]})
    loaded = JsonPlusSerializer().loads_typed(SERDE.encode(value, "msgpack"))
    assert loaded["messages"] == [AIMessage("hi", id="1", tool_calls=[CALL])]
    assert loaded["ids"] == [UUID("27b94798-ab43-5fc6-b914-ce3519ea0808")]
    assert loaded["s"] == {"a", "b"}
    logging.disable(logging.NOTSET)


def test_text_survives() -> None:
    stored = b'["\\ud800", "\\u0000", "\\u202e", "\xe7\xb7\x9a"]'
    value = SERDE.decode(Typed("json", stored))
    assert value == ["\ud800", "\x00", "\u202e", "線"]
    assert SERDE.decode(SERDE.encode(value, "json")) == value
    # Msgpack cannot carry a lone surrogate: LangGraph writes a question mark, and so do we.
    assert SERDE.decode(SERDE.encode(value)) == ["?", "\x00", "\u202e", "線"]


def test_numbers_keep_their_type() -> None:
    value = SERDE.decode(Typed("json", b"[1, 1.0, 123456789012345678901234567890, 1e2, NaN]"))
    assert equal(SERDE.decode(SERDE.encode(value, "json")), value)
    with pytest.raises(DecodeError, match="/2 does not fit into 64 bits"):
        SERDE.encode(value)


def test_what_has_no_json_form_is_refused() -> None:
    for value in (b"x", {"a": Obj("", "ext 9", "ext", b"", (9,))}):
        with pytest.raises(DecodeError, match="cannot be stored as JSON"):
            SERDE.encode(value, "json")
