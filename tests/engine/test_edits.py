"""Edits worked out on inert values: paths, forms, what they may break."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from retrograph.engine.edits.change import put, remove
from retrograph.engine.edits.plan import Asked, json_or_word, plan_edits
from retrograph.engine.edits.toolcalls import broken_calls
from retrograph.engine.edits.yamlform import from_yaml, to_yaml
from retrograph.engine.errors import RefError, UsageError
from retrograph.engine.model import CheckpointKey, Envelope, RawCheckpoint, Typed
from retrograph.engine.paths import parse
from retrograph.engine.serde import Serde
from retrograph.engine.steps.step import Step
from retrograph.engine.thread import Snapshot
from retrograph.engine.values import (
    ABSENT,
    Delta,
    MapValue,
    Obj,
    Secret,
    SetValue,
    equal,
    from_json,
    to_json,
)

SERDE = Serde()
CUSTOMER = Obj("app", "Customer", "kwargs", {"name": "Ada", "tags": SetValue(["vip"])})


def message(kind: str, content: str, **fields: Any) -> Obj:
    names = {"ai": "AIMessage", "human": "HumanMessage", "tool": "ToolMessage"}
    module = f"langchain_core.messages.{kind}"
    data = {"content": content, "type": kind, "id": f"m-{content}", **fields}
    return Obj(module, names[kind], "pydantic", data, ("model_validate_json",))


STATE = {
    "n": 1,
    "text": "hello",
    "list": [1, 2, {"a": [3]}],
    "tuple": (1, 2),
    "set": SetValue([1, 2]),
    "map": {"x=y": 1, "k.e.y": {"z": None}},
    "odd": MapValue([([1], "list key"), ("s", 2)]),
    "customer": CUSTOMER,
    "messages": [message("human", "hi"), message("ai", "yes")],
}


@pytest.mark.parametrize(
    ("path", "new", "shown"),
    [
        ("n", 2, 2),
        ("list[0]", 9, [9, 2, {"a": [3]}]),
        ("list[-1].a[0]", 4, [1, 2, {"a": [4]}]),
        ("list[3]", "new", [1, 2, {"a": [3]}, "new"]),
        ("/list/-", "new", [1, 2, {"a": [3]}, "new"]),
        ("/list/2/a/-", 5, [1, 2, {"a": [3, 5]}]),
        ("tuple[1]", 3, {"$tuple": [1, 3]}),
        ("set[0]", 5, {"$set": [5, 2]}),
        ("/set/-", 5, {"$set": [1, 2, 5]}),
        ('map["k.e.y"].z', 1, {"x=y": 1, "k.e.y": {"z": 1}}),
        ("map.new", [1], {"x=y": 1, "k.e.y": {"z": None}, "new": [1]}),
        ("odd.s", 3, {"$map": [[[1], "list key"], ["s", 3]]}),
        (
            "customer.name",
            "Bo",
            {"name": "Bo", "tags": {"$set": ["vip"]}, "$type": "app.Customer"},
        ),
    ],
)
def test_put(path: str, new: Any, shown: Any) -> None:
    before = to_json(STATE)
    made = put(STATE, parse(path), new)
    name = next(iter(parse(path)))
    assert to_json(made[name]) == shown
    assert to_json(STATE) == before, "it was changed in place"
    assert {k: to_json(v) for k, v in made.items() if k != name} == {
        k: v for k, v in before.items() if k != name
    }


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("list[0]", [2, {"a": [3]}]),
        ("list[-1].a", [1, 2, {}]),
        ("tuple[0]", {"$tuple": [2]}),
        ("set[1]", {"$set": [1]}),
        ("customer.tags", {"name": "Ada", "$type": "app.Customer"}),
        ("odd.s", {"$map": [[[1], "list key"]]}),
    ],
)
def test_remove(path: str, shown: Any) -> None:
    made = remove(STATE, parse(path))
    assert to_json(made[next(iter(parse(path)))]) == shown


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("list[7]", "items are 0 to 2"),
        ("list.x", "/list"),
        ("customer.nam.x", "did you mean 'name'"),
        ("n.x", "has no parts"),
        ("nothing.x", "nothing"),
    ],
)
def test_paths_that_lead_nowhere(path: str, said: str) -> None:
    with pytest.raises(RefError, match=said.replace("[", r"\[")):
        put(STATE, parse(path), 1)


def test_a_message_keeps_its_class() -> None:
    made = put(STATE, parse("messages[-1].content"), "no")
    changed = made["messages"][-1]
    assert isinstance(changed, Obj)
    assert changed.type == "langchain_core.messages.ai.AIMessage"
    assert changed.fields == {"content": "no", "type": "ai", "id": "m-yes"}


def test_a_secret_of_stars_stays() -> None:
    secret = Secret("pydantic", "SecretStr", "arg", "hunter2")
    made = put({"k": secret}, ("k",), to_json(secret))
    assert made["k"].reveal() == "hunter2"


# Plans.


def snapshot(values: dict[str, Any], internal: dict[str, Any] | None = None) -> Snapshot:
    key = CheckpointKey("t", "", "1")
    empty = Typed("msgpack", b"\x80")
    return Snapshot(
        key=key,
        parent_id=None,
        envelope=Envelope("", "1", None, 4, {}, {}, None, frozenset(values), {}, (), {}),
        step=Step((), True, None, (), (), {}, {}, ()),
        values=values,
        internal=internal or {},
        writes=(),
        raw=RawCheckpoint(key, None, empty, empty),
    )


Planned = Callable[..., dict[str, tuple[str, Any]]]


@pytest.fixture
def planned() -> Planned:
    def plan(values: Any, internal: Any = None, **asked: Any) -> dict[str, tuple[str, Any]]:
        made = plan_edits(
            snapshot(values, internal), Asked(**asked), SERDE, lambda name: ["folded"]
        )
        return {
            edit.channel: (
                edit.how,
                None if edit.value is None else to_json(SERDE.decode(edit.value)),
            )
            for edit in made.edits
        }

    return plan


def test_several_at_once(planned: Planned) -> None:
    found = planned(STATE, sets=["n=2", "list[0]=7", "list[1]=8", "path=alt"], deletes=["text"])
    assert found == {
        "n": ("set", 2),
        "list": ("set", [7, 8, {"a": [3]}]),
        "path": ("set", "alt"),
        "text": ("set", None),
    }


def test_an_equals_sign_in_a_key(planned: Planned) -> None:
    assert planned(STATE, sets=['map["x=y"]=2'])["map"] == (
        "set",
        {"x=y": 2, "k.e.y": {"z": None}},
    )


def test_reduced(planned: Planned) -> None:
    assert planned(STATE, sets=["list=[9]"], reduce=["list"]) == {"list": ("reduce", [9])}
    with pytest.raises(UsageError, match="whole update"):
        planned(STATE, sets=["list[0]=9"], reduce=["list"])
    with pytest.raises(UsageError, match="no --set"):
        planned(STATE, sets=["n=9"], reduce=["list"])


def test_a_pending_input(planned: Planned) -> None:
    inside = {"__start__": {"path": "main", "n": 1}}
    assert planned({"n": 0}, inside, sets=["path=alt"]) == {
        "__start__": ("set", {"path": "alt", "n": 1})
    }
    assert planned({}, inside, deletes=["n"]) == {"__start__": ("set", {"path": "main"})}
    assert planned({}, inside, input={"q": 1}) == {"__start__": ("set", {"q": 1})}
    assert planned({}, {"__start__": 5}, input=6) == {"__start__": ("set", 6)}
    with pytest.raises(UsageError, match="no pending input"):
        planned({"n": 0}, input={"q": 1})


def test_a_delta_is_folded_first(planned: Planned) -> None:
    delta = {"log": Delta(ABSENT, [["a"]])}
    assert planned(delta, sets=["log[0]=x"]) == {"log": ("set", ["x"])}


@pytest.mark.parametrize("words", ["n", "=1", 'n={"a":', "n=[1", 'n="x', "n="])
def test_malformed(planned: Planned, words: str) -> None:
    with pytest.raises(UsageError):
        planned(STATE, sets=[words])


def test_unknown_channels_below(planned: Planned) -> None:
    with pytest.raises(RefError, match="did you mean 'customer'"):
        planned(STATE, sets=["custmer.name=x"])
    with pytest.raises(RefError, match="did you mean 'text'"):
        planned(STATE, deletes=["txt"])


def test_words_and_json() -> None:
    found = [json_or_word(t, "x") for t in ("alt", "1", "true", "null", '"1"', "12 main st", "-1")]
    assert found == ["alt", 1, True, None, "1", "12 main st", -1]


# What an edit may break.


def call(id_: str) -> dict[str, Any]:
    return {"name": "lookup", "args": {}, "id": id_}


def test_tool_calls() -> None:
    ai = message("ai", "let me see", tool_calls=[call("c1")])
    result = message("tool", "found", tool_call_id="c1")
    whole = {"messages": [ai, result]}
    assert not list(broken_calls(whole, whole))
    assert ["has no result" in s for s in broken_calls(whole, {"messages": [ai]})] == [True]
    assert ["has no call" in s for s in broken_calls(whole, {"messages": [result]})] == [True]
    # It was so before: a call whose tool is due.
    more = {"messages": [message("human", "hi"), ai]}
    assert not list(broken_calls({"messages": [ai]}, more))
    assert not list(broken_calls(whole, {"messages": "no list"}))


# The text for an editor.


def test_yaml_there_and_back() -> None:
    values = {
        **STATE,
        "block": "one\ntwo\n",
        "blanks": "one \ntwo",
        "date": "2024-01-01",
        "yes": "yes",
        "number": "12",
        "nan": float("nan"),
        "control": "a\x00\x1b\u202e",
        "words": "naïve ☕ שלום",
        "big": 2**63,
        "long": "word " * 200,
        "nothing": None,
    }
    for some in (values, {**values, "surrogate": "\ud800"}):
        text = to_yaml(some)
        back = from_yaml(text)
        assert list(back) == list(some)
        for channel, value in some.items():
            assert equal(from_json(back[channel], like=value), value), channel


def test_yaml_shows_lines_as_lines() -> None:
    assert to_yaml({"text": "one\ntwo\n"}) == "text: |\n  one\n  two\n"


def test_json_is_yaml() -> None:
    plain = {"a": [1, "x", None, True, {"b": 1.5}], "c": "2024-01-01"}
    assert from_yaml(json.dumps(plain)) == plain


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1", "line 1"),
        ("a: 1\nb: x: y", "line 2"),
        ("- 1", "a map"),
        ("1: a", "a map"),
        ("a: !!python/object/apply:os.system [x]", "line 1"),
    ],
)
def test_no_yaml(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        from_yaml(text)


def test_an_empty_text() -> None:
    assert from_yaml("# nothing\n") == {}
