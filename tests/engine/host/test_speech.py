"""What models say while a graph runs, in every LangGraph: as it comes, each text once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hosting import VERSIONS, plan_of, python_of, typed
from hosting.speaking import GRAPHS
from retrograph.engine.host.client import Event, Host
from retrograph.engine.host.requests import Begin, launch, load, run


@pytest.fixture(scope="module", params=VERSIONS)
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Host]:
    """A host for all tests of one LangGraph: each loads its graph."""
    folder = tmp_path_factory.mktemp("speaking")
    (folder / "graphs.py").write_text(GRAPHS)
    with launch(plan_of(folder, "graphs.py:draft", python_of(request.param))) as host:
        yield host


@pytest.fixture
def host(shared: Host) -> Host:
    for left in shared.project.glob("run.db*"):
        left.unlink()
    return shared


def go(host: Host, graph: str, messages: bool = True, **options: Any) -> list[Event]:
    load(host, plan_of(host.project, f"graphs.py:{graph}"))
    begin = Begin("input", typed({"topic": "t"}))
    with run(host, Path(host.project, "run.db"), "t", begin, messages=messages, **options) as job:
        return list(job)


def messages(told: list[Event]) -> list[Event]:
    return [event for event in told if event.name == "message"]


def texts(told: list[Event]) -> dict[tuple[str, str], list[str]]:
    """By (node, namespace without ids): the messages."""
    found: dict[tuple[str, str, str], str] = {}
    for event in messages(told):
        ns = "|".join(part.split(":")[0] for part in event["ns"].split("|"))
        key = (event["node"], ns, event["id"])
        found[key] = found.get(key, "") + event["text"]
    by_node: dict[tuple[str, str], list[str]] = {}
    for (node, ns, _), text in found.items():
        by_node.setdefault((node, ns), []).append(text.strip())
    return by_node


def tokens(told: list[Event]) -> dict[str, list[int | None]]:
    found: dict[str, list[int | None]] = {}
    for event in told:
        if event.name == "task_end":
            found.setdefault(event["node"], []).append(event["tokens"])
    return found


def test_as_it_comes(host: Host) -> None:
    told = go(host, "draft")
    said = messages(told)
    assert [event["text"] for event in said] == ["dear ", "customer "]
    assert len({event["id"] for event in said}) == 1
    (began,) = [e for e in told if e.name == "task_start" and e["node"] == "draft"]
    for event in said:
        assert [event[n] for n in ("task", "ns", "node", "step")] == [
            began[n] for n in ("id", "ns", "node", "step")
        ]
    order = [event.name for event in told if event.name in ("message", "task_end")]
    assert order == ["message", "message", "task_end", "task_end"]
    assert tokens(told) == {"draft": [9], "quiet": [None]}


def test_nothing_unasked(host: Host) -> None:
    told = go(host, "draft", messages=False)
    assert messages(told) == []
    assert tokens(told) == {"draft": [9], "quiet": [None]}


def test_under_asyncio(host: Host) -> None:
    told = go(host, "waits")
    assert texts(told) == {("draft", ""): ["dear customer"], ("write", "sub"): ["below"]}
    assert len(messages(told)) == 3
    assert tokens(told) == {"draft": [9], "write": [8], "sub": [None]}


def test_sync_nodes_under_asyncio(host: Host) -> None:
    told = go(host, "nested", asynchronous=True)
    assert texts(told) == {("write", "sub"): ["from below"], ("write", "calls"): ["from inside"]}


@pytest.mark.parametrize(
    ("graph", "node", "said"),
    [
        ("whole", "whole", ["all at once"]),
        ("blocks", "blocks", ["told in blocks"]),
        ("copy", "copies", ["the same"]),
        ("several", "twice", ["first", "second", "second"]),
        ("failing", "fails", ["half of"]),
    ],
)
def test_each_text_once(host: Host, graph: str, node: str, said: list[str]) -> None:
    assert texts(go(host, graph)) == {(node, ""): said}


def test_messages_of_nodes_themselves(host: Host) -> None:
    """Of no people and tools; and none that was there before."""
    assert texts(go(host, "made")) == {
        ("makes", ""): ["made by hand"],
        ("commands", ""): ["commanded"],
    }
    host.project.joinpath("run.db").unlink()
    assert texts(go(host, "listed")) == {("lists", ""): ["no id"], ("again", ""): ["one more"]}


def test_what_is_tagged_as_silent(host: Host) -> None:
    told = go(host, "hidden")
    assert messages(told) == []
    assert tokens(told) == {"hides": [10]}


def test_sub_graphs(host: Host) -> None:
    """Added as a node, and called by one, which gives on what was said in it."""
    told = go(host, "nested")
    assert texts(told) == {("write", "sub"): ["from below"], ("write", "calls"): ["from inside"]}
    assert tokens(told) == {"write": [9, 9], "quiet": [None], "sub": [None], "calls": [None]}


def test_side_by_side(host: Host) -> None:
    told = go(host, "beside")
    assert texts(told) == {
        ("a", ""): ["alpha beta gamma delta"],
        ("b", ""): ["one two three four"],
    }
    assert tokens(told) == {"a": [11], "b": [11]}
    order = [event["node"] for event in messages(told)]
    assert sum(one != other for one, other in pairwise(order)) > 1, "they come as they are said"


def test_sends_of_one_node(host: Host) -> None:
    told = go(host, "packs")
    assert sorted(texts(told)["works", ""]) == ["about x", "about y", "about z"]
    by_task = {(event["task"], event["id"]) for event in messages(told)}
    assert len(by_task) == len({task for task, _ in by_task}) == 3


def test_tokens_of_candidates_and_of_models_that_do_not_count(host: Host) -> None:
    assert tokens(go(host, "whole")) == {"whole": [10]}
    host.project.joinpath("run.db").unlink()
    assert tokens(go(host, "uncounted")) == {"uncounted": [None]}
