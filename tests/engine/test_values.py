"""Inert values: how they are written, told apart, compared and walked."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from retrograph.engine.errors import UsageError
from retrograph.engine.values import (
    ABSENT,
    ByteArray,
    Delta,
    MapValue,
    NdArray,
    Obj,
    Pickle,
    Secret,
    SetValue,
    Unreadable,
    children,
    equal,
    field,
    from_json,
    is_message,
    message_fields,
    to_json,
    type_name,
)

CUSTOMER = Obj("app.models", "Customer", "pydantic", {"name": "Ada", "tier": "gold"})
ID = "27b94798-ab43-5fc6-b914-ce3519ea0808"

FORMS: list[tuple[Any, Any, str]] = [
    (None, None, "null"),
    (True, True, "bool"),
    ([1, "a", [2.5]], [1, "a", [2.5]], "list"),
    ({"a": {"b": 1}}, {"a": {"b": 1}}, "dict"),
    (CUSTOMER, {"name": "Ada", "tier": "gold", "$type": "app.models.Customer"}, "Customer"),
    (b"\x00\xff", {"$bytes": "AP8="}, "bytes"),
    (ByteArray(b"a"), {"$bytes": "YQ==", "$type": "builtins.bytearray"}, "bytearray"),
    (datetime(2024, 1, 2, 3, tzinfo=UTC), {"$datetime": "2024-01-02T03:00:00+00:00"}, "datetime"),
    (date(2024, 1, 2), {"$datetime": "2024-01-02"}, "date"),
    (time(3, 4, 5), {"$datetime": "03:04:05"}, "time"),
    (timedelta(1, 2), {"$type": "datetime.timedelta", "$args": [1, 2, 0]}, "timedelta"),
    (UUID(ID), {"$type": "uuid.UUID", "$value": ID}, "UUID"),
    (Decimal("1.20"), {"$type": "decimal.Decimal", "$value": "1.20"}, "Decimal"),
    ((1, (2,)), {"$tuple": [1, {"$tuple": [2]}]}, "tuple"),
    (SetValue([1, [2]]), {"$set": [1, [2]]}, "set"),
    (SetValue([], "frozenset"), {"$set": [], "$type": "builtins.frozenset"}, "frozenset"),
    (SetValue([1], "Set", "", "lc2"), {"$set": [1], "$type": "Set"}, "Set"),
    ({7: "a", "b": 1}, {"$map": [[7, "a"], ["b", 1]]}, "dict"),
    ({(1, 2): 3}, {"$map": [[{"$tuple": [1, 2]}, 3]]}, "dict"),
    (MapValue([({"a": 1}, 2)]), {"$map": [[{"a": 1}, 2]]}, "dict"),
    ({"$set": 1}, {"$map": [["$set", 1]]}, "dict"),
    ({"$schema": 1}, {"$schema": 1}, "dict"),
    (math.nan, {"$float": "nan"}, "float"),
    (-math.inf, {"$float": "-inf"}, "float"),
    (Pickle(b"N."), {"$pickle": "Ti4=", "names": []}, "pickle"),
    (Unreadable("cut", 9), {"$unreadable": "cut", "bytes": 9}, "unreadable"),
    (Unreadable("cut", 9, [1]), {"$unreadable": "cut", "bytes": 9, "partial": [1]}, "unreadable"),
    (Delta([1], [2, 3]), {"$delta": {"snapshot": [1], "writes": [2, 3]}}, "delta"),
    (Delta(writes=[2]), {"$delta": {"writes": [2]}}, "delta"),
    (ABSENT, {"$absent": True}, "absent"),
    (Obj("", "ext 9", "ext", b"x", (9,)), {"$ext": 9, "data": {"$bytes": "eA=="}}, "ext 9"),
    (
        NdArray("<i2", (1, 2), "C", b"\1\0\2\0"),
        {
            "$type": "numpy.ndarray",
            "dtype": "<i2",
            "shape": [1, 2],
            "order": "C",
            "data": {"$bytes": "AQACAA=="},
        },
        "ndarray",
    ),
    (Obj("app", "Tier", "arg", "gold"), {"$type": "app.Tier", "$value": "gold"}, "Tier"),
    (Obj("re", "compile", "args", ["a", 2]), {"$type": "re.compile", "$args": ["a", 2]}, "compile"),
    (
        Obj("pathlib", "PosixPath", "args", ["/", "a"]),
        {"$type": "pathlib.PosixPath", "$value": "/a"},
        "PosixPath",
    ),
    (
        Obj("app", "M", "method", "x", ("parse",)),
        {"$type": "app.M", "$value": "x", "$method": "parse"},
        "M",
    ),
    (
        Obj("app", "Names", "pydantic", ["a"]),
        {"$type": "app.Names", "$value": ["a"], "$how": "pydantic"},
        "Names",
    ),
    (
        Obj("langgraph.types", "Send", "args", ["pack", {"n": 1}]),
        {"node": "pack", "arg": {"n": 1}, "$type": "langgraph.types.Send"},
        "Send",
    ),
    ("a\ud800b", "a\ud800b", "str"),
]


@pytest.mark.parametrize(("value", "written", "name"), FORMS)
def test_forms(value: Any, written: Any, name: str) -> None:
    assert to_json(value) == written
    assert type_name(value) == name
    assert equal(from_json(json.loads(json.dumps(written))), value)
    assert equal(from_json(written, like=value), value)


@pytest.mark.parametrize("a", range(len(FORMS)))
def test_each_equals_itself_alone(a: int) -> None:
    value = FORMS[a][0]
    assert [equal(value, other) for other, _, _ in FORMS] == [i == a for i in range(len(FORMS))]


def test_numbers_of_different_types_differ() -> None:
    assert not equal(1, 1.0)
    assert not equal(1, True)
    assert not equal({1: "a"}, {True: "a"})
    assert not equal(Decimal("1.2"), Decimal("1.20"))
    assert equal({math.nan: 1}, {float("nan"): 1})


def test_sets_are_equal_in_any_order() -> None:
    assert equal(SetValue([1, [2], {"a": 1}]), SetValue([{"a": 1}, 1, [2]]))
    assert not equal(SetValue([1, 2]), SetValue([1, 3]))
    assert not equal(SetValue([1]), SetValue([True]))
    assert "b" in SetValue(["a", "b"])
    assert list(SetValue(["a", "b"])) == ["a", "b"]
    assert len(SetValue([1])) == 1


def test_a_class_is_equal_in_any_of_the_forms_that_name_its_fields() -> None:
    other = Obj("app.models", "Customer", "kwargs", {"tier": "gold", "name": "Ada"})
    assert equal(CUSTOMER, other)
    assert other == CUSTOMER
    assert hash(other) == hash(CUSTOMER)
    assert not equal(CUSTOMER, Obj("app.other", "Customer", "pydantic", CUSTOMER.data))
    assert not equal(CUSTOMER, CUSTOMER.data)


def test_depth_is_no_matter() -> None:
    def deep(n: int) -> Any:
        value: Any = 1
        for i in range(n):
            value = [value] if i % 2 else Obj("app", "Box", "kwargs", {"in": value})
        return value

    assert equal(deep(20_000), deep(20_000))
    assert not equal(deep(20_000), deep(20_001))
    text = json.dumps(to_json(deep(20_000)))
    assert text.count("nested too deep") == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"$bytes": "!"},
        {"$datetime": "noon"},
        {"$set": 5},
        {"$map": [[1]]},
        {"$float": "huge"},
        {"$type": 5},
        {"$type": "uuid.UUID", "$value": "x"},
        {"$type": "a.B", "$value": 1, "$how": "os.system"},
        {"$delta": 5},
    ],
)
def test_malformed_forms_are_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"^A typed value is malformed: .*\.$"):
        from_json({"a": [wrong]})


def test_an_edit_keeps_the_form_of_what_stood_there() -> None:
    old = {"who": [Obj("app", "Order", "kwargs", {"id": 1, "when": date(2024, 1, 2)})]}
    written = to_json(old)
    written["who"][0]["id"] = 2
    new = from_json(written, like=old)["who"][0]
    assert (new.how, new.data) == ("kwargs", {"id": 2, "when": date(2024, 1, 2)})


def test_secrets_are_stars() -> None:
    secret = Secret("pydantic.types", "SecretStr", "arg", "hunter2")
    written = to_json({"k": secret})
    assert written == {"k": {"$type": "pydantic.types.SecretStr", "$value": "**********"}}
    assert list(children(secret)) == []
    assert from_json(written, like={"k": secret})["k"].reveal() == "hunter2"
    assert not equal(secret, Secret("pydantic.types", "SecretStr", "arg", "other"))
    edited = from_json({"$type": "pydantic.types.SecretStr", "$value": "new"}, like=secret)
    assert (type(edited), edited.reveal()) == (Secret, "new")


AI = Obj(
    "langchain_core.messages.ai",
    "AIMessage",
    "pydantic",
    {"additional_kwargs": {}, "content": "hi", "type": "ai", "tool_calls": [], "id": "1"},
)
LC1 = Obj("langchain_core.messages", "AIMessage", "lc1", {"content": "hi", "id": "1"})


def test_messages_keep_what_tells_them_at_the_top() -> None:
    assert list(to_json(AI)) == [
        "type",
        "content",
        "id",
        "tool_calls",
        "additional_kwargs",
        "$type",
    ]
    assert to_json(LC1) == {
        "type": "ai",
        "content": "hi",
        "id": "1",
        "$type": "langchain_core.messages.AIMessage",
    }


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (AI, "ai"),
        (LC1, "ai"),
        (Obj("langchain_core.messages.ai", "AIMessageChunk", "pydantic", {"content": ""}), "ai"),
        (Obj("langchain_core.messages", "AIMessage", "lc1", {}), "ai"),
        ({"type": "human", "content": "x"}, "human"),
        ({"role": "assistant", "content": "x"}, "ai"),
        ({"role": "user", "content": []}, "human"),
        (
            Obj("langchain_core.messages.modifier", "RemoveMessage", "pydantic", {"id": "1"}),
            "remove",
        ),
        ({"type": "text", "content": "x"}, None),
        ({"content": "x"}, None),
        (Obj("app", "HumanMessage", "pydantic", {"x": 1}), None),
        (CUSTOMER, None),
        ("human", None),
    ],
)
def test_which_values_are_messages(value: Any, kind: str | None) -> None:
    assert is_message(value) is (kind is not None)
    assert message_fields(value).get("type") == kind


def test_walking() -> None:
    assert list(children(CUSTOMER)) == [("name", "Ada"), ("tier", "gold")]
    assert list(children([5])) == [(0, 5)]
    assert list(children({7: 1})) == [(7, 1)]
    assert list(children(SetValue(["a"]))) == [(0, "a")]
    assert list(children(Obj("app", "Point", "args", [1, 2]))) == [(0, 1), (1, 2)]
    assert list(children(Obj("app", "Tier", "arg", "gold"))) == []
    assert list(children(Delta([1], [2]))) == [("snapshot", [1]), ("writes", [2])]
    assert list(children(Unreadable("cut", 3, {"a": 1}))) == [("a", 1)]
    assert list(children("text")) == []
    assert field(CUSTOMER, "name") == field({"name": "Ada"}, "name") == "Ada"
    assert field(CUSTOMER, "age", 3) == field(5, "age", 3) == 3
