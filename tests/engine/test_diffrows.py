"""Diffs as rows, drawn as text: one column and two."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pictures import lines
from retrograph.engine.diff.changes import diff
from retrograph.engine.diff.rows import DiffRow, diff_rows, unified
from retrograph.engine.values import ABSENT, Delta, Obj, SetValue, Value


def shown(value: Value) -> str:
    if isinstance(value, Obj) and not isinstance(value, SetValue):
        return value.name
    return repr(value) if isinstance(value, (str, int, float)) else ""


def one_column(old: Value, new: Value, **options: Any) -> str:
    out = []
    for line in unified(diff_rows(old, new, diff(old, new), **options)):
        row = line.row
        words = [f"{row.hidden} unchanged"] if row.kind == "fold" else [row.label]
        words += [f"from {row.was}"] if row.was else []
        if line.value is not ABSENT and row.kind != "move":
            words.append(shown(line.value))
        out.append(f"{'  ' * row.depth}{line.sign} {' '.join(w for w in words if w)}".rstrip())
    return "\n".join(out)


def message(id_: str, content: str) -> Obj:
    return Obj("langchain", "AIMessage", "pydantic", {"content": content, "id": id_, "n": 1})


def test_maps_and_folds() -> None:
    old = {"a": 1, "b": 2, "c": {"x": 1, "y": 2, "z": 3}, "d": 4, "gone": 5}
    new = {"a": 1, "b": 2, "c": {"x": 1, "y": 9, "z": 3}, "d": 4, "come": 6}
    assert one_column(old, new) == lines(
        """
        … 2 unchanged
          c
            x 1
          - y 2
          + y 9
            z 3
          d 4
        - gone 5
        + come 6
        """
    )


def test_messages() -> None:
    old = {"messages": [message(str(k), f"text {k}") for k in range(6)], "draft": "x"}
    kept = old["messages"]
    assert isinstance(kept, list)
    new = {"messages": [kept[5], *kept[:3], message("4", "other"), message("9", "new")]}
    assert one_column(old, new) == lines(
        """
          messages
          > [0] from [5]
          … 3 unchanged
          - [3] AIMessage
            [4] AIMessage
            - content 'text 4'
            + content 'other'
            … 2 unchanged
          + [5] AIMessage
        - draft 'x'
        """
    )


def test_moved_and_changed() -> None:
    items = [message(str(k), "text") for k in range(4)]
    new = [*items[1:], message("0", "other")]
    assert one_column(items, new) == lines(
        """
        … 3 unchanged
        > [3] from [0]
          - content 'text'
          + content 'other'
          … 2 unchanged
        """
    )


def test_context_and_open_folds() -> None:
    old = list(range(10))
    new = [*old[:5], 77, *old[6:]]
    assert one_column(old, new, context=1) == lines(
        """
        … 4 unchanged
          [4] 4
        - [5] 5
        + [5] 77
          [6] 6
        … 3 unchanged
        """
    )
    rows = diff_rows(old, new, diff(old, new))
    fold = rows[0]
    assert (fold.kind, fold.path, fold.hidden) == ("fold", (0,), 5)
    opened = diff_rows(old, new, diff(old, new), unfold=[fold.path])
    assert [row.label for row in opened[:5]] == ["[0]", "[1]", "[2]", "[3]", "[4]"]


def test_removed_before_added() -> None:
    old = [message("1", "a"), message("2", "b"), message("3", "c")]
    new = [message("1", "a"), message("8", "b"), message("3", "c")]
    assert one_column(old, new) == lines(
        """
          [0] AIMessage
        - [1] AIMessage
        + [1] AIMessage
          [2] AIMessage
        """
    )


def test_sets_deltas_and_arguments() -> None:
    assert one_column({"s": SetValue([1, 2])}, {"s": SetValue([2, 3]), "z": 1}) == lines(
        """
          s
          - 1
            2
          + 3
        + z 1
        """
    )
    assert one_column({"d": Delta([1], [[2]])}, {"d": Delta([1], [[2], [3]]), "z": 1}) == lines(
        """
          d
            snapshot
            writes
              [0]
            + [1]
        + z 1
        """
    )
    old, new = (Obj("m", "Place", "args", [1, n]) for n in (2, 3))
    assert one_column({"p": old}, {"p": new, "z": 1}) == lines(
        """
          p Place
            [0] 1
          - [1] 2
          + [1] 3
        + z 1
        """
    )


def test_the_whole_value() -> None:
    assert one_column(1, 2) == "- 1\n+ 2"
    assert diff_rows({"a": 1}, {"a": 1}, []) == [
        DiffRow("same", 0, "a", ("a",), 1, 1),
    ]
    assert [row.kind for row in diff_rows({"a": 1, "b": 1}, {"a": 1, "b": 1}, [])] == ["fold"]


def test_keys_are_escaped() -> None:
    rows = diff_rows({}, {"\x1b[2J": 1}, diff({}, {"\x1b[2J": 1}))
    assert rows[0].label == "\\x1b[2J"


small = st.recursive(
    st.integers(0, 3),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        st.lists(inner, max_size=3).map(SetValue),
        st.builds(Obj, st.just("m"), st.just("A"), st.just("arg"), inner),
    ),
    max_leaves=12,
)


@given(small, small, st.integers(0, 2))
def test_every_change_has_its_row(old: Value, new: Value, context: int) -> None:
    changes = diff(old, new)
    rows = diff_rows(old, new, changes, context)
    assert [id(row.change) for row in rows if row.change] == [id(c) for c in changes]
    for row in rows:
        left = row.kind in ("same", "open", "remove", "replace", "move")
        right = row.kind in ("same", "open", "add", "replace", "move")
        assert (row.old is not ABSENT, row.new is not ABSENT) == (left, right)
        assert (row.hidden > 1) == (row.kind == "fold")
