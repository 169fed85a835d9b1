"""Texts beside each other, line by line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrograph.engine.diff.textrows import TextRow, text_rows
from retrograph.engine.diff.words import Span, word_diff


def beside(old: str, new: str, context: int = 2) -> list[tuple[str | None, str | None] | int]:
    spans: list[Span] = word_diff(old, new) or [("-", old), ("+", new)]
    return [row.hidden or (text(row.old), text(row.new)) for row in text_rows(spans, context)]


def text(side: tuple[Span, ...] | None) -> str | None:
    return None if side is None else "".join(piece for _, piece in side)


def test_lines_are_level_where_both_break() -> None:
    old = "Dear Bob,\nit is late.\nBye"
    new = "Dear Ann,\nit is on its way.\nThank you.\nBye"
    assert beside(old, new) == [
        ("Dear Bob,", "Dear Ann,"),
        ("it is late.", "it is on its way."),
        (None, "Thank you."),
        ("Bye", "Bye"),
    ]


def test_words_are_marked() -> None:
    rows = text_rows(word_diff("a b\nc", "a x\nc") or [])
    assert rows[0] == TextRow(((" ", "a "), ("-", "b")), ((" ", "a "), ("+", "x")), True)
    assert rows[1] == TextRow(((" ", "c"),), ((" ", "c"),), False)


def test_unchanged_lines_are_folded() -> None:
    old = "\n".join(map(str, range(20)))
    new = old.replace("\n10\n", "\nten\n")
    assert beside(old, new, 1) == [9, ("9", "9"), ("10", "ten"), ("11", "11"), 8]
    assert beside(old, old) == [20]


@given(st.text("ab \n", max_size=30), st.text("ab \n", max_size=30))
def test_both_texts_can_be_read(old: str, new: str) -> None:
    rows = beside(old, new, 100)
    pairs = [row for row in rows if isinstance(row, tuple)]
    if old == new:
        return
    assert "\n".join(a for a, _ in pairs if a is not None) == old
    assert "\n".join(b for _, b in pairs if b is not None) == new
