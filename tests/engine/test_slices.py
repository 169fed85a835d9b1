"""Channel values found in a checkpoint's bytes without decoding."""

from __future__ import annotations

import random
from typing import Any

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from made import said
from retrograph.engine.serde import Serde
from retrograph.engine.serde.slices import Entry, Slice, appended, channel_slices

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text()
    | st.binary(),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(), inner, max_size=20),
    max_leaves=40,
)  # fmt: skip
CHANNELS = st.dictionaries(st.text(max_size=40), PLAIN, max_size=20)


def body(values: dict[str, Any]) -> bytes:
    head = {"v": 4, "ts": "now", "id": "x"}
    tail = {"channel_versions": dict.fromkeys(values, "1"), "versions_seen": {}}
    return Serde().encode({**head, "channel_values": values, **tail}).data


def entry(data: bytes, there: Slice) -> Entry:
    return Entry(data[there.key : there.end], there.begin - there.key)


@given(CHANNELS)
def test_each_slice_is_the_value(values: dict[str, Any]) -> None:
    data = body(values)
    found = channel_slices(data)
    assert found is not None
    assert found[0] == 4
    assert {
        name: data[there.begin : there.end] for name, there in found[1].items()
    } == {name: Serde().encode([value]).data[1:] for name, value in values.items()}  # fmt: skip


@given(CHANNELS, CHANNELS)
def test_known_values_change_nothing(before: dict[str, Any], now: dict[str, Any]) -> None:
    now = {**before, **now}
    data = body(before)
    first = channel_slices(data)
    assert first is not None
    known = {name: entry(data, there) for name, there in first[1].items()}
    data = body(now)
    plain, found = channel_slices(data), channel_slices(data, known)
    assert plain is not None
    assert found is not None
    assert [(n, s[:3]) for n, s in plain[1].items()] == [(n, s[:3]) for n, s in found[1].items()]
    for name, there in found[1].items():
        assert there.same == (known.get(name) == entry(data, there))


@pytest.mark.parametrize("count", [1, 14, 15, 16, 40, 70_000])
@pytest.mark.parametrize("more", [0, 1, 3, 70_000])
def test_what_was_appended(count: int, more: int) -> None:
    items: list[Any] = [said(f"text {n}", f"m{n}") for n in range(min(count, 50))]
    items += [n % 5 for n in range(count - len(items))]
    grown = [*items, *[said(f"more {n}", f"n{n}") for n in range(min(more, 50))]]
    grown += [7] * (more - min(more, 50))
    data = body({"list": items, "z": 1})
    first = channel_slices(data)
    assert first is not None
    known = {"list": entry(data, first[1]["list"])}
    data = body({"list": grown, "z": 2})
    found = channel_slices(data, known)
    assert found is not None
    there = found[1]["list"]
    if not more:
        assert there.same
        return
    assert there.kept == count
    value = Serde().decode(Serde().encode(None)._replace(type="msgpack", data=appended(
        data, there, known["list"])))  # fmt: skip
    assert value == grown[count:]


def test_a_list_that_only_looks_grown() -> None:
    data = body({"list": ["a", "b"]})
    first = channel_slices(data)
    assert first is not None
    known = {"list": entry(data, first[1]["list"])}
    for values in (["x", "a", "b"], ["a"], ["a", "c", "d"], {"a": "b"}, "ab", None):
        other = body({"list": values})
        found = channel_slices(other, known)
        assert found is not None
        assert found[1]["list"].kept == 0


def test_large_values_that_are_new_in_place_of_known_ones_are_not_walked() -> None:
    data = body({"docs": {str(n): n for n in range(500)}})
    first = channel_slices(data, {}, budget=100)
    assert first is not None, "what is not known is walked in any case"
    known = {"docs": entry(data, first[1]["docs"])}
    other = body({"docs": {str(n): n + 1 for n in range(500)}})
    assert channel_slices(other, known, budget=100) is None
    assert channel_slices(other, known) is not None


def test_hostile_bytes() -> None:
    dice = random.Random(7)
    data = body({"a": [1, {"b": "c" * 300}], "m": [said("x", "1")]})
    known = {"a": Entry(data[30:60], 3), "m": Entry(b"\xa1m\x91", 2), "": Entry(b"\xa0", 1)}
    for _ in range(3_000):
        broken = bytearray(data)
        for _ in range(dice.randint(1, 4)):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        cut = bytes(broken[: dice.randint(0, len(broken))])
        for given_known in ({}, known):
            found = channel_slices(cut, given_known, 1_000)
            if found is not None:
                assert all(0 <= s.begin <= s.end <= len(cut) for s in found[1].values())
    for attack in (b"", b"\xdf\xff\xff\xff\xff", b"\x81\xaechannel_values\xdd\xff\xff\xff\xff",
                   b"\x91" * 100_000, ormsgpack.packb([1]), ormsgpack.packb({"v": 1})):  # fmt: skip
        assert channel_slices(attack) is None
