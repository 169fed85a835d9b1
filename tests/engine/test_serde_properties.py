"""Decoding undoes encoding, and reading undoes writing, whatever the value."""

from __future__ import annotations

import json
from typing import Any

import ormsgpack
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blobs.strategies import JSON_VALUES, VALUES
from retrograph.engine.model import Typed
from retrograph.engine.serde import Serde, wire
from retrograph.engine.serde.msgpack import by_hand, hook, unpack
from retrograph.engine.serde.packing import pack, pack_by_hand
from retrograph.engine.values import equal, from_json, to_json

SERDE = Serde()
thorough = settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])


@given(VALUES)
@thorough
def test_msgpack(value: Any) -> None:
    stored = SERDE.encode(value)
    again = SERDE.decode(stored)
    assert equal(again, value)
    # Untouched, looked at, and made anew: the same bytes.
    assert SERDE.encode(again) == stored
    assert SERDE.encode(SERDE.decode(stored)) == stored


@given(VALUES)
@thorough
def test_by_hand_is_as_fast(value: Any) -> None:
    """Both decoders and both encoders agree."""
    data = pack(value)
    assert pack_by_hand(value) == data
    assert equal(by_hand(data), unpack(data))
    found = wire.read(data + b"rest", hook)
    assert (found.fault, found.end) == (None, len(data))


@given(VALUES, st.data())
@thorough
def test_cut_anywhere(value: Any, data: st.DataObject) -> None:
    whole = pack([value])
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    found = SERDE.decode(Typed("msgpack", cut))
    assert found.why in ("truncated", "empty")
    json.dumps(to_json(found))


@given(VALUES)
@thorough
def test_json_form(value: Any) -> None:
    written = json.loads(json.dumps(to_json(value)))
    assert equal(from_json(written, like=value), value)
    assert to_json(from_json(written)) == written or "nan" in json.dumps(written)


@given(JSON_VALUES)
@thorough
def test_json_serializer(value: Any) -> None:
    stored = SERDE.encode(value, "json")
    again = SERDE.decode(stored)
    assert equal(again, value)
    assert SERDE.encode(again, "json") == stored
    assert equal(from_json(json.loads(json.dumps(to_json(value))), like=value), value)


@given(st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(0, 9), inner),
))  # fmt: skip
@thorough
def test_plain_data_is_itself(value: Any) -> None:
    data = ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)
    assert equal(SERDE.decode(Typed("msgpack", data)), value)
    assert pack(value) == data
