"""Data made safe to draw, and short numbers."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrograph.engine.ids import first_id_at, is_uuid6, time_of
from retrograph.engine.text import ago, cut, duration, escape, iso, local, size


@pytest.mark.parametrize(
    ("stored", "drawn"),
    [
        ("plain — text", "plain — text"),
        ("a\x00b", "a\\x00b"),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("two\nlines\tand\r", "two\\nlines\\tand\\r"),
        ("abc\u202ecba\u2069", "abc\\u202ecba\\u2069"),
        ("\ud800", "\\ud800"),
        ("\u0301a", "\\u0301a"),
        ("e\u0301", "e\u0301"),
        ("שלום", "שלום"),
        ("線程", "線程"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("a\u200db", "a\\u200db"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("\U000e0041", "\\U000e0041"),
        ("line\u2028end", "line\\u2028end"),
        ("", ""),
    ],
)
def test_escape(stored: str, drawn: str) -> None:
    assert escape(stored) == drawn


@given(st.text(st.characters(), max_size=20))
def test_nothing_that_moves_a_terminal_is_left(text: str) -> None:
    drawn = escape(text)
    drawn.encode()  # no lone surrogate
    kept = {unicodedata.category(c) for c in drawn} & {"Cc", "Cs", "Zl", "Zp"}
    assert not kept
    assert escape(drawn) == drawn


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 KB"),
        (9_100, "9.1 KB"),
        (9_960, "10 KB"),
        (999_600, "1.0 MB"),
        (80_000_000, "80 MB"),
        (3 * 10**15, "3000 TB"),
    ],
)
def test_size(count: int, words: str) -> None:
    assert size(count) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0 ms"),
        (0.012, "12 ms"),
        (0.9996, "1.0 s"),
        (3.44, "3.4 s"),
        (9.96, "10 s"),
        (59.6, "1 min"),
        (125, "2 min 5 s"),
        (7_800, "2 h 10 min"),
        (3_600, "1 h"),
        (273_600, "3 d 4 h"),
        (-0.5, "-500 ms"),
    ],
)
def test_duration(seconds: float, words: str) -> None:
    assert duration(seconds) == words


NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (timedelta(seconds=2), "just now"),
        (timedelta(seconds=40), "40 s ago"),
        (timedelta(minutes=2, seconds=50), "2 min ago"),
        (timedelta(hours=5), "5 h ago"),
        (timedelta(days=3), "3 d ago"),
        (timedelta(days=365), "2025-03-01"),
        (timedelta(minutes=-5), "in 5 min"),
    ],
)
def test_ago(before: timedelta, words: str) -> None:
    assert ago(NOW - before, NOW) == words


def test_times() -> None:
    assert iso(NOW + timedelta(microseconds=250)) == "2026-03-01T12:00:00.000250+00:00"
    assert local(datetime.max.replace(tzinfo=UTC), "%Y").startswith(("9999", "10000"))
    assert cut("abcdef", 4) == "abc…"
    assert cut("abcd", 4) == "abcd"


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_the_first_id_at_a_time_says_that_time(when: datetime) -> None:
    first = first_id_at(when)
    assert is_uuid6(first)
    assert time_of(first) == when
    assert first_id_at(when + timedelta(microseconds=1)) > first
