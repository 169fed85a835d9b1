"""Places inside values, written in two ways."""

from __future__ import annotations

from typing import Any

import pytest

from retrograph.engine.errors import RefError
from retrograph.engine.paths import get, parse, pointer, resolve
from retrograph.engine.values import Delta, MapValue, Obj, SetValue

STATE: dict[Any, Any] = {
    "messages": [
        Obj("langchain_core.messages.ai", "AIMessage", "pydantic", {"content": "hi", "n": [1, 2]}),
        {"content": "ho", "x.y": {"[z]": 5}},
    ],
    "a/b": {"~": "tilde"},
    "": "no name",
    "odd": {7: "int", "7": "text", (1, 2): "pair", None: "none"},
    "tags": SetValue(["x", "y"]),
    "log": Delta([1], ["w"]),
    "map": MapValue([({"k": 1}, "deep")]),
    "path": Obj("langgraph.types", "Send", "args", ["pack", {"n": 1}]),
}


@pytest.mark.parametrize(
    ("path", "value", "printed"),
    [
        ("messages[0].content", "hi", "/messages/0/content"),
        ("messages[-1].content", "ho", "/messages/1/content"),
        ("/messages/0/content", "hi", "/messages/0/content"),
        ("/messages/-1/content", "ho", "/messages/1/content"),
        ("messages.0.content", "hi", "/messages/0/content"),
        ("messages[0].n[1]", 2, "/messages/0/n/1"),
        ('messages[1]["x.y"]["[z]"]', 5, "/messages/1/x.y/[z]"),
        ("messages[1]['x.y']", {"[z]": 5}, "/messages/1/x.y"),
        ("/a~1b/~0", "tilde", "/a~1b/~0"),
        ("a/b.~", "tilde", "/a~1b/~0"),
        ("/", "no name", "/"),
        ("", STATE, ""),
        ("odd[7]", "int", "/odd/7"),
        ("/odd/7", "text", "/odd/7"),
        ('odd["(1, 2)"]', "pair", "/odd/(1, 2)"),
        ("odd.None", "none", "/odd/None"),
        ("tags[1]", "y", "/tags/1"),
        ("tags[-1]", "y", "/tags/1"),
        ("log.writes[0]", "w", "/log/writes/0"),
        ("path.arg.n", 1, "/path/arg/n"),
        ("map[\"{'k': 1}\"]", "deep", "/map/{'k': 1}"),
    ],
)
def test_both_ways(path: str, value: Any, printed: str) -> None:
    keys, found = resolve(STATE, path)
    assert found == value
    assert get(STATE, path) == value
    assert pointer(keys) == printed


def test_parsed() -> None:
    assert parse("messages[-1].content") == ("messages", -1, "content")
    assert parse("/a~1b/0") == ("a/b", "0")
    assert parse("") == ()


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("mesages", "The value has no 'mesages'; did you mean 'messages'?"),
        ("messages[5]", "/messages has no item 5: its items are 0 to 1."),
        ("messages[-3]", "/messages has no item -3: its items are 0 to 1."),
        ("messages.x", "/messages has no item x: its items are 0 to 1."),
        ("/messages/0/contnt", "/messages/0 has no 'contnt'; did you mean 'content'?"),
        ("messages[1].zzz", "/messages/1 has no 'zzz': it has 'content', 'x.y'."),
        (
            "messages[0].content.x",
            "/messages/0/content is a str, which has no parts: there is no 'x'.",
        ),
    ],
)
def test_what_is_not_there_names_the_nearest(path: str, says: str) -> None:
    with pytest.raises(RefError) as caught:
        get(STATE, path)
    assert str(caught.value) == says


@pytest.mark.parametrize("path", [".a", "a..b", "a[", "a[x]", 'a["x', "a]", "a."])
def test_malformed(path: str) -> None:
    with pytest.raises(RefError, match="is no path at"):
        parse(path)


def test_an_empty_container_has_nothing() -> None:
    with pytest.raises(RefError, match="/a is empty: there is no 0"):
        get({"a": []}, "a[0]")
    with pytest.raises(RefError, match="has no"):
        get({"a": [1]}, "a[99999999999999999999]")
