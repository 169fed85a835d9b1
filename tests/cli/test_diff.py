"""`diff`: two snapshots of any thread, namespace and store, for people and for programs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cli.running import DATA, Run
from made import Made, make, said

LETTER = "Dear {who},\n\nyour parcel left us on {day}.\nIt goes by {by}.\nIt weighs 3 kg.\n\nBye\n"
PARAGRAPH = "The quick brown fox jumps over the lazy dog, and nobody minds. " * 6


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """`t`: root, a step that changes texts, and a move."""
    old, new = LETTER.format(who="Ann", day="Monday", by="train"), LETTER.format(
        who="Bob", day="Monday", by="ship"
    )  # fmt: skip
    talk = [said("one", "m1"), said("two", "m2"), said("three", "m3")]
    states = [
        Made({"letter": old, "page": PARAGRAPH, "messages": talk, "n": 1}),
        Made({"letter": new, "page": PARAGRAPH.replace("dog", "cat", 1), "messages": talk, "n": 1}),
        Made({"letter": new, "messages": [talk[2], *talk[:2]], "n": "1"}),
    ]
    make(tmp_path / "s.db", states)
    make(tmp_path / "s.db", [Made({"n": 1, "below": True})], ns="sub:1")
    return tmp_path / "s.db"


def changed(run: Run, *words: object) -> list[tuple[str, str]]:
    done = run("diff", *words, "--json")
    assert done.code == 0, done.err
    return [(change["op"], change["path"]) for change in done.json["changes"]]


def test_against_the_parent(run: Run, store: Path) -> None:
    assert changed(run, store, "t") == [
        ("remove", "/page"),
        ("move", "/messages/0"),
        ("replace", "/n"),
    ]
    document = run("diff", store, "t", "--json").json
    assert document["a"]["step"] == 0
    assert document["b"]["step"] == 1
    assert document["b"]["thread_id"] == "t"
    assert document["b"]["source"] == str(store)
    moved = document["changes"][1]
    assert (moved["from"], moved["key"]) == ("/messages/2", "m3")


def test_the_second_against_the_first(run: Run, store: Path) -> None:
    assert changed(run, store, "t~2", "t~1") == [("replace", "/letter"), ("replace", "/page")]
    assert changed(run, store, "t~1", "t~2") == [("replace", "/letter"), ("replace", "/page")]
    assert changed(run, store, "t", "t") == []
    assert changed(run, store, "@root", "~1", "--thread", "t") == changed(run, store, "t~2", "t~1")


def test_across_namespaces_threads_and_stores(run: Run, store: Path) -> None:
    assert ("add", "/below") in changed(run, store, "t", "t::sub:1")
    other = DATA / "langgraph-1.2.24.db"
    assert changed(run, other, "loop", "--other", DATA / "langgraph-1.0.3.db") == []
    assert changed(run, store, "t::sub:1", "loop", "--other", other) == [
        ("remove", "/n"),
        ("remove", "/below"),
        ("add", "/total"),
        ("add", "/audit"),
        ("add", "/tags"),
    ]
    text = run("diff", other, "loop", "--other", DATA / "langgraph-0.2.0.db").out
    assert "langgraph-1.2.24.db → " in text
    assert "langgraph-0.2.0.db" in text


def test_a_root_has_nothing_before_it(run: Run, store: Path) -> None:
    done = run("diff", store, "t@root", "--json")
    assert done.code == 0
    assert done.json["a"] is None
    assert {change["op"] for change in done.json["changes"]} == {"add"}
    assert "This is a root" in done.err
    assert run("diff", store, "t@root").out.startswith("nothing → t@")


def test_a_parent_that_is_gone(run: Run, store: Path) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(store)) as db:
        db.execute(
            "delete from checkpoints where parent_checkpoint_id is null and checkpoint_ns=''"
        )
        db.commit()
    done = run("diff", store, "t~1")
    assert (done.code, done.out) == (2, "")
    assert "is not in the store: name what to compare with" in done.err


def test_exit_code(run: Run, store: Path) -> None:
    assert run("diff", store, "t", "--exit-code").code == 1
    assert run("diff", store, "t", "--exit-code", "--json").code == 1
    assert run("diff", store, "t", "t", "--exit-code").code == 0
    assert run("diff", store, "t").code == 0
    assert run("diff", store, "nope", "--exit-code").code == 2


def test_channels(run: Run, store: Path) -> None:
    assert changed(run, store, "t", "--channel", "n") == [("replace", "/n")]
    both = changed(run, store, "t", "--channel", "n", "--channel", "page")
    assert both == [("remove", "/page"), ("replace", "/n")]
    done = run("diff", store, "t", "--channel", "nope")
    assert (done.code, done.out) == (2, "")
    assert "letter, page, messages, n" in done.err


def test_long_texts_are_shown_by_what_changed(run: Run, store: Path) -> None:
    text = run("diff", store, "t~1").out
    assert "  - Dear Ann," in text
    assert "  + Dear Bob," in text
    assert "It weighs" in text, "the line beside a change"
    assert "  - It goes by train." in text
    assert "your parcel left us" in text
    assert "… 3 unchanged lines" in text
    assert "the lazy [-dog-]{+cat+}, and nobody" in text
    assert "… 2 unchanged" in text
    assert len(max(text.splitlines(), key=len)) < 400


def test_two_columns(run: Run, store: Path) -> None:
    text = run("diff", store, "t~1", "--side-by-side").out
    assert re.search(r"Dear Ann, +~ +Dear Bob,", text)
    assert re.search(r"lazy dog, and .*lazy cat,", text, re.DOTALL)
    moved = run("diff", store, "t", "-y").out
    assert re.search(r"^  \[2\] +>   \[0\]  human \"three\"", moved, re.MULTILINE)


def test_context(run: Run, store: Path) -> None:
    folded = run("diff", store, "t", "--channel", "messages").out
    assert ">   [0]  from [2]" in folded
    assert "… 2 unchanged" in folded
    shown = run("diff", store, "t", "--channel", "messages", "--context", "5").out
    assert '[1]  human "one"' in shown
    assert "unchanged" not in shown
    assert run("diff", store, "t", "--context", "-1").code == 2


@pytest.mark.parametrize("version", ["0.2.0", "0.4.0", "1.2.24"])
def test_every_step_of_every_version_can_be_shown(run: Run, version: str) -> None:
    path = DATA / f"langgraph-{version}.db"
    for thread in run("threads", path, "--json").json:
        tree = run("tree", path, thread["thread_id"], "--json").json
        for checkpoint in tree["checkpoints"]:
            where = f"{thread['thread_id']}::{checkpoint['ns']}@{checkpoint['id']}"
            for how in ([], ["-y"], ["--json"]):
                assert run("diff", path, where, *how).code == 0


def test_hostile_values(run: Run, tmp_path: Path) -> None:
    import unicodedata

    def nasty(mark: str) -> dict[str, Any]:
        text = f"{mark}\x1b[2J\x1b]0;owned\x07 \u202eabc\nline \x9b {mark} " * 20
        return {"c\x1b": text, "k": {f"\x1b[31m{mark}": text}, "m": [said(text, f"\x1b{mark}")]}

    make(tmp_path / "s.db", [Made(nasty("a")), Made(nasty("b"))])
    for how in ([], ["-y"], ["--context", "9"]):
        done = run("diff", tmp_path / "s.db", "t", *how)
        kinds = {unicodedata.category(c) for c in done.out if c != "\n"}
        assert not kinds & {"Cc", "Cs", "Cf", "Zl", "Zp"}
