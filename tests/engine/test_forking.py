"""Forks worked out by a host: values, what is due, and every reason for holding."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import stories
from hosting import OWN, plan_of
from retrograph.engine.edits.plan import Asked
from retrograph.engine.errors import RetrographError
from retrograph.engine.host.client import Host
from retrograph.engine.host.requests import launch, load
from retrograph.engine.replay.forking import Fork, make_fork, preview_fork
from retrograph.engine.thread import Snapshot, Thread
from retrograph.engine.threads.lookup import LoaderIndex
from retrograph.engine.threads.refs import locate
from retrograph.engine.values import to_json
from retrograph.loaders.registry import open_source


class Place:
    """The project, a host in it, and forks of its threads."""

    def __init__(self, folder: Path, host: Host) -> None:
        self.folder = folder
        self.host = host
        self.loader = open_source(str(folder / "store.db"))
        self._index = LoaderIndex(self.loader)
        self._graph = ""

    def fork(
        self, ref: str, *sets: str, graph: str = "", as_node: str | None = None,
        config: Any = None, **asked: Any,
    ) -> Fork:  # fmt: skip
        key = locate(ref, self._index)
        self.load(graph or key.thread_id)
        thread = self._index.thread(key.thread_id)
        return preview_fork(
            self.host, thread, key, Asked(sets, **asked), as_node=as_node, config=config
        )

    def load(self, graph: str) -> None:
        if graph != self._graph:
            load(self.host, plan_of(self.folder, f"agent.py:{graph}"))
            self._graph = graph

    def made(self, fork: Fork, **options: Any) -> tuple[Thread, Snapshot]:
        """The fork in a sandbox, and its snapshot there."""
        thread = self._index.thread(fork.key.thread_id)
        sandbox = make_fork(
            thread, fork, self.loader.location, folder=self.folder / "sandboxes", **options
        )
        loader = open_source(str(sandbox.path))
        there = Thread(loader, fork.key.thread_id)
        try:
            return there, there.snapshot(fork.key.ns, fork.preview.row.id)
        finally:
            loader.close()


@pytest.fixture(scope="module")
def place(project_made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("forking") / "story"
    shutil.copytree(project_made, folder)
    with launch(plan_of(folder, "agent.py:travel", OWN)) as host:
        made = Place(folder, host)
        yield made
        made.loader.close()
    assert stories.effects(folder) == [], "a node ran"


def changed(fork: Fork) -> list[tuple[str, str, Any]]:
    return [(c.op, c.pointer, to_json(c.new)) for c in fork.changes]


def test_a_route_flips(place: Place) -> None:
    fork = place.fork("travel@step:2", "path=alt")
    assert (fork.next_before, fork.next, fork.preview.held) == (["c_main"], ["c_alt"], None)
    assert changed(fork) == [("replace", "/path", "alt")]
    thread, snapshot = place.made(fork)
    assert to_json(dict(snapshot.values)) == {"path": "alt", "n": 1, "log": ["a", "b"]}
    assert snapshot.step.next == ("c_alt",)
    assert snapshot.parent_id == fork.key.id
    assert snapshot.envelope.step == 3
    assert snapshot.envelope.metadata["user"] == "ada"
    # One row of its own and the one that it is a child of: no copy of what led there.
    assert len(place.fork("travel@step:2", "path=alt").closure.rows.checkpoints) == 1
    assert thread.thread_id == "travel"


def test_an_edit_that_turns_nothing_keeps_what_is_due(place: Place) -> None:
    fork = place.fork("travel@step:2", "n=5")
    assert (fork.next_before, fork.next, fork.preview.held) == (["c_main"], ["c_main"], None)
    assert not fork.route_changed


# Reasons for holding: each is said.


def test_held_at_a_command(place: Place) -> None:
    fork = place.fork("command@step:2", "path=alt")
    assert fork.next == ["left"]
    assert "by a Command" in str(fork.preview.held)


def test_held_where_the_router_fails(place: Place) -> None:
    fork = place.fork("travel@step:2", deletes=["path"])
    assert fork.next == ["c_main"]
    assert "KeyError" in str(fork.preview.held)
    assert "agent.py:" in str(fork.preview.held)
    assert changed(fork) == [("remove", "/path", {"$absent": True})]


def test_held_where_the_code_has_changed(place: Place) -> None:
    code = (place.folder / "agent.py").read_text()
    other = code.replace("""f"c_{s['path']}\"""", '"c_alt"')
    assert other != code
    (place.folder / "agent.py").write_text(other)
    try:
        with launch(plan_of(place.folder, "agent.py:travel")) as host:
            load(host, plan_of(place.folder, "agent.py:travel"))
            fork = Place(place.folder, host).fork("travel@step:2", "path=alt")
    finally:
        (place.folder / "agent.py").write_text(code)
    assert fork.next == ["c_main"]
    assert "its code has changed" in str(fork.preview.held)


def test_held_at_an_input(place: Place) -> None:
    held = place.fork("travel@root", "path=alt").preview.held
    assert held == "An input led here, and no node that could be asked again."


# What is edited, and how.


def test_the_pending_input(place: Place) -> None:
    fork = place.fork("travel@root", "path=alt")
    assert changed(fork) == [("replace", "/path", "alt")]
    assert fork.next == ["__start__"]
    _, snapshot = place.made(fork)
    assert to_json(snapshot.internal["__start__"]) == {"path": "alt", "n": 1}


def test_the_pending_input_of_a_later_turn(place: Place) -> None:
    fork = place.fork("chat@step:2", "messages[0].content=hello")
    assert changed(fork) == [("replace", "/messages/0/content", "hello")]
    assert fork.changes[0].key == "h2"


def test_a_message_in_place(place: Place) -> None:
    fork = place.fork("chat@step:1", "messages[-1].content=bye then")
    assert (fork.next_before, fork.next) == ([], ["polite"]), "the router reads the message"
    _, snapshot = place.made(fork)
    messages = to_json(snapshot.values["messages"])
    assert [m["content"] for m in messages] == ["hi", "bye then"]
    assert messages[-1]["$type"] == "langchain_core.messages.ai.AIMessage"


def test_through_the_reducer(place: Place) -> None:
    added = 'messages=[{"type": "human", "content": "more", "id": "h9"}]'
    fork = place.fork("chat@step:1", added, reduce=["messages"])
    assert [(op, path, new["content"]) for op, path, new in changed(fork)] == [
        ("add", "/messages/2", "more")
    ]
    whole = place.fork("chat@step:1", added)
    assert len(to_json(whole.after["messages"])) == 1


def test_new_input(place: Place) -> None:
    fork = place.fork("travel", input={"path": "alt"})
    assert (fork.next_before, fork.next) == ([], ["__start__"])
    _, snapshot = place.made(fork)
    assert snapshot.envelope.source == "input"
    assert to_json(snapshot.internal["__start__"]) == {"path": "alt"}
    middle = place.fork("travel@step:2", input={"path": "alt"})
    assert middle.next == ["__start__"]
    assert "takes the place of c_main" in " ".join(middle.warnings)


def test_a_model_is_made_of_plain_data(place: Place) -> None:
    fork = place.fork("shop@step:1", 'order={"total": 9, "lines": []}')
    assert (fork.next_before, fork.next) == (["ship"], ["hold"])
    _, snapshot = place.made(fork)
    order = {"total": 9.0, "lines": [], "$type": "agent.Order"}
    assert to_json(snapshot.values["order"]) == order


def test_inside_a_sub_graph(place: Place) -> None:
    thread = Thread(place.loader, "nested")
    ns = next(name for name in thread.history.namespaces() if name)
    asked = next(i for i, _, step in thread.walk(ns) if step.next == ("ask",))
    fork = place.fork(f"nested::{ns}@{thread.history.ids[asked]}", "n=7")
    assert fork.next == ["ask"]
    there, snapshot = place.made(fork)
    assert snapshot.values["n"] == 7
    assert there.history.namespaces() == ["", ns]


def test_routers_that_read_the_config(place: Place) -> None:
    """The config is carried in the checkpoint's metadata; `--config` goes over it."""
    same = place.fork("by_user@step:1", "n=2")
    assert (same.next, same.preview.held) == (["vip"], None)
    other = place.fork("by_user@step:1", "n=2", config={"configurable": {"user": "bo"}})
    assert other.next == ["vip"]
    assert "plain" in str(other.preview.held)


def test_as_node(place: Place) -> None:
    fork = place.fork("travel@step:2", "path=alt", as_node="d")
    assert (fork.next_before, fork.next, fork.is_dead) == (["c_main"], [], True)
    said = " ".join(fork.warnings)
    assert "c_main is no longer due" in said
    assert "nothing would run" in said
    assert place.fork("travel@step:3", as_node="a").next == ["b"]


def test_a_step_that_is_half_done(place: Place) -> None:
    fork = place.fork("beside", "n=2")
    assert sorted(fork.next or ()) == ["bad", "good"]
    assert "good had finished" in " ".join(fork.warnings)
    # What is not due there does not run again.
    fresh = place.fork("beside", input={"n": 2})
    assert fresh.next == ["__start__"]
    assert "had finished" not in " ".join(fresh.warnings)


Refused = Callable[..., str]


@pytest.mark.parametrize(
    ("words", "asked", "said"),
    [
        (["pth=alt"], {}, "did you mean 'path'"),
        (["n=many"], {}, "/n: input should be a valid integer"),
        (["log=[1]"], {}, "/log/0"),
        (["log[7]=x"], {}, "0 to 1"),
        ([], {"deletes": ["pat"]}, "did you mean 'path'"),
        ([], {}, "Nothing is to be edited"),
        (["n=1"], {"input": {}}, "two forks"),
        (["n=1"], {"as_node": "c_mian"}, "did you mean 'c_main'"),
        ([], {"input": 5}, "must be a map from channels"),
    ],
)
def test_refused(place: Place, words: list[str], asked: Any, said: str) -> None:
    with pytest.raises(RetrographError) as raised:
        place.fork("travel@step:2", *words, **asked)
    assert said in str(raised.value)
    assert str(raised.value).count("\n") == 0
