"""Folds and closed sub-graphs: what is on the screen, and where a hidden row shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pictures import history, lines, owned_by
from retrograph.engine.history import NONE, History
from retrograph.engine.tree.folding import View, runs
from retrograph.engine.tree.layout import lay_out


def shown(tree: History, view: View) -> str:
    out = []
    for row in range(len(view)):
        entry, fold = view.entry(row), view.fold(row)
        if fold is not None:
            name = f"… {len(fold)}"
        elif (group := view.layout.group(entry)) != NONE:
            name = ("▶ " if group in view.closed else "▼ ") + view.layout.groups[group].ns
        else:
            name = tree.ids[view.layout.checkpoint(entry)]
        out.append(view.layout.prefix(entry) + name)
    return "\n".join(out)


CHAIN = "a b<a c<b d<c e<d f<e g<f h<g"


def test_a_run_folds_between_its_ends() -> None:
    tree = history(CHAIN)
    layout = lay_out(tree)
    assert shown(tree, View(layout, (), runs(layout, shortest=3))) == "a\n… 6\nh"
    assert runs(layout, shortest=7) == []


def test_what_must_stay_splits_a_run() -> None:
    tree = history(CHAIN)
    layout = lay_out(tree)
    folds = runs(layout, keep=[layout.entry(4)], shortest=2)
    assert shown(tree, View(layout, (), folds)) == "a\n… 3\ne\n… 2\nh"
    assert runs(layout, keep=[1, 3, 5], shortest=2) == []


def test_forks_and_sub_graphs_stay_in_sight() -> None:
    tree = history("a b<a c<b d<c e<d f<e p<d q<p r<q s<r t<s u<t sub:1/x sub:1/y<x")
    layout = lay_out(tree, owned_by(tree, "x<r y<r"))
    view = View(layout, [0], runs(layout, shortest=1))
    assert shown(tree, view) == lines(
        """
        a
        … 2
        d
        ├─e
        │ f
        p
        … 1
        r
        ├─▶ sub:1
        s
        … 1
        u
        """
    )
    assert shown(tree, view.open(0)).splitlines()[8:12] == ["├─▼ sub:1", "│ x", "│ y", "s"]
    assert shown(tree, view.open(0).close(0)) == shown(tree, view)


def test_revealing_a_row_opens_what_hides_it() -> None:
    tree = history("a b<a c<b p:1/s p:1/t<s p:1/u<t p:1|q:2/x")
    layout = lay_out(tree, owned_by(tree, "s<b t<b u<b x<s"))
    view = View(layout, [0, 1], runs(layout, shortest=1))
    entry = layout.entry(tree.ids.index("x"))
    assert not view.visible(entry)
    assert view.entry(view.row(entry)) == layout.header(0)
    open_view = view.reveal(entry)
    assert open_view.visible(entry)
    assert open_view.reveal(entry) is open_view
    fold = view.fold(1) or range(0)
    assert shown(tree, View(layout).unfold(fold)) == shown(tree, View(layout))


def test_rows_beyond_the_end() -> None:
    view = View(lay_out(history("a")))
    for row in (-1, 1):
        with pytest.raises(IndexError):
            view.entry(row)
        with pytest.raises(IndexError):
            view.fold(row)


@given(st.data())
def test_every_entry_shows_somewhere(data: st.DataObject) -> None:
    words = ["a"]
    for k in range(1, data.draw(st.integers(1, 20))):
        parent = data.draw(st.integers(max(0, k - 3), k - 1))
        words.append(f"{chr(97 + k)}<{chr(97 + parent)}")
    owners = []
    for k in range(data.draw(st.integers(0, 6))):
        words.append(f"n:{k % 3}/{k}")
        owners.append(f"{k}<{data.draw(st.sampled_from(words[:1]))[0]}")
    tree = history(" ".join(words))
    layout = lay_out(tree, owned_by(tree, " ".join(owners)))
    keep = data.draw(st.sets(st.integers(0, len(layout) - 1)))
    groups = st.integers(0, len(layout.groups) - 1) if layout.groups else st.nothing()
    view = View(layout, data.draw(st.sets(groups)), runs(layout, keep, shortest=2))
    covered: list[int] = []
    for row in range(len(view)):
        entry, fold = view.entry(row), view.fold(row)
        covered += fold if fold is not None else [entry]
        assert view.row(entry) == row
        if (group := layout.group(entry)) in view.closed and fold is None:
            assert {view.row(e) for e in layout.inside(group)} <= {row}
            covered += layout.inside(group)
        if fold is not None:
            assert {view.row(e) for e in fold} == {row}
            assert not keep & set(fold)
    assert covered == list(range(len(layout)))
