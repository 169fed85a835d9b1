"""Due nodes and task ids from names and versions alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from retrograph.engine.model import Envelope, Version
from retrograph.engine.steps.due import (
    Barrier,
    Learned,
    barrier,
    due_tasks,
    is_full,
    named_destination,
    names_in,
)
from retrograph.engine.steps.taskids import Call, TaskPath, match_ids, parse_path, task_id
from retrograph.engine.values import SetValue


def envelope(
    present: Mapping[str, Any],
    versions: Mapping[str, Version],
    seen: Mapping[str, Mapping[str, Version]],
    v: int = 4,
    sends: tuple[str, ...] = (),
) -> Envelope:
    control = {k: x for k, x in present.items() if k.startswith(("branch:", "join:", "start:"))}
    return Envelope("", "id", None, v, versions, seen, None, frozenset(present), control, sends, {})


def due(given: Envelope, *others: Envelope) -> list[tuple[str, int | None]]:
    return [(d.node, d.send) for d in due_tasks(given, Learned.of([given, *others]))]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("~__pregel_pull, price", TaskPath("pull", "price")),
        ("~__pregel_pull, a, b", TaskPath("pull", "a, b")),
        ("~__pregel_push, 0000000012, False", TaskPath("send", None, 12)),
        (
            "~__pregel_push, ~__pregel_pull, wf, 0000000000, 0000000001",
            TaskPath("call", "wf"),
        ),
        (
            "~__pregel_push, ~__pregel_pull, wf, 0000000003, True",
            TaskPath("call", "wf"),
        ),
        ("~__pregel_pull, pay, node_error_handler, False", TaskPath("handler", "pay")),
        (
            "~__pregel_push, 0000000001, False, node_error_handler, False",
            TaskPath("handler", None, 1),
        ),
        ("~__interrupt__, 0000000000", TaskPath("update", None)),
        ("", TaskPath("unknown", None)),
        ("~something else", TaskPath("unknown", None)),
    ],
)
def test_paths(path: str, told: TaskPath) -> None:
    assert parse_path(path) == told


def test_paths_of_any_length() -> None:
    """The work grows with the path, not with its square; no number is too long to be passed by."""
    numbers = ", 0000000000" * 50_000
    call = "~__pregel_push, ~__pregel_pull, wf"
    assert parse_path(call + numbers) == TaskPath("call", "wf")
    assert parse_path(f"{call}{numbers}x") == TaskPath("call", f"wf{numbers}x")
    assert parse_path(f"~__pregel_push, {'9' * 5000}, False") == TaskPath("call", None)


@pytest.mark.parametrize(
    ("channel", "v", "node"),
    [
        ("branch:to:ship", 4, "ship"),
        ("branch:price:route:ship", 2, "ship"),
        ("branch:to:route:ship", 2, "ship"),
        ("branch:price:<lambda>:__end__", 2, "__end__"),
        ("join:a+b:ship", 4, "ship"),
        ("start:ship", 2, "ship"),
        ("start:ship", 4, None),
        ("total", 4, None),
        ("branch:odd", 4, None),
    ],
)
def test_destinations_by_name(channel: str, v: int, node: str | None) -> None:
    assert named_destination(channel, v) == node


def test_barriers() -> None:
    assert barrier("join:a+b:X") == Barrier("join:a+b:X", "a+b", "X")
    assert is_full("a+b", {"a", "b"})
    assert not is_full("a+b", {"a"})
    assert not is_full("a+b", set())
    assert is_full("a+b+c", {"a+b", "c"})
    assert names_in(SetValue(["a", "b"])) == ({"a", "b"}, True)
    assert names_in([SetValue(["a"]), False]) == ({"a"}, False)
    assert names_in([["a"], True]) == ({"a"}, True)
    assert names_in(None) == (set(), True)


def test_a_newer_trigger_makes_a_node_due() -> None:
    given = envelope(
        {"branch:to:a": None, "branch:to:b": None, "branch:to:c": None},
        {"branch:to:a": 3, "branch:to:b": 2, "branch:to:c": 3},
        {"a": {"branch:to:a": 2}, "b": {"branch:to:b": 2}},
    )
    assert due(given) == [("a", None), ("c", None)]


def test_a_join_waits_for_all() -> None:
    versions: dict[str, Version] = {"join:a+b:x": 2}
    assert due(envelope({"join:a+b:x": SetValue(["a"])}, versions, {})) == []
    assert due(envelope({"join:a+b:x": SetValue(["b", "a"])}, versions, {})) == [("x", None)]


def test_deferred_nodes_wait_for_the_end() -> None:
    versions: dict[str, Version] = {"branch:to:z": 2, "join:a+b:y": 2}
    both = SetValue(["a", "b"])
    waiting = {"branch:to:z": [None, False], "join:a+b:y": [both, False]}
    at_the_end = {"branch:to:z": [None, True], "join:a+b:y": [both, True]}
    assert due(envelope(waiting, versions, {})) == []
    assert due(envelope(at_the_end, versions, {})) == [("y", None), ("z", None)]


def test_sends_come_first_one_task_each() -> None:
    given = envelope({"branch:to:a": None}, {"branch:to:a": 1}, {}, sends=("w", "w"))
    assert due(given) == [("w", 0), ("w", 1), ("a", None)]


def test_the_input_is_for_start_or_for_the_entrypoint() -> None:
    at_input = envelope({"__start__": {}}, {"__start__": 1}, {"__input__": {}})
    after = envelope({}, {"__start__": 2}, {"flow": {"__start__": 1}})
    assert due(at_input) == [("__start__", None)]
    assert due(at_input, after) == [("flow", None)]


def test_static_edges_of_old_formats_are_learned_from_what_ran() -> None:
    given = envelope({"a": "a"}, {"a": 2}, {"a": {"start:a": 1}}, v=2)
    after = envelope({}, {"a": 2}, {"a": {"start:a": 1}, "b": {"a": 2}}, v=2)
    assert due(given) == []
    assert due(given, after) == [("b", None)]


def test_versions_of_two_kinds_do_not_stop_it() -> None:
    given = envelope({"branch:to:a": None}, {"branch:to:a": "3"}, {"a": {"branch:to:a": 2}})
    assert due(given) == [("a", None)]


def test_ids_lead_back_to_nodes() -> None:
    checkpoint = "1f1ebf22-6534-6eef-8001-b122ae240704"
    learned = Learned({"x": {"branch:to:x", "join:a+b:x"}, "y": {"branch:to:y"}})
    calls = [
        Call("x", learned.trigger_sets("x", ["join:a+b:x"])),
        Call("y", learned.trigger_sets("y", [])),
        Call("w", (), 3),
    ]
    ids = [task_id(checkpoint, "", 2, 4, call) for call in calls]
    found = match_ids([i for i in ids if i], calls, checkpoint_id=checkpoint, ns="", step=2)
    assert [found[i] for i in ids if i] == calls
    assert task_id("not-a-uuid", "", 2, 4, calls[0]) is None
    assert match_ids(["x"], calls, checkpoint_id="not-a-uuid", ns="", step=2) == {}
