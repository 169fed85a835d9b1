"""Values as rows, and rows as lines."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import ormsgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blobs.strategies import VALUES
from retrograph.engine.errors import RefError
from retrograph.engine.serde.msgpack import Packed, unpack
from retrograph.engine.text import escape
from retrograph.engine.values import (
    ABSENT,
    Delta,
    MapValue,
    NdArray,
    Obj,
    Pickle,
    Secret,
    SetValue,
    Unreadable,
    Value,
)
from retrograph.engine.views.outline import NONE, Outline
from retrograph.engine.views.summary import one_line, size_of


def message(kind: str, content: str, **more: Value) -> Obj:
    name = {"ai": "AIMessage", "human": "HumanMessage", "tool": "ToolMessage"}[kind]
    fields = {"content": content, "type": kind, **more}
    return Obj(f"langchain_core.messages.{kind}", name, "pydantic", fields)


CALL = {"name": "lookup", "args": {}, "id": "1"}
CHAT = [
    message("human", "where is it?"),
    message("ai", "", tool_calls=[CALL]),
    message("tool", "paid"),
    message("ai", "On its way."),
]
STATE = {
    "messages": CHAT,
    "total": 120.0,
    "customer": Obj("app.models", "Customer", "pydantic", {"name": "Ada", "tags": ["a", "b"]}),
    "empty": [],
}


def drawn(outline: Outline) -> list[str]:
    rows = [outline.row(at) for at in range(len(outline))]
    signs = ["▼" if row.open else "▶" if row.children else " " for row in rows]
    return [f"{'  ' * r.depth}{s} {r.key} {r.summary}" for r, s in zip(rows, signs, strict=True)]


def test_levels_open_and_fold() -> None:
    outline = Outline(STATE)
    assert drawn(outline) == [
        "▶ messages [4] human, ai→lookup, tool, ai",
        "  total 120.0",
        "▶ customer app.models.Customer",
        "  empty [0]",
    ]
    assert outline.expand(2) == 2
    assert outline.expand(0) == 4
    assert drawn(outline) == [
        "▼ messages [4] human, ai→lookup, tool, ai",
        '  ▶ 0 human "where is it?"',
        "  ▶ 1 ai→lookup",
        '  ▶ 2 tool "paid"',
        '  ▶ 3 ai "On its way."',
        "  total 120.0",
        "▼ customer app.models.Customer",
        '    name "Ada"',
        '  ▶ tags [2] "a", "b"',
        "  empty [0]",
    ]
    assert outline.expand(8) == 2
    assert outline.collapse(6) == 4
    assert outline.expand(6) == 4  # what was open below is open again
    assert outline.toggle(6) is False
    assert outline.collapse(0) == 4
    assert outline.expand(1) == 0
    assert drawn(outline)[1] == "  total 120.0"
    outline.collapse_all()
    assert len(outline) == 4


def test_where_a_row_stands() -> None:
    outline = Outline(STATE)
    outline.expand_levels(0, 1)
    outline.expand(2)
    assert [outline.parent(at) for at in (0, 1, 2, 3)] == [NONE, 0, 0, 2]
    assert outline.next_sibling(0) == len(outline) - 3
    assert outline.next_sibling(1) == 2
    assert outline.next_sibling(2) == 2 + 1 + outline.row(2).children
    assert outline.next_sibling(len(outline) - 1) == NONE
    node = outline.node(3)
    assert outline.path(node) == ("messages", 1, "content")
    assert outline.pointer(node) == "/messages/1/content"
    assert outline.value(node) == ""
    outline.collapse(0)
    assert outline.position(node) == NONE


def test_the_value_itself_as_the_first_row() -> None:
    outline = Outline([1, [2]], roots=False)
    assert drawn(outline) == ["▶ None [2] 1, […]"]
    outline.expand_levels(0, 9)
    assert drawn(outline) == ["▼ None [2] 1, […]", "    0 1", "  ▼ 1 [1] 2", "      0 2"]
    outline.collapse_all()
    assert len(outline) == 1
    assert len(Outline(5)) == 0
    assert len(Outline(5, roots=False)) == 1


def test_revealing_a_path() -> None:
    outline = Outline(STATE)
    at = outline.reveal("customer.tags[-1]")
    assert outline.row(at).value == "b"
    assert outline.pointer(outline.node(at)) == "/customer/tags/1"
    assert outline.reveal("total") == 1
    assert outline.row(outline.reveal("/messages/1/tool_calls/0/name")).value == "lookup"
    with pytest.raises(RefError, match="did you mean 'customer'"):
        outline.reveal("custmer")


def test_a_limit_ends_opening_everything() -> None:
    outline = Outline({"a": [list(range(100)) for _ in range(100)]})
    assert outline.expand_levels(0, 9, limit=500) is False
    assert 100 < len(outline) <= 600
    assert outline.expand_levels(0, 9) is True
    assert len(outline) == 1 + 100 + 100 * 100


def test_only_what_is_shown_is_unpacked() -> None:
    payload = ormsgpack.packb(
        ("langchain_core.messages.human", "HumanMessage", {"content": "x" * 500, "type": "human"})
    )
    messages = unpack(ormsgpack.packb([ormsgpack.Ext(5, payload)] * 1000))
    outline = Outline({"messages": messages})
    row = outline.row(0)
    assert (row.children, row.summary) == (1000, "[1000] human, human, human, …, human")
    assert row.size is not None
    assert abs(row.size - 1000 * len(payload)) < 10_000
    outline.expand(0)
    assert [isinstance(m, Packed) and m.sealed is not None for m in messages].count(False) == 4


def test_what_is_too_deep_says_so() -> None:
    value: Any = 1
    for _ in range(300):
        value = [value]
    outline = Outline(value)
    outline.expand_levels(0, 1000)
    assert len(outline) == 201
    assert outline.row(200).summary == "unreadable: nested too deep, 0 B"


@given(VALUES, st.lists(st.integers(0, 50), max_size=12))
@settings(max_examples=40)
def test_any_value_any_folding(value: Any, moves: list[int]) -> None:
    """However it is opened and folded, rows are in document order and nothing is shown twice."""
    outline = Outline({"value": value, "again": [value]})
    for move in moves:
        if len(outline):
            outline.toggle(move % len(outline))
    nodes = [outline.node(at) for at in range(len(outline))]
    assert len(set(nodes)) == len(nodes)
    for at, node in enumerate(nodes):
        row = outline.row(at)
        assert outline.position(node) == at
        parent = outline.parent(at)
        assert (parent == NONE) == (row.depth == 0)
        if parent != NONE:
            assert outline.row(parent).depth == row.depth - 1
            assert outline.row(parent).open
        assert escape(row.summary) == row.summary


LINES: list[tuple[Any, str]] = [
    (None, "null"),
    (True, "true"),
    (float("nan"), "nan"),
    (10**40, "1" + "0" * 40),
    ("a\nb\x1b[0m", '"a\\nb\\x1b[0m"'),
    ("word " * 1000, '"word word word word word word word word word word… " 5.0 KB'),
    ({"name": 1, "tier": 2}, "{2} name, tier"),
    ({7: 1}, "{1} 7"),
    ({f"key{i}": i for i in range(50)}, "{50} " + ", ".join(f"key{i}" for i in range(9)) + ", …"),
    ([1, "a", None, {"b": 1}, [], [1]], '[6] 1, "a", null, {…}, [], […]'),
    (SetValue(["x"]), '[1] "x"'),
    (MapValue([([1], 2)]), "{1} [1] 1"),
    (Obj("app.models", "Tier", "arg", "gold"), 'app.models.Tier "gold"'),
    (Obj("app", "Wrap", "arg", Obj("app", "In", "arg", [1])), "app.Wrap In"),
    (Secret("pydantic", "SecretStr", "arg", "x"), "**********"),
    (Obj("", "ext 9", "ext", b"abc", (9,)), "ext 9, 3 B"),
    (date(2024, 1, 2), "2024-01-02"),
    (Decimal("1.20"), "1.20"),
    (b"\x89PNG\r\n\x1a\n" * 100, "800 B 0x89504e470d0a1a0a…"),
    (NdArray("<f8", (2, 3), "C", b""), "array <f8 [2, 3]"),
    (Pickle(b"cos\nsystem\n.", lambda _: ("os.system",)), "pickle of os.system, never loaded"),
    (Unreadable("encrypted (aes)", 1500), "unreadable: encrypted (aes), 1.5 KB"),
    (Delta([1], [2] * 12), "snapshot + 12 writes"),
    (Delta(writes=[1]), "1 write"),
    (ABSENT, "no value"),
    (message("human", "hi"), 'human "hi"'),
    (CHAT * 3, "[12] human, ai→lookup, tool, …, ai"),
    (message("ai", "", tool_calls=[{"name": f"t{i}"} for i in range(6)]), "ai→t0+t1+t2+t3+2"),
    ({"role": "user", "content": [{"type": "text", "text": "hi"}]}, 'human "hi"'),
]


@pytest.mark.parametrize(("value", "line"), LINES)
def test_lines(value: Any, line: str) -> None:
    assert one_line(value) == line
    size = size_of(value)
    assert size is not None
    assert size > 0


@given(VALUES, st.integers(20, 90))
@settings(max_examples=60)
def test_a_line_is_one_line(value: Any, width: int) -> None:
    line = one_line(value, width)
    assert escape(line) == line
    assert len(line) <= width + 12


def test_counting_stops() -> None:
    assert size_of([[0] * 1000] * 1000) is None


def test_a_huge_number_is_not_written_out() -> None:
    assert one_line(1 << 100_000) == "a huge number"
