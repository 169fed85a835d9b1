"""What the user wants hidden is hidden in steps, snapshots and changes; that it changed is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from made import Made, make, said
from retrograph.engine.diff.changes import Change, changes_json, diff
from retrograph.engine.diff.rows import diff_rows
from retrograph.engine.thread import Thread
from retrograph.engine.values import MapValue, Obj, SetValue, equal
from retrograph.engine.views.redact import REDACTED, Redactor
from retrograph.engine.views.shown import shown_at, shown_changes, shown_path, shown_snapshot
from retrograph.loaders.registry import open_source

WORDS = ["ssn", "/sk-\\w+/"]
STATE = {
    "customer": Obj("app", "Customer", "kwargs", {"name": "Ada", "ssn": "hunter2"}),
    "headers": [("ssn", "hunter2"), {"name": "ssn", "value": "hunter2"}],
    "notes": ["sk-hunter2 is the key", SetValue(["sk-hunter2"]), MapValue([("ssn", "hunter2")])],
    "deep": {"ssn": {"parts": ["hunter2", "hunter2"]}},
    "messages": [said("it is sk-hunter2", "m1")],
    "plain": "authorization: as stored",
    "password": "kept: only the user's words count in a state",
}


def test_a_snapshot(tmp_path: Path) -> None:
    asks = [{"value": {"ssn": "hunter2", "q": "sk-hunter2?"}, "id": "q"}]
    writes = [
        ("~__pregel_pull, ask", "__interrupt__", asks),
        ("~__pregel_pull, fail", "__error__", "ValueError('sk-hunter2')"),
        ("~__pregel_pull, done", "customer", {"ssn": "hunter2"}),
        ("~__pregel_pull, done", "ssn", "hunter2"),
    ]
    made = Made({**STATE, "ssn": "hunter2"}, writes=writes, metadata={"x": "sk-hunter2"})
    make(tmp_path / "s.db", [made])
    thread = Thread(open_source(str(tmp_path / "s.db")), "t")
    snapshot = thread.snapshot("", thread.history.ids[0])
    shown = shown_snapshot(snapshot, Redactor(WORDS))

    said_of = (shown.values, shown.internal, shown.writes, shown.step, shown.envelope.metadata)
    assert "hunter2" not in repr([plain(part) for part in said_of])
    assert "hunter2" in repr(plain(snapshot.values))
    assert shown.values["ssn"] == REDACTED
    assert shown.values["plain"] == STATE["plain"]
    assert shown.values["password"] == STATE["password"]
    assert shown.values["customer"].type == "app.Customer"
    assert isinstance(shown.values["notes"][1], SetValue)
    assert shown.step.questions[0].value == {"ssn": REDACTED, "q": f"{REDACTED}?"}
    assert shown.step.errors == (("fail", f"ValueError('{REDACTED}')"),)
    off = shown_snapshot(snapshot, Redactor(WORDS, enabled=False))
    assert equal(dict(off.values), dict(snapshot.values))
    assert shown_snapshot(snapshot, Redactor()).values is snapshot.values


def plain(value: Any) -> Any:
    """Everything in it, for `repr`."""
    from retrograph.engine.values import to_json

    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, dict) or value is None or isinstance(value, (str, int, Obj)):
        return (
            to_json(value)
            if not isinstance(value, dict)
            else {k: plain(v) for k, v in value.items()}
        )
    return to_json(dict(value)) if hasattr(value, "items") else to_json(value)


def hidden_diff(old: Any, new: Any, *words: str) -> list[Change]:
    _, _, changes = shown_changes(old, new, diff(old, new), Redactor(words or WORDS))
    return changes


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ({"ssn": "hunter2"}, {"ssn": "hunter3"}, [("replace", "/ssn")]),
        ({"ssn": {"a": [1, 2]}}, {"ssn": {"a": [2, 3, 4]}}, [("replace", "/ssn")]),
        ({"ssn": {"a": 1}}, {"ssn": "hunter2"}, [("replace", "/ssn")]),
        ({}, {"ssn": "hunter2"}, [("add", "/ssn")]),
        ({"ssn": "hunter2"}, {}, [("remove", "/ssn")]),
        ({"k": {"ssn": {}}}, {"k": {"ssn": {"x": "hunter2"}}}, [("replace", "/k/ssn")]),
        ([("ssn", "hunter2")], [("ssn", "hunter3")], [("replace", "/0/1")]),
        (
            [{"name": "ssn", "value": "hunter2"}],
            [{"name": "ssn", "value": "hunter3"}],
            [("replace", "/0/value")],
        ),
        ({"c": "use sk-hunter2"}, {"c": "use sk-hunter3 now"}, [("replace", "/c")]),
        ({"c": "sk-hunter2"}, {"c": "sk-hunter3"}, [("replace", "/c")]),
        (
            [said("sk-hunter2", "a"), said("b", "b")],
            [said("b", "b"), said("sk-hunter2", "a")],
            [("move", "/1")],
        ),
    ],
)
def test_changes(old: Any, new: Any, told: list[tuple[str, str]]) -> None:
    before, after, changes = shown_changes(old, new, diff(old, new), Redactor(WORDS))
    assert [(change.op, change.pointer) for change in changes] == told
    assert "hunter" not in repr(changes_json(changes))
    rows = diff_rows(before, after, changes, 3)
    assert rows
    assert "hunter" not in repr([plain([row.old, row.new]) for row in rows])


def test_word_diffs_are_of_what_is_shown() -> None:
    (change,) = hidden_diff({"c": "use sk-hunter2 today"}, {"c": "use sk-hunter2 tomorrow"})
    assert change.words() == [(" ", f"use {REDACTED} "), ("-", "today"), ("+", "tomorrow")]


def test_keys_that_a_pattern_matches() -> None:
    old, new = {"m": {"a@b.c": 1, "d@e.f": 1}}, {"m": {"a@b.c": 2, "d@e.f": 1, "x": 3}}
    before, _, changes = shown_changes(old, new, diff(old, new), Redactor(["/\\w@\\S+/"]))
    assert list(before["m"]) == [f"{REDACTED} 0", f"{REDACTED} 1"]
    assert "@" not in repr(changes_json(changes))
    assert shown_path(("m", "a@b.c", 1), Redactor(["/\\w@\\S+/"])) == ("m", REDACTED, 1)


def test_without_words_everything_is_as_it_is() -> None:
    old, new = {"ssn": 1}, {"ssn": 2}
    changes = diff(old, new)
    assert shown_changes(old, new, changes, Redactor()) == (old, new, changes)
    assert shown_changes(old, new, changes, Redactor(WORDS, enabled=False))[2] == changes


def test_what_stands_at_a_path() -> None:
    redactor = Redactor(WORDS)
    assert shown_at(STATE, ("customer", "name"), redactor) == "Ada"
    assert shown_at(STATE, ("customer", "ssn"), redactor) == REDACTED
    assert shown_at(STATE, ("deep", "ssn", "parts", 1), redactor) == REDACTED
    assert shown_at(STATE, ("headers", 1, "value"), redactor) == REDACTED
    assert shown_at(STATE, ("messages", 0, "content"), redactor) == f"it is {REDACTED}"
