"""Every kind that LangGraph stores: read without it, written back, and read by it again."""

from __future__ import annotations

import json
import logging
import pickle
import warnings
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from blobs.kinds import VALUES
from retrograph.engine.model import Typed
from retrograph.engine.serde import Serde
from retrograph.engine.values import Obj, Pickle, Secret, children, equal, field, from_json, to_json

SERDE = Serde()
OFFICIAL = JsonPlusSerializer()


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """The official loader warns of each class that it imports."""
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    logging.disable(logging.NOTSET)


def same(a: Any, b: Any) -> bool:
    """Equality of real objects, as their stored form tells it."""
    return OFFICIAL.dumps_typed(a) == OFFICIAL.dumps_typed(b)


@pytest.mark.parametrize("name", VALUES)
def test_decode_encode_decode(name: str) -> None:
    stored = Typed(*OFFICIAL.dumps_typed(VALUES[name]))
    value = SERDE.decode(stored)
    again = SERDE.encode(value)
    assert again == stored
    assert equal(SERDE.decode(again), value)


@pytest.mark.parametrize("name", VALUES)
def test_untouched_and_looked_at_encode_alike(name: str) -> None:
    stored = Typed(*OFFICIAL.dumps_typed(VALUES[name]))
    value = SERDE.decode(stored)
    look(value)
    assert SERDE.encode(value) == stored
    assert same(OFFICIAL.loads_typed(SERDE.encode(value)), OFFICIAL.loads_typed(stored))


def look(value: Any) -> None:
    """Unpack every part."""
    if isinstance(value, Obj):
        assert value.data is not NotImplemented
    for _, child in children(value):
        look(child)


@pytest.mark.parametrize("name", VALUES)
def test_json_form_comes_back(name: str) -> None:
    stored = Typed(*OFFICIAL.dumps_typed(VALUES[name]))
    value = SERDE.decode(stored)
    written = json.loads(json.dumps(to_json(value)))
    back = from_json(written, like=value)
    assert equal(back, value)
    # Encoded anew it is for LangGraph the same object (fields may stand in another order).
    loaded, expected = (OFFICIAL.loads_typed(t) for t in (SERDE.encode(back), stored))
    assert type(loaded) is type(expected)
    loaded, expected = (SERDE.decode(Typed(*OFFICIAL.dumps_typed(o))) for o in (loaded, expected))
    assert equal(loaded, expected)


@pytest.mark.parametrize("name", VALUES)
def test_json_form_alone(name: str) -> None:
    """Without the value that stood there, all but secrets come back."""
    value = SERDE.decode(Typed(*OFFICIAL.dumps_typed(VALUES[name])))
    back = from_json(json.loads(json.dumps(to_json(value))))
    if name in ("secret", "pydantic", "state"):
        assert to_json(back) == to_json(value)
    else:
        assert equal(back, value)


def test_a_secret_is_stars_everywhere_but_in_its_bytes() -> None:
    stored = Typed(*OFFICIAL.dumps_typed(VALUES["pydantic"]))
    value = SERDE.decode(stored)
    password = value.fields["password"]
    assert isinstance(password, Secret)
    assert "hunter2" not in json.dumps(to_json(value)) + repr(value) + repr(password.data)
    assert b"hunter2" in SERDE.encode(value).data
    edited = from_json(to_json(value) | {"name": "Eve"}, like=value)
    assert b"hunter2" in SERDE.encode(edited).data
    assert b"Eve" in SERDE.encode(edited).data


def test_a_class_shows_name_and_fields() -> None:
    """An enum inside a model is its class and value; a field that is not for the constructor
    is a field like others."""
    customer = SERDE.decode(Typed(*OFFICIAL.dumps_typed(VALUES["pydantic"])))
    assert to_json(customer) == {
        "name": "Ada",
        "tier": {"$type": "blobs.models.Tier", "$value": "gold"},
        "password": {"$type": "pydantic.types.SecretStr", "$value": "**********"},
        "balance": {"amount": 2.0, "currency": "EUR"},
        "$type": "blobs.models.Customer",
    }
    order = SERDE.decode(Typed(*OFFICIAL.dumps_typed(VALUES["dataclass"])))
    assert to_json(order) == {
        "id": 7,
        "lines": ["x"],
        "total": 0.0,
        "$type": "blobs.models.Order",
    }


@pytest.mark.parametrize(
    ("kind", "data", "why"),
    [
        ("yaml", b"a: 1", "unknown type 'yaml'"),
        ("msgpack", b"", "empty"),
        ("json", b"", "empty"),
        ("json", b'{"a": [1, 2', "truncated"),
        ("json", b"{'a': 1}", "not JSON"),
        ("msgpack", b"\xc1", "corrupt (byte 0xc1 at 0)"),
        ("msgpack", b"\x82\xa1a\x01\xa1b", "truncated"),
        ("msgpack", b"\0" * 1000, "999 bytes after the value"),
        ("msgpack+aes", b"\0" * 64, "encrypted (aes)"),
        ("msgpack+rot13", b"x", "encrypted (rot13)"),
    ],
)
def test_what_cannot_be_read_says_why(kind: str, data: bytes, why: str) -> None:
    value = SERDE.decode(Typed(kind, data))
    written = to_json(value)
    assert written["$unreadable"].startswith(why)
    assert written["bytes"] == len(data)
    assert equal(from_json(written), value)


def test_rows_without_a_type() -> None:
    """JSON in 2024, pickles before; msgpack where somebody lost the type."""
    assert SERDE.decode(Typed(None, b'{"step": 1}')) == {"step": 1}
    assert SERDE.decode(Typed(None, b"\x81\xa4step\x01")) == {"step": 1}
    assert SERDE.decode(Typed(None, b"\x80")) == {}
    old = SERDE.decode(Typed(None, pickle.dumps({"who": UUID(int=1)})))
    assert isinstance(old, Pickle)
    assert "uuid.UUID" in old.names


def test_text_columns_give_text() -> None:
    text: Any = '{"step": 1, "a": "線\\ud800"}'
    assert SERDE.decode(Typed(None, text)) == {"step": 1, "a": "線\ud800"}


def test_a_half_state_shows_what_is_there() -> None:
    half = SERDE.decode(Typed("msgpack", SERDE.encode({"a": 1, "b": [1, 2, 3]}).data[:-1]))
    assert (field(half, "a"), field(half, "b")) == (1, [1, 2])


def test_the_type_that_a_value_gets() -> None:
    assert SERDE.encode(None) == Typed("null", b"")
    assert SERDE.encode(b"x") == Typed("bytes", b"x")
    assert SERDE.encode(SERDE.decode(Typed("bytearray", b"x"))) == Typed("bytearray", b"x")
    assert SERDE.encode(SERDE.decode(Typed("pickle", b"N."))) == Typed("pickle", b"N.")
    assert SERDE.encode(SERDE.decode(Typed("empty", b""))) == Typed("empty", b"")
    assert SERDE.encode([1], "json") == Typed("json", b"[1]")
