"""Pictures of layouts, and what must hold for every shape of tree."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pictures import history, lines, owned_by, picture
from retrograph.engine.history import NONE, History
from retrograph.engine.model import IndexRow
from retrograph.engine.tree.lanes import ASCII, UNICODE, Layout
from retrograph.engine.tree.layout import goes_on, lay_out

PICTURES = {
    "nothing": ("", ""),
    "a line": ("a b<a c<b", "a\nb\nc"),
    "the newest line goes on straight": (
        "a b<a c<b d<b e<d",
        """
        a
        b
        ├─c
        d
        e
        """,
    ),
    "an old fork that was run again": (
        "a b<a c<a d<b e<c",
        """
        a
        ├─b
        │ d
        c
        e
        """,
    ),
    "many forks take two lanes": (
        "a b<a c<a d<a e<a",
        """
        a
        ├─b
        ├─c
        ├─d
        e
        """,
    ),
    "inside a branch the longer one goes on straight": (
        "a b<a c<b d<b e<d f<e g<c z<a",
        """
        a
        ├─b
        │ ├─c
        │ │ g
        │ d
        │ e
        │ f
        z
        """,
    ),
    "of two equally long ones the newer": (
        "a b<a c<b d<b z<a",
        """
        a
        ├─b
        │ ├─c
        │ d
        z
        """,
    ),
    "forks made from the end backwards stay narrow": (
        "a b<a c<b d<c e<d f<e p<e q<d r<c s<b t<a",
        """
        a
        ├─b
        │ ├─s
        │ c
        │ ├─r
        │ d
        │ ├─q
        │ e
        │ ├─f
        │ p
        t
        """,
    ),
    "forks within forks": (
        "a b<a c<b d<c e<d f<d g<c h<b i<a",
        """
        a
        ├─b
        │ ├─h
        │ c
        │ ├─g
        │ d
        │ ├─e
        │ f
        i
        """,
    ),
    "several roots": (
        "a b<a c d<c e<c",
        """
        a
        b
        c
        ├─d
        e
        """,
    ),
    "a parent that is gone": ("b<a c<b", "b\nc"),
    "a loop, cut at its oldest": ("a<c b<a c<b d<c", "a\nb\nc\nd"),
    "ids out of order": ("b c<b a<c", "b\nc\na"),
    "a child older than its parent, and a fork": (
        "m c<m a<c z<m",
        """
        m
        ├─c
        │ a
        z
        """,
    ),
}


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name: str) -> None:
    words, want = PICTURES[name]
    tree = history(words)
    assert picture(tree, lay_out(tree)) == lines(want)


NESTED = {
    "under the step that ran it": (
        "a b<a c<b sub:1/s sub:1/t<s",
        "s<b t<b",
        """
        a
        b
        ├─[sub:1]
        │ s
        │ t
        c
        """,
    ),
    "at a leaf: still running, or waiting": (
        "a b<a sub:1/s sub:1/t<s",
        "s<b t<b",
        """
        a
        b
        ╰─[sub:1]
          s
          t
        """,
    ),
    "before the branches of its step": (
        "a b<a c<a sub:1/s",
        "s<a",
        """
        a
        ├─[sub:1]
        │ s
        ├─b
        c
        """,
    ),
    "two at one step, by age": (
        "a y:1/p x:1/q",
        "p<a q<a",
        """
        a
        ├─[y:1]
        │ p
        ╰─[x:1]
          q
        """,
    ),
    "within each other": (
        "a b<a p:1/s p:1/t<s p:1|q:2/u p:1|q:2/v<u",
        "s<a t<a u<s v<s",
        """
        a
        ├─[p:1]
        │ s
        │ ├─[p:1|q:2]
        │ │ u
        │ │ v
        │ t
        b
        """,
    ),
    "one namespace over several steps": (
        "a b<a c<b sub/s sub/t<s sub/u<t",
        "s<a t<a u<b",
        """
        a
        ├─[sub]
        │ s
        │ t
        b
        ├─[sub]
        │ u
        c
        """,
    ),
    "forked inside": (
        "a b<a sub:1/s sub:1/t<s sub:1/u<s sub:1/v<u",
        "s<a t<a u<a v<a",
        """
        a
        ├─[sub:1]
        │ s
        │ ├─t
        │ u
        │ v
        b
        """,
    ),
    "two roots inside": (
        "a b<a sub:1/s sub:1/t sub:1/u<s",
        "s<a t<a u<a",
        """
        a
        ├─[sub:1]
        │ s
        │ u
        │ t
        b
        """,
    ),
    "its step not known": (
        "a b<a sub:1/s sub:1/t<s",
        "",
        """
        a
        b
        [sub:1]
        s
        t
        """,
    ),
    "owners in a circle, or no shallower, do not count": (
        "a x:1/s y:1/t x:1|z:1/u",
        "s<t t<s u<u",
        """
        a
        [x:1]
        s
        [y:1]
        t
        [x:1|z:1]
        u
        """,
    ),
    "no root namespace at all": ("sub:1/s", "", "[sub:1]\ns"),
}


@pytest.mark.parametrize("name", NESTED)
def test_nested(name: str) -> None:
    words, owners, want = NESTED[name]
    tree = history(words)
    assert picture(tree, lay_out(tree, owned_by(tree, owners))) == lines(want)


def test_one_namespace_alone_with_what_ran_inside_it() -> None:
    tree = history("a b<a p:1/s p:1/t<s p:1|q:2/u p:3/v")
    owner = owned_by(tree, "s<a t<a u<s v<b")
    want = """
        s
        ├─[p:1|q:2]
        │ u
        t
        """
    assert picture(tree, lay_out(tree, owner, "p:1")) == lines(want)
    assert lay_out(tree, owner, "p:1").entry(tree.find("", "a")) == NONE


def test_ascii_and_cut_lanes() -> None:
    tree = history("a b<a c<b d<b e<d f<e g<c z<a h<g i<g j<h k<i sub:1/s")
    owner = owned_by(tree, "s<k")
    assert picture(tree, lay_out(tree, owner), ASCII) == lines(
        r"""
        a
        +-b
        | +-d
        | | e
        | | f
        | c
        | g
        | +-h
        | | j
        | i
        | k
        | \-[sub:1]
        |   s
        z
        """
    )
    narrow = picture(tree, lay_out(tree, owner), UNICODE, limit=1).splitlines()
    assert narrow[1:4] == ["├─b", "… d", "… e"]


def test_the_line_to_a_row_is_set_off() -> None:
    tree = history("a b<a c<b d<b e<d f<a sub:1/s sub:1/t<s")
    layout = lay_out(tree, owned_by(tree, "s<d t<d"))

    def lit(checkpoint_id: str) -> str:
        target = layout.entry(tree.ids.index(checkpoint_id))
        line = layout.line(target)
        rows = []
        for entry in range(len(layout)):
            text = "".join(
                cell.text.replace("─", "═").replace("│", "║") if cell.on else cell.text
                for cell in layout.cells(entry, line=line)
            )
            i = layout.checkpoint(entry)
            name = tree.ids[i] if i >= 0 else "sub"
            rows.append(text + (name.upper() if layout.on(entry, line) else name))
        return "\n".join(rows)

    assert lit("t") == lines(
        """
        A
        ├═B
        │ ├─c
        │ D
        │ ├═SUB
        │ │ S
        │ │ T
        │ e
        f
        """
    )
    assert lit("f") == lines(
        """
        A
        ├─b
        ║ ├─c
        ║ d
        ║ ├─sub
        ║ │ s
        ║ │ t
        ║ e
        F
        """
    )


def test_further_lines_of_a_row_go_on_without_its_joint() -> None:
    tree = history("a b<a c<a")
    layout = lay_out(tree)
    assert "".join(cell.text for cell in layout.cells(1, below=True)) == "│ "


def test_a_long_chain_and_a_wide_fork() -> None:
    names = [f"{k:06d}" for k in range(30_000)]
    rows = [IndexRow("", n, names[k - 1] if k else None, 1) for k, n in enumerate(names)]
    layout = lay_out(History.build("t", [rows]))
    assert [layout.checkpoint(e) for e in (0, 29_999)] == [0, 29_999]
    assert layout.prefix(29_999) == ""
    rows = [IndexRow("", n, names[0] if k else None, 1) for k, n in enumerate(names)]
    layout = lay_out(History.build("t", [rows]))
    assert {layout.prefix(e) for e in range(30_000)} == {"", "├─"}


def test_namespaces_a_thousand_deep() -> None:
    rows, ns = [IndexRow("", "0000", None, 1)], ""
    for k in range(1, 1000):
        ns = f"{ns}|n:{k}" if ns else f"n:{k}"
        rows.append(IndexRow(ns, f"{k:04d}", None, 1))
    tree = History.build("t", [rows])
    place = {checkpoint_id: i for i, checkpoint_id in enumerate(tree.ids)}
    owners = {i: place.get(f"{int(c) - 1:04d}", NONE) for c, i in place.items()}
    layout = lay_out(tree, owners)
    assert layout.lane(len(layout) - 1) == 999
    assert layout.prefix(len(layout) - 1, limit=3) == "…     "


@st.composite
def trees(draw: st.DrawFn) -> tuple[History, dict[int, int]]:
    """Trees of several namespaces, parents anywhere (loops too), owners anywhere."""
    rows = []
    for ns in ("", "a:1", "a:1|b:2", "c"):
        count = draw(st.integers(1 if not ns else 0, 25))
        backwards = draw(st.booleans())
        for k in range(count):
            low, high = (0, count - 1) if backwards else (0, max(k - 1, 0))
            parent = draw(st.none() | st.integers(low, high))
            rows.append(IndexRow(ns, f"{k:02d}", None if parent is None else f"{parent:02d}", 1))
    tree = History.build("t", [rows])
    owner = {i: draw(st.integers(NONE, len(tree) - 1)) for i in range(len(tree)) if tree.ns(i)}
    return tree, owner


@given(trees())
def test_whatever_the_shape(made: tuple[History, dict[int, int]]) -> None:
    tree, owner = made
    layout = lay_out(tree, owner)
    drawn = [layout.checkpoint(e) for e in range(len(layout))]
    assert sorted(i for i in drawn if i >= 0) == list(range(len(tree)))
    assert len(layout) == len(tree) + len(layout.groups)
    for i in range(len(tree)):
        entry = layout.entry(i)
        assert layout.checkpoint(entry) == i
        parent = tree.parent(i)
        if parent >= 0 and layout.enclosing(layout.entry(parent)) == layout.enclosing(entry):
            assert layout.entry(parent) < entry
    for number, group in enumerate(layout.groups):
        inside = layout.inside(number)
        assert layout.group(layout.header(number)) == number
        own = [layout.checkpoint(e) for e in inside if layout.enclosing(e)[-1:] == [number]]
        assert group.checkpoints == len([i for i in own if i >= 0])
        assert {tree.ns(i) for i in own if i >= 0} == {group.ns}
        if group.owner >= 0:
            assert layout.entry(group.owner) < layout.header(number)
    bound = 2 + log2(len(tree))
    nesting = [len(layout.enclosing(e)) for e in range(len(layout))]
    assert all(layout.lane(e) <= (bound + 1) * (nesting[e] + 1) for e in range(len(layout)))
    connect(layout)


def connect(layout: Layout) -> None:
    """Every lane piece must be carried on from above and lead down to a joint or a row."""
    rows = []
    for entry in range(len(layout)):
        prefix = layout.prefix(entry)
        assert len(prefix) == 2 * layout.lane(entry)
        rows.append(prefix + ("●" if layout.group(entry) == NONE else "▼"))
    for above, here in zip(["", *rows[:-1]], rows, strict=True):
        for column, sign in enumerate(here):
            over = above[column] if column < len(above) else " "
            if sign in "│├╰":
                assert over in "│├●▼", (above, here)
            if sign == "─":
                assert column + 2 == len(here)
    for here, under in zip(rows, [*rows[1:], ""], strict=True):
        for column, sign in enumerate(here):
            below = under[column] if column < len(under) else " "
            if sign in "│├":
                assert below in "│├╰●▼", (here, under)
            if sign in "╰ " and column % 2 == 0:
                # A lane that has ended is taken up only by what starts anew.
                assert below in " ●▼" or column >= len(under), (here, under)


@given(trees(), st.data())
def test_the_line_is_the_parents_and_the_owners(
    made: tuple[History, dict[int, int]], data: st.DataObject
) -> None:
    tree, owner = made
    layout = lay_out(tree, owner)
    target = data.draw(st.integers(0, len(layout) - 1))
    line = layout.line(target)
    want = set()
    entry: int = target
    while True:
        want.add(entry)
        i, group = layout.checkpoint(entry), layout.group(entry)
        if group >= 0:
            if layout.groups[group].owner < 0:
                break
            entry = layout.entry(layout.groups[group].owner)
            continue
        parent = tree.parent(i)
        outer = layout.enclosing(entry)
        if parent >= 0 and layout.enclosing(layout.entry(parent)) == outer:
            entry = layout.entry(parent)
        elif outer:
            entry = layout.header(outer[-1])
        else:
            break
    assert {e for e in range(len(layout)) if layout.on(e, line)} == want


@given(st.data())
def test_a_layout_that_goes_on_is_laid_out_anew(data: st.DataObject) -> None:
    names = [f"{k:03d}" for k in range(data.draw(st.integers(2, 25)))]
    rows = [IndexRow("", names[0], None, 1)]
    for k in range(1, len(names)):
        parent = data.draw(st.sampled_from([names[k - 1]] * 4 + [None, *names[:k]]))
        rows.append(IndexRow("", names[k], parent, 1))
    count = data.draw(st.integers(1, len(names)))
    first = lay_out(History.build("t", [rows[:count]]))
    whole = History.build("t", [rows])
    gone_on = goes_on(first, whole)
    if gone_on is None:
        last = first.checkpoint(len(first) - 1)
        above = [names[last], *names[count:-1]]
        assert [row.parent_id for row in rows[count:]] != above[: len(names) - count]
        return
    again = lay_out(whole)
    assert picture(whole, gone_on) == picture(whole, again)
    for i in range(len(names)):
        assert gone_on.entry(i) == again.entry(i)
        assert gone_on.line(gone_on.entry(i)) == again.line(again.entry(i))
    assert len(first) == count
