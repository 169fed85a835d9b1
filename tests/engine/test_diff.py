"""Diffs: exact for any two values, and just one change for one edit."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import ormsgpack
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from patching import apply
from retrograph.engine.diff.changes import Change, changes_json, diff
from retrograph.engine.serde.msgpack import unpack
from retrograph.engine.values import (
    ABSENT,
    Delta,
    MapValue,
    Obj,
    Secret,
    SetValue,
    Unreadable,
    Value,
    equal,
    to_json,
)


def told(changes: list[Change]) -> list[tuple[Any, ...]]:
    """(op, path, …) in few words: what was added or removed, the two sides of a replacement,
    where a moved one stood."""
    out: list[tuple[Any, ...]] = []
    for c in changes:
        if c.op == "add":
            out.append(("add", c.pointer, c.new))
        elif c.op == "remove":
            out.append(("remove", c.pointer, c.old))
        elif c.op == "replace":
            out.append(("replace", c.pointer, c.old, c.new))
        else:
            out.append(("move", c.pointer, c.old_path))
    return out


def message(id_: str | None, content: str, **more: Any) -> Obj:
    fields = {"content": content, "type": "ai", "id": id_, **more}
    return Obj("langchain_core.messages.ai", "AIMessage", "pydantic", fields)


def test_maps() -> None:
    old = {"a": 1, "b": {"c": 2, "d": 3}, "gone": None}
    new = {"a": 1, "b": {"c": 5, "d": 3}, "come": None}
    assert told(diff(old, new)) == [
        ("replace", "/b/c", 2, 5),
        ("remove", "/gone", None),
        ("add", "/come", None),
    ]


def test_a_renamed_key_is_two_changes() -> None:
    assert told(diff({"a": 1}, {"b": 1})) == [("remove", "/a", 1), ("add", "/b", 1)]


def test_messages_are_known_by_id() -> None:
    a, b, c = message("1", "hello"), message("2", "there"), message("3", "you")
    edited = message("2", "here")
    changes = diff({"m": [a, b, c]}, {"m": [b, a, c]})
    assert len(changes) == 1
    assert changes[0].op == "move"
    changes = diff({"m": [a, b]}, {"m": [c, a, edited]})
    assert told(changes) == [("add", "/m/0", c), ("replace", "/m/2/content", "there", "here")]
    assert [change.key for change in changes] == ["3", "2"]
    assert changes[1].old_path == ("m", 1, "content")


def test_another_id_at_the_same_place_is_another_message() -> None:
    old, new = message("1", "hello"), message("2", "hello")
    assert told(diff([old], [new])) == [("remove", "/0", old), ("add", "/0", new)]


def test_a_message_that_moved_and_changed() -> None:
    rest = [message(str(k), f"text {k}") for k in range(4)]
    old = [message("x", "before"), *rest]
    changes = diff(old, [*rest, message("x", "after")])
    assert told(changes) == [("move", "/4", (0,)), ("replace", "/4/content", "before", "after")]


def test_items_without_ids_are_known_by_content() -> None:
    one, two, three = {"n": "a", "q": 1}, {"n": "b", "q": 2}, {"n": "c", "q": 3}
    assert told(diff([one, two, three], [three, one, two])) == [("move", "/0", (2,))]
    assert told(diff([one, two], [one, {"n": "b", "q": 9}])) == [("replace", "/1/q", 2, 9)]


def test_what_is_left_over_is_paired_by_likeness() -> None:
    old = [{"name": "ann", "age": 30, "city": "Ulm"}, {"name": "bob", "age": 40, "city": "Bonn"}]
    new = [{"name": "bob", "age": 41, "city": "Bonn"}]
    assert told(diff(old, new)) == [("remove", "/0", old[0]), ("replace", "/0/age", 40, 41)]


def test_types_that_differ() -> None:
    pairs: list[tuple[Value, Value]] = [
        (1, True),
        (1, 1.0),
        (1, "1"),
        ([1], (1,)),
        ({}, []),
        (None, 0),
        (b"x", "x"),
        (SetValue([1]), [1]),
        (Obj("m", "A", "kwargs", {"x": 1}), Obj("m", "B", "kwargs", {"x": 1})),
        (Obj("m", "A", "kwargs", {"x": 1}), {"x": 1}),
    ]
    for old, new in pairs:
        assert told(diff({"k": old}, {"k": new})) == [("replace", "/k", old, new)]


def test_objects_field_by_field() -> None:
    old = Obj("app", "Customer", "pydantic", {"name": "Ann", "tier": "gold"})
    new = Obj("app", "Customer", "kwargs", {"name": "Ann", "tier": "blue"})
    assert told(diff({"c": old}, {"c": new})) == [("replace", "/c/tier", "gold", "blue")]


def test_objects_without_fields() -> None:
    gold, blue = Obj("app", "Tier", "arg", "gold"), Obj("app", "Tier", "arg", "blue")
    assert told(diff([gold, 1], [blue, 1])) == [("replace", "/0", gold, blue)]
    args = Obj("app", "Place", "args", ["node", {"x": 1}])
    other = Obj("app", "Place", "args", ["node", {"x": 2}])
    assert told(diff({"s": args}, {"s": other})) == [("replace", "/s/1/x", 1, 2)]
    longer = Obj("app", "Place", "args", ["node", {"x": 2}, 3])
    assert told(diff(args, longer)) == [("replace", "", args, longer)]
    send = Obj("langgraph.types", "Send", "args", ["node", {"x": 1}])
    other = Obj("langgraph.types", "Send", "args", ["node", {"x": 2}])
    assert told(diff({"s": send}, {"s": other})) == [("replace", "/s/arg/x", 1, 2)]
    wrapped = Obj("a", "Outer", "arg", Obj("a", "In", "kwargs", {"x": 1}))
    again = Obj("a", "Outer", "arg", Obj("a", "In", "kwargs", {"x": 2}))
    assert told(diff(wrapped, again)) == [("replace", "/x", 1, 2)]


def test_forms_of_one_message() -> None:
    stored = Obj("langchain_core.messages.ai", "AIMessage", "lc1", {"content": "hi", "id": "1"})
    assert diff(stored, message("1", "hi")) == []
    assert told(diff(stored, message("1", "ho"))) == [("replace", "/content", "hi", "ho")]


def test_sets() -> None:
    old, new = SetValue([1, 2, [3]]), SetValue([[3], 4, 1])
    assert told(diff({"s": old}, {"s": new})) == [("remove", "/s/1", 2), ("add", "/s/1", 4)]
    assert diff(SetValue([1, [2]]), SetValue([[2], 1])) == []


def test_secrets_are_compared_and_not_shown() -> None:
    old = Secret("pydantic", "SecretStr", "arg", "hunter2")
    new = Secret("pydantic", "SecretStr", "arg", "hunter3")
    shown = changes_json(diff({"k": old}, {"k": new}))
    assert [c["op"] for c in shown] == ["replace"]
    assert "hunter" not in str(shown)
    assert diff(old, Secret("pydantic", "SecretStr", "arg", "hunter2")) == []
    assert len(diff([old, 1], [new, 1])) == 1


def test_delta_channels_by_their_writes() -> None:
    old, new = Delta([1], [[2]]), Delta([1], [[2], [3]])
    assert told(diff({"d": old}, {"d": new})) == [("add", "/d/writes/1", [3])]
    assert told(diff(Delta(), Delta([1]))) == [("add", "/snapshot", [1])]
    assert told(diff(Delta([1]), Delta())) == [("remove", "/snapshot", [1])]


def test_keys_that_python_takes_for_one() -> None:
    assert told(diff({1: "a"}, {True: "a"})) == [("remove", "/1", "a"), ("add", "/True", "a")]
    assert diff({math.nan: 1}, {float("nan"): 1}) == []


def test_bytes_dates_and_what_cannot_be_read() -> None:
    now, later = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    broken = Unreadable("cut", 3)
    old = {"b": b"1", "t": now, "u": broken, "n": math.nan}
    new = {"b": b"2", "t": later, "u": 1, "n": math.nan}
    assert [c.pointer for c in diff(old, new)] == ["/b", "/t", "/u"]


def test_json() -> None:
    late = " yesterday."
    text = "The order was shipped" + late
    old = {"m": [message("1", text), {"id": 2}, 5, 6]}
    new = {"m": [{"id": 2}, message("1", text.replace("shipped", "lost")), 5, None]}
    assert changes_json(diff(old, new)) == [
        {"op": "move", "path": "/m/0", "from": "/m/1", "key": 2, "old": None, "new": None}
        | {"text": None},
        {"op": "replace", "path": "/m/1/content", "key": "1", "old": text}
        | {"new": text.replace("shipped", "lost")}
        | {
            "text": [[" ", "The order was "], ["-", "shipped"], ["+", "lost"], [" ", " yesterday."]]
        },
        {"op": "replace", "path": "/m/3", "key": None, "old": 6, "new": None, "text": None},
    ]
    assert changes_json(diff({}, {"a": SetValue([1])}))[0]["new"] == {"$set": [1]}


def packed(fields: dict[str, Any]) -> ormsgpack.Ext:
    name = ["langchain_core.messages.ai", "AIMessage", fields, "model_validate_json"]
    return ormsgpack.Ext(5, ormsgpack.packb(name))


def state(*contents: str) -> Value:
    messages = [packed({"content": c, "id": f"id-{c[:1]}", "type": "ai"}) for c in contents]
    return unpack(ormsgpack.packb({"messages": messages}))


def test_what_is_equal_is_not_unpacked() -> None:
    old, new = state(*"abcdefg"), state("a", "b2", "c", "x", "d", "e", "f2", "g")
    assert [(c.op, c.pointer) for c in diff(old, new)] == [
        ("replace", "/messages/1/content"),
        ("add", "/messages/3"),
        ("replace", "/messages/6/content"),
    ]
    assert looked_at(new) == [False, True, False, True, False, False, True, False]
    assert looked_at(old) == [False, True, False, False, False, True, False]


def looked_at(values: Value) -> list[bool]:
    return [item.sealed is None for item in values["messages"]]


def test_packed_and_looked_at_are_the_same() -> None:
    old, new = state("a", "b", "c"), state("c", "b", "a")
    for item in old["messages"]:
        assert item.fields
    assert {c.op for c in diff(old, new)} == {"move"}
    assert diff(old, state("a", "b", "c")) == []


@pytest.mark.parametrize("count", [3_000])
def test_large_and_different_lists(count: int) -> None:
    """Nothing here is quadratic: 100,000 items take the same time each."""
    a = [{"n": k, "x": "a"} for k in range(count)]
    b = [{"n": -k, "x": "b"} for k in range(1, count)]
    assert equal(apply(a, diff(a, b)), b)
    bits = [k % 2 for k in range(count)], [(k * k // 7) % 2 for k in range(count)]
    assert apply(bits[0], diff(*bits)) == bits[1]


def test_deep_values() -> None:
    old: Value = 1
    new: Value = 2
    for _ in range(5_000):
        old, new = [old], [new]
    changes = diff(old, new)
    assert len(changes) == 1
    assert len(changes[0].path) == 200


keys = st.text("abcx", min_size=1, max_size=2)
ids = st.sampled_from(["1", "2", "3", 4, "", None, True])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.floats(allow_nan=True, width=16).map(lambda number: number + 0.0),
    st.text("ab ", max_size=3),
    st.binary(max_size=2),
    st.datetimes(),
    st.builds(Secret, st.just("pydantic"), st.just("SecretStr"), st.just("arg"), keys),
    st.builds(Unreadable, keys, st.integers(0, 1)),
    st.builds(lambda k, v: MapValue([([k], v)]), keys, st.integers(0, 1)),
)
classes = st.sampled_from(["A", "B"])


def grown(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    fields = st.dictionaries(keys, inner, max_size=3)
    with_id = st.builds(lambda f, i: {**f, "id": i}, fields, ids)
    return st.one_of(
        st.lists(inner, max_size=6),
        st.lists(st.integers(0, 2), max_size=8),
        st.lists(with_id, max_size=5),
        st.lists(st.builds(Obj, st.just("m"), classes, st.just("kwargs"), with_id), max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        fields,
        with_id,
        st.dictionaries(st.one_of(st.integers(0, 2), st.booleans(), keys), inner, max_size=3),
        st.lists(inner, max_size=3).map(SetValue),
        st.builds(Obj, st.just("m"), classes, st.sampled_from(["kwargs", "pydantic"]), fields),
        st.builds(Obj, st.just("m"), classes, st.just("arg"), inner),
        st.builds(Obj, st.just("m"), classes, st.just("args"), st.lists(inner, max_size=2)),
        st.builds(Delta, st.one_of(st.just(ABSENT), inner), st.lists(inner, max_size=3)),
    )


values = st.recursive(scalars, grown, max_leaves=12)


@st.composite
def edited(draw: st.DrawFn, value: Value) -> Value:
    """The value with something else somewhere in it."""
    if draw(st.integers(0, 3)) == 0:
        return draw(values)
    if isinstance(value, list):
        items = list(value)
        for _ in range(draw(st.integers(1, 2))):
            at = draw(st.integers(0, len(items)))
            what = draw(st.integers(0, 3))
            if what == 0 or not items:
                items.insert(at, draw(values))
            elif what == 1:
                del items[at - 1]
            elif what == 2:
                items.insert(draw(st.integers(0, len(items) - 1)), items.pop(at - 1))
            else:
                items[at - 1] = draw(edited(items[at - 1]))
        return items
    if type(value) is dict and value:
        key = draw(st.sampled_from(list(value)))
        return {**value, key: draw(edited(value[key]))}
    if type(value) is Obj:
        return Obj(value.module, value.name, value.how, draw(edited(value.data)), value.extra)
    return draw(values)


@given(values, st.data())
def test_the_changes_lead_from_one_to_the_other(old: Value, data: st.DataObject) -> None:
    new = data.draw(st.one_of(values, edited(old)))
    changes = diff(old, new)
    assert equal(apply(old, changes), new)
    assert (changes == []) == equal(old, new)
    for change in changes_json(changes):
        assert change["op"] in ("add", "remove", "replace", "move")


@given(values)
def test_nothing_changed(value: Value) -> None:
    assert diff(value, value) == []
    assert diff({"a": [value, 1]}, {"a": [value, 1]}) == []


items = st.one_of(
    st.lists(st.integers(0, 3), max_size=9),
    st.lists(st.builds(lambda n: {"id": n, "v": [n]}, st.integers(0, 50)), max_size=9),
    st.lists(st.builds(lambda n: message(f"{n}", "x"), st.integers(0, 50)), max_size=9),
    st.lists(values, max_size=6),
)


@given(items, st.data())
@example([0, 1, 0], None)
def test_one_edit_is_one_change(old: list[Value], data: st.DataObject | None) -> None:
    if data is None:
        edits: list[tuple[int, Value, int]] = [(0, 1, 0), (1, None, 0), (2, None, 2)]
    else:
        at = data.draw(st.integers(0, max(len(old) - 1, 0)))
        to = data.draw(st.integers(0, max(len(old) - 1, 0)))
        edits = (
            [(data.draw(st.integers(0, 2)), data.draw(values), at)]
            if not old
            else [
                (0, data.draw(values), at),
                (1, None, at),
                (2, to, at),
            ]
        )
    for kind, value, at in edits:
        new = list(old)
        if kind == 0 or not old:
            new.insert(at, value)
        elif kind == 1:
            del new[at]
        else:
            new.insert(value or 0, new.pop(at))
        changes = diff({"k": old}, {"k": new})
        assert len(changes) == (0 if equal(old, new) else 1), changes


@given(st.dictionaries(keys, values, min_size=1, max_size=4), st.data())
def test_one_key_is_one_change(old: dict[str, Value], data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(old)))
    less = {k: v for k, v in old.items() if k != key}
    assert told(diff(less, old))[0][:2] == ("add", f"/{key}")
    assert len(diff(less, old)) == len(diff(old, less)) == 1
    leaf = {**old, key: "fresh text"}
    assert len(diff(old, leaf)) == (0 if old[key] == "fresh text" else 1)


def test_to_json_takes_every_change() -> None:
    for change in diff({"a": Delta([1])}, {"a": Obj("m", "A", "arg", [1])}):
        assert to_json(change.new)["$type"] == "m.A"


def test_a_class_of_a_program_that_is_also_imported_is_one() -> None:
    main = Obj("__main__", "Ticket", "kwargs", {"urgency": 2, "of": "ann"})
    imported = Obj("agent", "Ticket", "pydantic", {"urgency": 8, "of": "ann"})
    assert [(c.pointer, c.old, c.new) for c in diff({"t": main}, {"t": imported})] == [
        ("/t/urgency", 2, 8)
    ]
    again = Obj("agent", "Ticket", "kwargs", {"urgency": 2, "of": "ann"})
    assert diff([main, 1], [again, 1]) == []
    assert diff([again, 1], [main, 1]) == []
    inner = Obj("__main__", "Desk.Ticket", "kwargs", {"urgency": 2})
    assert diff(inner, Obj("app.desk", "Desk.Ticket", "kwargs", {"urgency": 2})) == []
    for other in ("other.Ticket", "agent.BigTicket", "__main__.BigTicket"):
        module, _, name = other.rpartition(".")
        first = Obj("__main__", "Desk.Ticket", "kwargs", {}) if name == "Ticket" else main
        assert [c.op for c in diff(first, Obj(module, name, "kwargs", {}))] == ["replace"]
