"""What is searched for: in texts, and in bytes, which may refuse only what holds no match."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrograph.engine.errors import UsageError
from retrograph.engine.search.needle import Needle, texts
from retrograph.engine.serde import Serde
from retrograph.engine.values import Obj, Secret, SetValue


@pytest.mark.parametrize(
    ("pattern", "options", "text", "spot"),
    [
        ("late", {}, "it is late", (6, 10)),
        ("Late", {}, "it is late", None),
        ("LATE", {"ignore_case": True}, "it is late", (6, 10)),
        ("l.te", {}, "it is late", None),
        ("l.te", {"regex": True}, "it is late", (6, 10)),
        ("L.TE$", {"regex": True, "ignore_case": True}, "it is late", (6, 10)),
        ("線程", {}, "a 線程", (2, 4)),
        ("ÉTÉ", {"ignore_case": True}, "l'été", (2, 5)),
    ],
)
def test_spots(pattern: str, options: dict[str, bool], text: str, spot: Any) -> None:
    assert Needle(pattern, **options).spot(text) == spot


def test_wrong_patterns() -> None:
    with pytest.raises(UsageError, match="empty"):
        Needle("")
    with pytest.raises(UsageError, match="no regular expression"):
        Needle("(", regex=True)


def test_what_is_a_text() -> None:
    uuid = UUID("12345678-1234-5678-1234-567812345678")
    value = {
        "text": "a",
        "n": [1, 1.5, True, None, float("nan")],
        "when": datetime(2026, 1, 5, 12, tzinfo=UTC),
        "day": date(2026, 1, 5),
        "at": time(12, 1),
        "uuid": uuid,
        "money": Decimal("1.50"),
        "tier": Obj("app", "Tier", "arg", "gold"),
        "set": SetValue(["x"]),
        "tuple": ("y",),
        "secret": Secret("pydantic", "SecretStr", "arg", "hunter2"),
        "bytes": b"hunter2",
        "message": Obj(
            "langchain_core.messages.ai", "AIMessage", "pydantic", {"type": "ai", "content": "c"}
        ),
    }
    assert list(texts(value)) == [
        (("text",), "a"),
        (("n", 0), "1"),
        (("n", 1), "1.5"),
        (("when",), "2026-01-05T12:00:00+00:00"),
        (("day",), "2026-01-05"),
        (("at",), "12:01:00"),
        (("uuid",), str(uuid)),
        (("money",), "1.50"),
        (("tier",), "gold"),
        (("set", 0), "x"),
        (("tuple", 0), "y"),
        (("message", "content"), "c"),
    ]


PLAIN = st.recursive(
    st.text()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.dates()
    | st.datetimes()
    | st.times()
    | st.uuids()
    | st.decimals(allow_nan=False)
    | st.booleans(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def pattern_in(draw: st.DrawFn, value: Any) -> str:
    """A part of one of the texts of a value, else any text."""
    some = [text for _, text in texts(value) if text]
    if not some:
        return draw(st.text(min_size=1))
    text = draw(st.sampled_from(some))
    begin = draw(st.integers(0, len(text) - 1))
    return text[begin : draw(st.integers(begin + 1, len(text)))]


@given(st.data())
def test_bytes_never_refuse_what_a_value_holds(data: st.DataObject) -> None:
    value = data.draw(PLAIN)
    pattern = data.draw(pattern_in(value))
    ignore_case = data.draw(st.booleans())
    if ignore_case:
        pattern = data.draw(st.sampled_from([pattern.upper(), pattern.lower(), pattern])) or "x"
    needle = Needle(pattern, ignore_case=ignore_case)
    if any(needle.spot(text) for _, text in texts(value)):
        assert needle.may_hold(Serde().encode([value]).data)


@given(st.data())
def test_json_never_refuses_what_a_value_holds(data: st.DataObject) -> None:
    leaf = st.text() | st.integers() | st.floats(allow_nan=False) | st.booleans() | st.none()
    value = data.draw(st.lists(leaf | st.dictionaries(st.text(), leaf), min_size=1))
    pattern = data.draw(pattern_in(value))
    needle = Needle(pattern, ignore_case=data.draw(st.booleans()))
    if any(needle.spot(text) for _, text in texts(value)):
        text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
        if data.draw(st.booleans()):
            text = text.replace("/", "\\/")
        assert needle.may_hold_json(text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("letter", "abcdefghijklmnopqrstuvwxyz")
def test_relatives_of_a_letter_outside_ascii(letter: str) -> None:
    known = re.compile(letter, re.IGNORECASE)
    needle = Needle(letter * 2 + "!", ignore_case=True)
    for code in (0x130, 0x131, 0x17F, 0x212A, ord(letter), ord(letter.upper())):
        text = chr(code) * 2 + "!"
        if known.match(text):
            assert needle.spot(text)
            assert needle.may_hold(text.encode())


def test_bytes_refuse_what_they_can() -> None:
    assert not Needle("late").may_hold(b"early")
    assert not Needle("late", ignore_case=True).may_hold(b"early")
    assert not Needle("été").may_hold(b"ete")
    assert not Needle("late").may_hold_json(b'"early \\n"')
    assert Needle("l\nate").may_hold_json(b'"l\\nate"')
    assert Needle("late").may_hold_json(b'"\\u006cate"')
    # These could be numbers, days, UUIDs, or anything.
    for pattern in ("4412", "1.5", "2026-01-05", "12:01", "5678-1234-56"):
        assert Needle(pattern).may_hold(b"")
    assert Needle("l.te", regex=True).may_hold(b"")
