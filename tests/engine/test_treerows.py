"""Rows in words: what ran, where it went, and what is marked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pictures import history, lines, owned_by
from retrograph.engine.history import History
from retrograph.engine.model import Envelope
from retrograph.engine.steps.step import Question, Step, Task
from retrograph.engine.tree.labels import ASCII, Label, names, summary
from retrograph.engine.tree.rows import TreeRow, title, tree_rows


def step(
    ran: str = "",
    due: str = "",
    came_by: Mapping[str, tuple[str, ...]] | None = None,
    exact: bool = True,
    tasks: tuple[Task, ...] | None = None,
    questions: tuple[Question, ...] = (),
    errors: tuple[tuple[str | None, str], ...] = (),
    repaired: str | None = None,
) -> Step:
    """`ran`, `due`: names with spaces between. Every due node has finished, unless `tasks`."""
    made = tasks if tasks is not None else tuple(task(node) for node in due.split())
    return Step(
        tuple(sorted(due.split())),
        exact,
        repaired,
        made,
        tuple(ran.split()),
        came_by or {},
        {},
        questions,
        errors,
    )


def task(node: str, finished: bool = True, error: str | None = None, wrote: str = "") -> Task:
    return Task(f"id-{node}", node, "", finished, error, (), tuple(wrote.split()), ())


def envelope(
    source: str | None, number: int | None = None, updated: str | None = None, **metadata: Any
) -> Envelope:
    metadata |= {"source": source} if source else {}
    metadata |= {"step": number} if number is not None else {}
    channels = updated.split() if updated is not None else None
    return Envelope("", "", None, 4, {}, {}, channels, frozenset(), {}, (), metadata)


def rows(
    words: str, made: Mapping[str, tuple[Envelope, Step]], owner: str = "", **options: Any
) -> list[TreeRow]:
    """`made` by checkpoint ids that are unique."""
    tree = history(words)
    keys = {i: (tree.ns(i), tree.ids[i]) for i in range(len(tree))}
    steps = {key: made[key[1]][1] for key in keys.values() if key[1] in made}
    envelopes = {key: made[key[1]][0] for key in keys.values() if key[1] in made}
    return list(tree_rows(tree, steps, envelopes, owned_by(tree, owner), **options))


def picture(found: list[TreeRow]) -> str:
    out = []
    for row in found:
        number = "" if row.step is None else f"{row.step} "
        marks = f"  ({' · '.join(row.marks)})" if row.marks else ""
        out.append(f"{row.prefix}{row.glyph} {number}{row.text}{marks}".rstrip())
    return "\n".join(out)


FORKED = {
    "a": (envelope("input", -1), step("", "__start__")),
    "b": (envelope("loop", 0), step("", "receive")),
    "c": (envelope("loop", 1), step("receive", "price")),
    "d": (envelope("loop", 2), step("price", "ship")),
    "e": (envelope("loop", 3), step("ship", "notify")),
    "f": (envelope("update", 3, "branch:to:hold path"), step("", "hold")),
    "g": (envelope("loop", 4), step("hold", "")),
    "z": (envelope("loop", 4), step("notify", "")),
}


def test_the_picture_of_the_design() -> None:
    want = """
        ○ -1 input
        ● 0 START → receive
        ● 1 receive → price
        ● 2 price → ship | hold
        ├─◆ 3 edit path
        │ ● 4 hold → END  (leaf)
        ● 3 ship → notify
        ● 4 notify → END  (head · leaf)
        """
    words = "a b<a c<b d<c e<d f<d g<f z<e"
    assert picture(rows(words, FORKED)) == lines(want)
    plain = picture(rows(words, FORKED, ascii=True))
    assert plain == lines(
        """
        o -1 input
        * 0 START -> receive
        * 1 receive -> price
        * 2 price -> ship | hold
        +-# 3 edit path
        | * 4 hold -> END  (leaf)
        * 3 ship -> notify
        * 4 notify -> END  (head - leaf)
        """
    ).replace("head - leaf", "head · leaf")
    assert plain.replace(" · ", "").isascii()


def test_an_edit_alone_says_where_it_turned_to() -> None:
    found = rows("d f<d g<f", FORKED)
    assert [row.text for row in found] == ["price → ship", "edit path → hold", "hold → END"]


def test_copies_are_passed_through_and_are_no_route() -> None:
    made = {
        "p": (envelope("loop", 2), step("price", "ship")),
        "q": (envelope("loop", 3), step("ship", "notify")),
        "r": (envelope("fork", 3), step("", "ship")),
        "s": (envelope("update", 4, "path"), step("", "hold")),
        "t": (envelope("fork", 5), step("", "later")),
    }
    found = rows("p q<p r<p s<r t<p", made)
    assert [row.text for row in found] == [
        "price → ship | hold",
        "ship → notify",
        "copy",
        "edit path → hold",
        "copy",
    ]
    assert [row.glyph for row in found] == ["●", "●", "◇", "◆", "◇"]


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (
            step("stock fraud", "ship", {"stock": ("ship",), "fraud": ("ship",)}),
            "stock, fraud → ship",
        ),
        (step("split", "pack pack pack", {"split": ("pack", "pack", "pack")}), "split → pack ×3"),
        (step("pack pack pack", "sum"), "pack ×3 → sum"),
        (step("a b", "x y", {"a": ("x",), "b": ("y",)}), "a → x · b → y"),
        (step("a b", "x", {"a": ("x",), "b": ()}), "a, b → x"),
        (step("a b c d e f", ""), "a, b, c, d, +2 → END"),
        (step("", "ship"), "… → ship"),
        (step("old", "", exact=False), "old → ?"),
        (step("old", "ship", exact=False), "old → ship"),
    ],
)
def test_words(made: Step, text: str) -> None:
    assert rows("b", {"b": (envelope("loop"), made)})[0].text == text


def test_names_from_the_store_cannot_move_the_cursor() -> None:
    evil = Label("step", ("\x1b[2J",), (("a\nb",),))
    assert evil.text() == "\\x1b[2J → a\\nb"
    assert Label("edit", (), (), changed=("\u202e",)).text() == "edit \\u202e"


def test_marks() -> None:
    ask = Question("q", "n", "?", answered=False)
    done = Question("q", "n", "?", answered=True)
    made = {
        "a": (envelope("loop"), step("x", "n", questions=(done,))),
        "b": (envelope("loop"), step("n", "f", tasks=(task("f", False, "boom"),))),
        "c": (envelope("loop"), step("f", "n", tasks=(task("n", False),), questions=(ask,))),
        "d": (envelope("loop"), step("n", "m", tasks=(task("m", False),))),
        "e": (envelope("loop"), step("n", "", exact=False, repaired="a join", tasks=())),
        "g": (envelope("loop"), step("n", "f", tasks=(task("f", True, "boom"),))),
    }
    found = rows("a b<a c<b d<b e<gone g<e", made)
    marks = {row.id: (row.glyph, *row.marks) for row in found}
    assert marks == {
        "a": ("●", "root", "answered"),
        "b": ("×", "failed"),
        "c": ("?", "leaf", "question"),
        "d": ("●", "leaf", "unfinished"),
        "e": ("●", "parent not stored", "repaired", "inexact"),
        "g": ("●", "head", "leaf", "unfinished"),  # what ran was not applied
    }


def test_a_sub_graph_that_its_caller_went_on_without_is_left() -> None:
    made = {
        "a": (envelope("loop", 1), step("", "team")),
        "b": (envelope("loop", 2), step("team", "")),
        "s": (envelope("loop", 0), step("", "hand off", tasks=(task("hand off", False),))),
    }
    assert [row.marks for row in rows("a b<a team:1f/s", made, "s<a")][2] == ("left",)
    assert [row.marks for row in rows("a team:1f/s", made, "s<a")][2] == ("unfinished",)
    made["b"] = (envelope("update", 2, "x"), step("", ""))
    assert [row.marks for row in rows("a b<a team:1f/s", made, "s<a")][2] == ("unfinished",)
    made["b"] = (envelope("loop", 2), step("team", ""))
    failed = task("hand off", False, "boom")
    made["s"] = (envelope("loop", 0), step("", "hand off", tasks=(failed,)))
    assert [row.marks for row in rows("a b<a team:1f/s", made, "s<a")][2] == ("failed",)


def test_what_has_not_been_read_yet_has_lanes_and_no_words() -> None:
    found = rows("a b<a c<a", {})
    assert picture(found) == "●\n├─●   (leaf)\n●   (head · leaf)"


def test_kinds_are_guessed_where_no_source_is_stored() -> None:
    made = {
        "a": (envelope(None), step("", "__start__")),
        "b": (envelope(None), step("", "x")),
        "c": (envelope(None), step("x", "")),
    }
    assert [row.text for row in rows("a b<a c<b", made)] == ["input", "START → x", "x → END"]


def test_sub_graphs_have_headers() -> None:
    made = {
        "a": (envelope("loop", 1), step("", "review")),
        "b": (envelope("loop", 2), step("review", "")),
        "s": (envelope("input", -1), step("", "__start__")),
        "t": (envelope("loop", 0), step("", "look")),
    }
    words = "a b<a review:1f/s review:1f/t<s x:9/u"
    assert picture(rows(words, made, "s<a t<a")) == lines(
        """
        ● 1 … → review
        ├─▼ review · 2 checkpoints
        │ ○ -1 input
        │ ● 0 START → look  (left)
        ● 2 review → END  (head · leaf)
        ▼ x:9 · 1 checkpoint  (step not known)
        ●
        """
    )
    closed = rows(words, made, "s<a t<a", closed=True)
    assert [row.text for row in closed if row.kind == "group"] == [
        "review · 2 checkpoints",
        "x:9 · 1 checkpoint",
    ]
    assert closed[1].glyph == "▶"
    assert closed[1].marks == ("closed",)
    inner = rows(words, made, "s<a t<a", ns="review:1f")
    assert [row.marks for row in inner] == [(), ("head", "leaf", "unfinished")]


def test_titles() -> None:
    assert title("a:1|review:2f") == "review"
    assert title("review:2f|1") == "review (2)"
    assert title("plain") == "plain"
    assert title("7") == "7"
    assert title("review:2f|" + "9" * 5000) == "9" * 5000


def test_folds_say_what_ran() -> None:
    made = {"a": (envelope("input"), step("", "__start__"))}
    words = ["a"]
    for k, name in enumerate("bcdefghijklmnopqr"):
        words.append(f"{name}<{words[-1][0]}")
        made[name] = (envelope("loop"), step(("agent", "tools")[k % 2], ("tools", "agent")[k % 2]))
    found = rows(" ".join(words), made, fold=True)
    assert [row.kind for row in found] == ["checkpoint", "fold", "checkpoint"]
    assert f"{found[1].glyph} {found[1].text}" == "… 16 steps: agent, tools ×8"
    made["h"] = (envelope("update", None, "x"), step("", "other"))
    found = rows(" ".join(words), made, fold=True)
    assert [row.text for row in found if row.kind == "checkpoint"][1] == "edit x → other"
    keep = rows(" ".join(words), made, fold=True, keep=[3, 12])
    assert {row.checkpoint for row in keep if row.kind == "checkpoint"} >= {3, 12}


def test_summaries() -> None:
    assert summary(["a", "b"] * 7) == "a, b ×7"
    assert summary(["a", "b"] * 7, ASCII) == "a, b x7"
    assert summary(["a"] * 5) == "a ×5"
    assert summary(["a", "b", "c", "a"]) == "a ×2, b, c"
    assert summary(["a"]) == "a"
    assert names(["b", "a", "b"]) == "b ×2, a"


def test_times_come_from_the_ids() -> None:
    first = "1efa6f1e-0000-6000-8000-000000000000"
    second = "1efa6f1e-0989-6680-8001-000000000000"
    tree = History.build("t", [[("", first, None, 1), ("", second, first, 1)]])
    found = list(tree_rows(tree, {}, {}))
    assert found[0].seconds is None
    assert found[1].seconds == pytest.approx(1.0)
    assert found[1].step == 1
    assert found[1].at is not None
