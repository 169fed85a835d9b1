"""Texts wrapped, clipped, spread; conversations; copied paths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from retrograph.tui.reading.conversation import Pages, conversation, conversations
from retrograph.tui.reading.copies import jq
from retrograph.tui.reading.wrap import Wrapped
from retrograph.tui.spans import Span, clip, fit, spread, width
from retrograph.tui.widgets.info import sparkline
from retrograph.tui.widgets.treepaint import highlighted


def wrapped(text: str, columns: int) -> list[str]:
    lines = Wrapped(text, columns)
    return [lines.line(k) for k in range(len(lines))]


@pytest.mark.parametrize(
    ("text", "columns", "lines"),
    [
        ("", 5, [""]),
        ("one two three", 8, ["one two", "three"]),
        ("one two three", 7, ["one two", "three"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("a\n\nb", 5, ["a", "", "b"]),
        ("線程線程", 4, ["線程", "線程"]),
        ("a\r\nb", 5, ["a", "b"]),
    ],
)
def test_wrapping(text: str, columns: int, lines: list[str]) -> None:
    assert wrapped(text, columns) == lines


@given(st.text(max_size=200), st.integers(2, 40))
def test_wrapped_lines_fit_and_hold_all_of_it(text: str, columns: int) -> None:
    text = text.replace("\t", " ").replace("\r", "")
    lines = wrapped(text, columns)
    assert all(cell_len(line) <= columns or len(line) == 1 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace("\n", "").replace(" ", "")


@given(st.text(max_size=60), st.integers(0, 30))
def test_clipped_texts_fit(text: str, limit: int) -> None:
    assert cell_len(clip(text, limit)) <= limit or cell_len(text) <= limit


@given(st.lists(st.text(max_size=12), max_size=5), st.integers(1, 30))
def test_fitted_lines_fit(texts: list[str], limit: int) -> None:
    line = [Span(text) for text in texts]
    assert width(fit(line, limit)) <= max(limit, 0)
    assert width(spread(line, [Span("r")], limit)) <= limit


def test_matches_are_set_off() -> None:
    spans = [Span("price → ship", "on"), Span("Ship")]
    assert highlighted(spans, "ship") == [
        Span("price → ", "on"),
        Span("ship", "match"),
        Span("Ship", "match"),
    ]
    assert highlighted([Span("Ship ship")], "Ship")[0] == Span("Ship", "match")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ((), "."),
        (("a",), ".a"),
        (("messages", 2, "content"), ".messages[2].content"),
        (("odd key", 'q"'), '.["odd key"]["q\\""]'),
        ((0,), ".[0]"),
    ],
)
def test_paths_as_jq_writes_them(path: tuple[object, ...], said: str) -> None:
    assert jq(path) == said


def test_sparklines() -> None:
    assert sparkline([1, 1]) == "▁▁"
    assert sparkline([0, 50, 100]) == "▁▃▇"


MESSAGES = [
    {"role": "user", "content": "Where is it?"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "c1", "function": {"name": "look_up", "arguments": '{"id": 1}'}},
            {"id": "c2", "name": "wait", "args": {"s": 3}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "on its way", "type": "tool"},
    {"role": "assistant", "content": [{"type": "text", "text": "It is"}, {"type": "image"}]},
]


def test_a_conversation_with_calls_beside_their_results() -> None:
    said = conversation(MESSAGES, MESSAGES[:1])
    assert [(one.role, one.text, one.new) for one in said] == [
        ("human", "Where is it?", False),
        ("ai", "", True),
        ("ai", "It is", True),
    ]
    look_up, wait = said[1].calls
    assert (look_up.name, look_up.result) == ("look_up", "on its way")
    assert (wait.name, wait.arguments, wait.result) == ("wait", "s=3", None)


def test_lines_of_a_conversation() -> None:
    said = conversation([{"role": "user", "content": "word " * 200}], None)
    folded = Pages(said, 40, frozenset(), False)
    unfolded = Pages(said, 40, frozenset({0}), False)
    assert len(folded) == 1 + 6
    assert folded.body(0)[-1].role == "more"
    assert len(unfolded) > 20
    assert unfolded.at(0) == (0, 0)
    assert Pages([], 40, frozenset(), False).at(0) == (0, 0)


def test_channels_that_hold_messages() -> None:
    assert conversations({"a": MESSAGES, "b": [], "c": "text", "d": [1]}) == ["a"]
