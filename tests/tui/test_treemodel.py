"""Moves along a tree, without a screen."""

from __future__ import annotations

from array import array

import pytest

from pictures import history, owned_by
from retrograph.engine.history import NONE
from retrograph.tui.reading.known import Known
from retrograph.tui.reading.picture import make_picture
from retrograph.tui.reading.treemodel import TreeModel

#  a b c ├ f g   h
#        ├ i
#        d e
TREE = "a b<a c<b d<c e<d f<c g<f h<g i<c"


def model(words: str, owners: str = "") -> TreeModel:
    tree = history(words)
    picture = make_picture(tree, owned_by(tree, owners) if owners else None)
    return TreeModel(picture, Known(tree))


def at(m: TreeModel, name: str) -> int:
    tree = m.picture.history
    return m.entry(tree.find("", name) if tree.find("", name) >= 0 else tree.ids.index(name))


def name(m: TreeModel, entry: int) -> str:
    return m.picture.history.ids[m.checkpoint(entry)]


@pytest.mark.parametrize(
    ("move", "begin", "end"),
    [
        ("left", "a", "a"),
        ("left", "f", "c"),
        ("right", "a", "b"),
        ("right", "h", "h"),
        ("next", "a", "a"),
        ("fork", "a", "c"),
        ("back", "h", "c"),
        ("back", "a", "a"),
    ],
)
def test_moves(move: str, begin: str, end: str) -> None:
    m = model(TREE)
    entry = at(m, begin)
    found = {
        "left": lambda: m.left(entry),
        "right": lambda: m.right(entry),
        "next": lambda: m.beside(entry, 1),
        "fork": lambda: m.fork(entry, 1),
        "back": lambda: m.fork(entry, -1),
    }[move]()
    assert name(m, found) == end


def test_lines_beside_keep_the_distance_from_the_fork() -> None:
    m = model(TREE)
    drawn = sorted((m.entry(m.picture.history.find("", first)), first) for first in "dfi")
    order = [first for _, first in drawn]
    depth = {"d": "e", "f": "g", "i": "i"}
    second = depth[order[0]]
    entry = at(m, second)
    for first in order[1:]:
        entry = m.beside(entry, 1)
        assert name(m, entry) in (depth[first], first)
    assert name(m, m.beside(entry, 1)) == name(m, entry), "there is no further one"


def test_lines_beside_of_other_roots() -> None:
    m = model("a b<a c d<c")
    assert name(m, m.beside(at(m, "b"), 1)) == "c"
    assert name(m, m.beside(at(m, "d"), -1)) == "a"


def test_sub_graphs_are_closed_at_first_and_open_on_the_way() -> None:
    m = model("a b<a c<b sub:1/x sub:1/y<x", "x<b y<b")
    assert len(m.view) == 4
    header = m.picture.layout.header(0)
    assert m.right(header) == header
    assert len(m.view) == 6
    assert name(m, m.right(header)) == "x"
    assert m.left(at(m, "x")) == header
    assert m.left(header) == header
    assert len(m.view) == 4
    assert name(m, m.left(header)) == "b"


def test_what_hides_an_entry_opens() -> None:
    m = model("a b<a c<b sub:1/x sub:1/y<x", "x<b y<b")
    m.reveal(at(m, "y"))
    assert m.view.visible(at(m, "y"))
    assert m.opened == {("sub:1", 1)}


def test_runs_fold_around_marks_and_the_selected_row() -> None:
    words = "a " + " ".join(f"{chr(98 + k)}<{chr(97 + k)}" for k in range(20))
    m = model(words)
    m.mark(at(m, "k"))
    assert m.toggle_runs(at(m, "a")) == at(m, "a")
    assert m.view.visible(at(m, "k"))
    assert len(m.view) < 8
    m.toggle_runs(at(m, "a"))
    assert len(m.view) == 21


def test_marks_and_matches_go_round() -> None:
    m = model(TREE)
    for letter in "ag":
        m.mark(at(m, letter))
    assert name(m, m.next_mark(at(m, "a"))) == "g"
    assert name(m, m.next_mark(at(m, "g"))) == "a"
    m.mark(at(m, "a"))
    assert [m.picture.history.ids[i] for i in m.marks] == ["g"]
    m.matches = array("i", sorted(at(m, letter) for letter in "bh"))
    assert name(m, m.match(at(m, "b"), -1)) == "h"
    assert name(m, m.match(at(m, "h"), 1)) == "b"


def test_an_empty_history() -> None:
    m = model("")
    assert m.head() == NONE
    assert len(m.view) == 0
