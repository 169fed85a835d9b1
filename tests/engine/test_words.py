"""Word diffs: what changed in a text, and the text again from its spans."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from retrograph.engine.diff.words import Span, shorten, word_diff


def test_one_word() -> None:
    assert word_diff("Dear Bob, hello.", "Dear Ann, hello.") == [
        (" ", "Dear "),
        ("-", "Bob"),
        ("+", "Ann"),
        (" ", ", hello."),
    ]


def test_words_are_whole() -> None:
    assert word_diff("a shipping note", "a shipped note") == [
        (" ", "a "),
        ("-", "shipping"),
        ("+", "shipped"),
        (" ", " note"),
    ]


def test_a_phrase_is_one_change() -> None:
    spans = word_diff("it was late last night again", "it was rather early again")
    assert spans == [
        (" ", "it was "),
        ("-", "late last night"),
        ("+", "rather early"),
        (" ", " again"),
    ]


def test_added_and_removed_at_the_ends() -> None:
    assert word_diff("b", "a b c") == [("+", "a "), (" ", "b"), ("+", " c")]
    assert word_diff("a b c", "b") == [("-", "a "), (" ", "b"), ("-", " c")]
    assert word_diff("same", "same") == [(" ", "same")]


def test_nothing_in_common() -> None:
    assert word_diff("yes", "no") is None
    assert word_diff("one two", "three four") is None
    assert word_diff("", "x") is None


def test_scripts_without_spaces() -> None:
    assert word_diff("注文は発送済みです", "注文は未発送です") == [
        (" ", "注文は"),
        ("+", "未"),
        (" ", "発送"),
        ("-", "済み"),
        (" ", "です"),
    ]


def test_long_texts_by_lines_then_words() -> None:
    lines = [f"line {k} says something of its own\n" for k in range(3_000)]
    changed = [*lines]
    changed[10] = changed[10].replace("something", "nothing")
    changed[2_990] = "quite another line\n"
    del changed[1_500]
    spans = word_diff("".join(lines), "".join(changed)) or []
    told = [(sign, text) for sign, text in spans if sign != " "]
    assert told[:3] == [("-", "something"), ("+", "nothing"), ("-", lines[1_500])]
    assert rebuilt(spans) == ("".join(lines), "".join(changed))


def test_hostile_texts_stay_cheap() -> None:
    old = "ab" * 100_000
    new = "ba" * 100_000
    assert rebuilt(word_diff(old, new) or [("-", old), ("+", new)]) == (old, new)
    old, new = "a b " * 20_000, "b c " * 20_000
    assert rebuilt(word_diff(old, new) or []) == (old, new)
    old, new = "a" * 500_000 + " b", "c" * 500_000 + " d"
    assert word_diff(old, new) is None


def test_shortened_for_looking_at() -> None:
    text = "x" * 100
    assert shorten([(" ", text), ("-", "a"), ("+", "b"), (" ", text), ("+", "c")], 10) == [
        (" ", " … " + "x" * 10),
        ("-", "a"),
        ("+", "b"),
        (" ", "x" * 10 + " … " + "x" * 10),
        ("+", "c"),
    ]
    assert shorten([(" ", "short")], 1) == [(" ", " … ")]
    assert shorten([("-", text)], 1) == [("-", text)]


def rebuilt(spans: list[Span]) -> tuple[str, str]:
    return (
        "".join(text for sign, text in spans if sign != "+"),
        "".join(text for sign, text in spans if sign != "-"),
    )


@given(st.text("ab .\n注\u0301", max_size=40), st.text("ab .\n注\u0301", max_size=40))
def test_both_texts_are_in_the_spans(old: str, new: str) -> None:
    spans = word_diff(old, new)
    if spans is None:
        return
    assert rebuilt(spans) == (old, new)
    assert all(text for _, text in spans)
    assert all(x[0] != y[0] for x, y in pairwise(spans))
