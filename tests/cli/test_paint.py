"""Lines of styled text: cut, aligned and coloured."""

from __future__ import annotations

import pytest

from retrograph.cli.paint import (
    Column,
    Span,
    clip,
    coloured,
    columns,
    fit,
    plain,
    spread,
    table,
    width,
    wrap,
)


def test_colour_only_where_it_is_asked_for() -> None:
    line = [Span("a ", "failed"), Span("b"), Span("", "dim"), Span("   ")]
    assert plain(line) == "a b"
    assert coloured(line) == "\x1b[31ma \x1b[0mb"


@pytest.mark.parametrize(
    ("text", "limit", "drawn"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("abcdef", 1, "…"),
        ("abcdef", 0, ""),
        ("線程線程", 8, "線程線程"),
        ("線程線程", 7, "線程線…"),
        ("線程線程", 6, "線程…"),
        ("線程線程", 4, "線…"),
    ],
)
def test_clip_counts_columns(text: str, limit: int, drawn: str) -> None:
    assert clip(text, limit) == drawn
    assert columns(clip(text, limit)) <= limit


@pytest.mark.parametrize("limit", range(12))
def test_fit_never_goes_beyond(limit: int) -> None:
    line = [Span("ab", "dim"), Span("線程"), Span("xyz", "strong")]
    cut = fit(line, limit)
    assert width(cut) <= limit
    assert (plain(cut) == plain(line)) == (limit >= 9)
    assert fit(line, None) == line


def test_spread_keeps_the_right() -> None:
    assert plain(spread([Span("left")], [Span("right")], 14)) == "left     right"
    assert plain(spread([Span("left side")], [Span("right")], 14)) == "left s…  right"
    assert plain(spread([Span("left")], [Span("right")], None)) == "left  right"


HEADS = [Column("name", flexible=True, least=4), Column("count", right=True), Column("note")]
ROWS = [
    [[Span("short")], [Span("1")], [Span("x")]],
    [[Span("a much longer name")], [Span("12,345")], [Span("")]],
]


def lines(limit: int | None) -> list[str]:
    return [plain(line) for line in table(HEADS, ROWS, limit)]


def test_a_table_has_aligned_columns() -> None:
    assert lines(None) == [
        "name                 count  note",
        "short                    1  x",
        "a much longer name  12,345",
    ]


def test_a_table_gives_way_where_it_may() -> None:
    assert lines(24) == [
        "name         count  note",
        "short            1  x",
        "a much lo…  12,345",
    ]
    assert all(columns(line) <= 15 for line in lines(15))


def test_one_long_cell_does_not_widen_a_piped_table() -> None:
    rows = [[[Span("x" * 2000)], [Span("1")], [Span("n")]], *ROWS]
    drawn = [plain(line) for line in table(HEADS, rows, None)]
    assert drawn[1] == "x" * 2000 + "       1  n"
    assert len(drawn[2]) < 80


def test_an_empty_table_is_its_titles() -> None:
    assert [plain(line) for line in table(HEADS, [], None)] == ["name  count  note"]


@pytest.mark.parametrize(
    ("text", "limit", "lines"),
    [
        ("", 10, [""]),
        ("as it is", None, ["as it is"]),
        ("between words", 10, ["between", "words"]),
        ("exactly ten", 11, ["exactly ten"]),
        ("sent. Dear customer, we", 19, ["sent. Dear", "customer, we"]),
        ("a verylongwordofmany", 8, ["a verylo", "ngwordof", "many"]),
        ("日本語です", 5, ["日本", "語で", "す"]),
        ("日本", 1, ["日", "本"]),
    ],
)
def test_wrapped(text: str, limit: int | None, lines: list[str]) -> None:
    assert list(wrap(text, limit)) == lines
