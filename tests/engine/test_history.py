"""The tree from index rows, against a plain dictionary model, and its oddities."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrograph.engine.history import NONE, History
from retrograph.engine.links import linked
from retrograph.engine.model import IndexRow


def build(*rows: tuple[str, str, str | None]) -> History:
    return History.build("t", [[IndexRow(ns, id_, parent, 1) for ns, id_, parent in rows]])


def test_a_fork_and_its_lines() -> None:
    tree = build(("", "a", None), ("", "b", "a"), ("", "c", "b"), ("", "d", "b"), ("", "e", "d"))
    assert tree.fork_points() == [1]
    assert tree.leaves() == [2, 4]
    assert tree.roots() == [0]
    assert tree.head() == 4
    assert tree.line(4) == [0, 1, 3, 4]
    assert tree.children(1) == [2, 3]
    assert tree.problems() == []


def test_namespaces_keep_apart_and_the_root_is_first() -> None:
    tree = build(("", "a", None), ("sub:1", "a", None), ("sub:1", "b", "a"), ("z", "a", None))
    assert tree.namespaces() == ["", "sub:1", "z"]
    assert [tree.ns(i) for i in range(len(tree))] == ["", "sub:1", "sub:1", "z"]
    assert tree.find("sub:1", "b") == 2
    assert tree.find("", "b") == NONE
    assert tree.span("nowhere") == range(0)


def test_a_missing_parent_is_a_root_and_is_said() -> None:
    tree = build(("", "b", "a"), ("", "c", "b"))
    assert tree.roots() == [0]
    assert tree.parent_id(0) == "a"
    assert "not in the store" in tree.problems()[0]


def test_a_parent_in_another_namespace_is_said() -> None:
    tree = build(("", "a", None), ("sub:1", "b", "a"))
    assert tree.roots("sub:1") == [1]
    assert "another namespace" in tree.problems()[0]


@pytest.mark.parametrize(
    "rows",
    [
        [("", "a", "a")],
        [("", "a", "b"), ("", "b", "a")],
        [("", "a", "c"), ("", "b", "a"), ("", "c", "b"), ("", "d", "c")],
    ],
)
def test_a_loop_is_cut_at_its_oldest_and_said(rows: list[tuple[str, str, str | None]]) -> None:
    tree = build(*rows)
    assert tree.roots() == [0]
    assert "loops" in tree.problems()[0]
    assert all(tree.line(i)[0] == 0 for i in range(len(tree)))
    assert tree.parent_id(0) == rows[0][2]


def test_rows_in_another_order_are_put_in_ours() -> None:
    rows = [("s", "a", None), ("", "b", "a"), ("", "a", None), ("", "b", "a")]
    tree = build(*rows)
    assert tree.namespaces() == ["", "s"]
    assert tree.ids == ["a", "b", "a"]
    assert tree.parent(1) == 0


def test_steps_unwrap_past_16_384() -> None:
    def made(step: int, serial: int) -> str:
        return f"{serial:08x}-0000-6000-{0x8000 | (step & 0x3FFF):04x}-000000000000"

    steps = list(range(-1, 40_000))
    ids = [made(step, n) for n, step in enumerate(steps)]
    rows = [("", id_, ids[n - 1] if n else None) for n, id_ in enumerate(ids)]
    tree = build(*rows)
    assert [tree.step(i) for i in range(len(tree))] == steps


def test_a_long_chain_costs_no_recursion() -> None:
    ids = [f"{n:08d}" for n in range(50_000)]
    tree = build(*[("", id_, ids[n - 1] if n else None) for n, id_ in enumerate(ids)])
    assert len(tree.line(tree.head())) == 50_000
    assert tree.step(5) is None


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["", "n:1", "n:2"]), st.sampled_from("abcdefgh")),
        st.none() | st.sampled_from("abcdefghz"),
        max_size=20,
    )
)
def test_any_rows_make_a_forest(rows: dict[tuple[str, str], str | None]) -> None:
    tree = build(*[(ns, id_, parent) for (ns, id_), parent in rows.items()])
    assert len(tree) == len(rows)
    seen = set()
    for ns in tree.namespaces():
        for i in tree.span(ns):
            key = (tree.ns(i), tree.ids[i])
            seen.add(key)
            assert tree.parent_id(i) == rows[key]
            assert tree.find(*key) == i
            line = tree.line(i)
            assert tree.parent(line[0]) == NONE
            assert len(set(line)) == len(line)
            assert all(i in tree.children(tree.parent(i)) for _ in [0] if tree.parent(i) >= 0)
        assert set(tree.leaves(ns)) == {i for i in tree.span(ns) if not tree.children(i)}
    assert seen == set(rows)


@given(st.lists(st.integers(-1, 11), max_size=12))
def test_links_are_those_of_the_parents(wanted: list[int]) -> None:
    parents = array("i", [up if up < len(wanted) else NONE for up in wanted])
    first, following = linked(parents)
    for i in range(len(parents)):
        children = []
        child = first[i]
        while child != NONE:
            children.append(child)
            child = following[child]
        assert children == [k for k, up in enumerate(parents) if up == i]


@st.composite
def growing(draw: st.DrawFn) -> tuple[list[IndexRow], int]:
    """Rows of one namespace, and how many of them were there first. Parents anywhere, mostly the
    row before; steps in the ids."""
    count = draw(st.integers(2, 30))
    names = [f"1ef00000-0000-6{k:03d}-8{k % 7:03x}-000000000000" for k in range(count)]
    rows = []
    for k, name in enumerate(names):
        usual = names[k - 1] if k else None
        parent = draw(st.sampled_from([usual] * 6 + [None, "gone", *names]))
        rows.append(IndexRow("", name, parent, draw(st.sampled_from([None, 7]))))
    return rows, draw(st.integers(1, count - 1))


@given(growing())
def test_grown_is_built_anew(made: tuple[list[IndexRow], int]) -> None:
    rows, count = made
    first, whole = History.build("t", [rows[:count]]), History.build("t", [rows])
    grown = first.grown(rows[count:])
    backwards = {row.parent_id for row in rows[:count]} & {row.id for row in rows[count:]}
    backwards |= {row.id for row in rows[count:] if row.parent_id and row.parent_id >= row.id}
    if grown is None:
        assert backwards
        return
    assert (grown.ids, grown.parents(), grown._sizes) == (whole.ids, whole.parents(), whole._sizes)
    assert grown._steps == whole._steps
    assert grown._child_links == whole._child_links
    assert grown.problems() == whole.problems()
    assert (grown.head(), grown.leaves(), grown.fork_points()) == (
        whole.head(), whole.leaves(), whole.fork_points(),
    )  # fmt: skip
    assert len(first) == count  # what is shown meanwhile stays as it is


def test_what_does_not_go_on_at_the_end_is_not_grown() -> None:
    tree = build(("", "b", None), ("", "d", "b"))
    assert tree.grown([IndexRow("", "c", "b", 1)]) is None
    assert tree.grown([IndexRow("", "f", "d", 1), IndexRow("", "e", "d", 1)]) is None
    assert tree.grown([IndexRow("sub:1", "e", None, 1)]) is None
    nested = build(("", "b", None), ("sub:1", "c", None))
    assert nested.grown([IndexRow("sub:1", "e", "c", 1)]) is None
    elsewhere = build(("sub:1", "c", None)).grown([IndexRow("sub:1", "e", "c", 1)])
    assert elsewhere is not None
    assert elsewhere.children(0) == [1]
