"""Searching: each place once, where it begins; found with little decoding, and nothing missed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from made import Made, make, said
from retrograph.engine.search.grep import Grep, Hit
from retrograph.engine.search.needle import Needle
from retrograph.engine.serde import Serde
from retrograph.engine.thread import Thread
from retrograph.engine.values import Secret
from retrograph.engine.views.redact import REDACTED, Redactor
from retrograph.loaders.registry import open_source


def grep(path: Path, pattern: str, ref: tuple[str | None, int | None] = (None, None), **how: Any):  # type: ignore[no-untyped-def]
    """(step, pointer-like path, text) of each hit."""
    thread = Thread(open_source(str(path)), "t")
    search = Grep(Needle(pattern, **how))
    ns, end = ref
    line = None if end is None else thread.history.line(thread.history.span(ns or "")[end])
    return [brief(thread, hit) for hit in search.thread(thread, ns, line)]


def brief(thread: Thread, hit: Hit) -> tuple[int | None, str, str]:
    step = thread.history.step(thread.history.find(hit.ns, hit.id))
    where = "" if hit.where == "values" else f"{hit.where}:"
    return step, where + "/".join(map(str, hit.path)), hit.text


def test_a_message_that_stays_is_one_hit(tmp_path: Path) -> None:
    talk = [said(f"late {n}", f"m{n}") for n in range(40)]
    states = [Made({"messages": talk[: n // 5 + 1], "n": n}) for n in range(200)]
    make(tmp_path / "s.db", states)
    assert grep(tmp_path / "s.db", "late") == [
        (5 * n - 1, f"messages/{n}/content", f"late {n}") for n in range(40)
    ]


def test_what_is_gone_and_comes_again_is_a_hit_again(tmp_path: Path) -> None:
    states = [Made({"c": text}) for text in ("late", "late", "early", "late")]
    make(tmp_path / "s.db", states)
    assert grep(tmp_path / "s.db", "late") == [(-1, "c", "late"), (2, "c", "late")]


def test_items_that_move_are_no_hits(tmp_path: Path) -> None:
    words = ["late a", "b", "late c", "late d", "e"]
    window = [Made({"c": words[n : n + 3]}) for n in range(3)]
    make(tmp_path / "s.db", window)
    assert grep(tmp_path / "s.db", "late") == [
        (-1, "c/0", "late a"),
        (-1, "c/2", "late c"),
        (0, "c/2", "late d"),
    ]


def test_the_same_text_twice_is_two_places(tmp_path: Path) -> None:
    make(tmp_path / "s.db", [Made({"c": ["late"]}), Made({"c": ["late", "x", "late"]})])
    assert grep(tmp_path / "s.db", "late") == [(-1, "c/0", "late"), (0, "c/2", "late")]


def test_branches_and_lines(tmp_path: Path) -> None:
    states = [
        Made({"c": "early"}),
        Made({"c": "late on the first"}),
        Made({"c": "late on the second"}, parent=0),
        Made({"c": "late on the first", "d": 1}, parent=1),
        Made({"c": "late on the second", "d": "late"}, parent=2),
    ]
    make(tmp_path / "s.db", states)
    make(tmp_path / "s.db", [Made({"c": "late below"})], ns="sub:1")
    first, second = (0, "c", "late on the first"), (1, "c", "late on the second")
    below = (-1, "c", "late below")
    assert grep(tmp_path / "s.db", "late") == [first, second, (3, "d", "late"), below]
    assert grep(tmp_path / "s.db", "late", ("", 3)) == [first]
    assert grep(tmp_path / "s.db", "late", ("", 4)) == [second, (3, "d", "late")]
    assert grep(tmp_path / "s.db", "late", ("sub:1", None)) == [below]


def test_questions_and_errors(tmp_path: Path) -> None:
    asks = [{"value": {"question": "late?"}, "id": "q"}]
    writes = [
        ("~__pregel_pull, ask", "__interrupt__", asks),
        ("~__pregel_pull, fail", "__error__", "ValueError('too late')"),
        ("~__pregel_pull, done", "c", "late, but only written"),
    ]
    make(tmp_path / "s.db", [Made({"c": 1}), Made({"c": 2}, writes=writes)])
    assert grep(tmp_path / "s.db", "late") == [
        (0, "questions:question", "late?"),
        (0, "errors:", "ValueError('too late')"),
    ]


def test_secrets_metadata_and_what_is_redacted_are_never_matched(tmp_path: Path) -> None:
    value = {
        "secret": Secret("pydantic", "SecretStr", "arg", "hunter2"),
        "ssn": "hunter2",
        "headers": [["ssn", "hunter2"], {"name": "ssn", "value": "hunter2"}],
        "note": "key sk-hunter2 is good",
        "messages": [said("hunter2", "m1")],
    }
    metadata = {"authorization": "hunter2", "plain": "hunter2"}
    make(tmp_path / "s.db", [Made({"c": value, "hunter": "hunter2"}, metadata=metadata)])
    thread = Thread(open_source(str(tmp_path / "s.db")), "t")

    def found(pattern: str, *keys: str) -> list[str]:
        hits = Grep(Needle(pattern, regex=True), Redactor(keys)).thread(thread)
        return ["/".join(map(str, hit.path)) for hit in hits]

    every = ["c/ssn", "c/headers/0/1", "c/headers/1/value", "c/note", "c/messages/0/content",
             "hunter"]  # fmt: skip
    assert found("hunter2") == every
    assert found("hunter2", "ssn") == every[3:]
    assert found("hunter2", "ssn", "/sk-\\w+/") == every[4:]
    assert found("hunter2", "ssn", "hunter", "messages") == ["c/note"]
    assert found("hunter2", "/hunter./") == []
    assert found("^redact", "c", "hunter") == []
    note = next(Grep(Needle("good"), Redactor(["/sk-\\w+/"])).thread(thread))
    assert note.text == f"key {REDACTED} is good"


@pytest.mark.parametrize("kind", ["msgpack", "json"])
def test_every_form_of_a_checkpoint(tmp_path: Path, kind: str) -> None:
    states = [
        Made({"c": ["a"], "n": 4412, "big": {"k": {"l": 'é "late"'}}}, kind=kind),
        Made({"c": ["a", "late"], "n": 4412, "big": {"k": {"l": 'é "late"'}}}, kind=kind),
        Made({"c": ["a", "late"], "n": 44121, "big": {"k": {"l": 'é "late"'}}}, kind=kind),
    ]
    make(tmp_path / "s.db", states)
    assert grep(tmp_path / "s.db", "late") == [
        (-1, "big/k/l", 'é "late"'),
        (0, "c/1", "late"),
    ]
    assert grep(tmp_path / "s.db", 'é "') == [(-1, "big/k/l", 'é "late"')]
    assert grep(tmp_path / "s.db", "4412") == [(-1, "n", "4412"), (1, "n", "44121")]


def test_encrypted_checkpoints(tmp_path: Path) -> None:
    pytest.importorskip("Crypto")
    states = [Made({"c": text}, kind="msgpack+aes") for text in ("early", "late", "late")]
    serde = Serde(b"0123456789abcdef")
    make(tmp_path / "s.db", states, serde=serde)
    loader = open_source(str(tmp_path / "s.db"))
    locked = Grep(Needle("late"))
    assert list(locked.thread(Thread(loader, "t", Serde()))) == []
    assert (locked.checkpoints, locked.unreadable) == (3, 3)
    opened = Grep(Needle("late"))
    assert [hit.text for hit in opened.thread(Thread(loader, "t", serde))] == ["late"]


def test_a_checkpoint_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    import sqlite3

    states = [Made({"c": text, "d": "late"}) for text in ("late", "early", "late", "late 2")]
    ids = make(tmp_path / "s.db", states)
    with sqlite3.connect(tmp_path / "s.db") as db:
        db.execute("update checkpoints set checkpoint = x'c1c1' where checkpoint_id = ?", [ids[1]])
    db.close()
    assert grep(tmp_path / "s.db", "late") == [
        (-1, "c", "late"),
        (-1, "d", "late"),
        (2, "c", "late 2"),
    ]


def test_a_very_long_text_is_cut_around_its_match(tmp_path: Path) -> None:
    text = "x" * 300_000 + "late" + "y" * 300_000
    make(tmp_path / "s.db", [Made({"c": text}), Made({"c": text, "d": 1})])
    thread = Thread(open_source(str(tmp_path / "s.db")), "t")
    (hit,) = Grep(Needle("late")).thread(thread)
    assert hit.cut
    assert len(hit.text) == 100_000
    assert hit.text[hit.begin : hit.end] == "late"


def test_hits_come_as_they_are_found(tmp_path: Path) -> None:
    make(tmp_path / "s.db", [Made({"c": f"late {n}"}) for n in range(3_000)])
    told: list[tuple[int, int]] = []
    search = Grep(Needle("late"), looked_at=lambda *numbers: told.append(numbers))
    thread = Thread(open_source(str(tmp_path / "s.db")), "t")
    hits = search.thread(thread)
    next(hits)
    assert search.checkpoints < 10
    assert sum(1 for _ in hits) == 2_999
    assert told[-1] == (3_000, 3_000)
