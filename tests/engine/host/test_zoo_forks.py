"""Edits of the zoo's checkpoints in hosts: what changes nothing, what turns a router, what is held
and why; newest LangGraph: every checkpoint with something due, older ones share one scenario of
each kind, as in test_zoo_replay.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from hosting import VERSIONS
from hosting.forks import Forker, at
from hosting.played import LACKS, SOME, Hosts, Played
from hosting.replays import thread_in
from retrograph.engine.errors import SourceError
from zoo import SCENARIOS
from zoo.degrade import without_ancestors


@SOME
def test_what_changes_nothing_keeps_what_is_due(
    version: str, scenario: str, played: Played, hosts: Hosts
) -> None:
    told, again, found = played(version, scenario), hosts(version), []
    threads = list(dict.fromkeys(call.thread for call in told.calls))
    for thread_id in threads[:: 4 if scenario == "chance" else 1]:
        with thread_in(told.store(), thread_id) as thread:
            forker = Forker(again, told, thread)
            every = [
                (ns, i, s) for ns in thread.history.namespaces() for i, _, s in thread.walk(ns)
            ]
            for ns, i, step in every:
                if not step.next:
                    continue
                try:
                    seen = forker.same(ns, thread.history.ids[i])
                except SourceError:  # an outer checkpoint was never stored
                    continue
                if seen is None:
                    continue
                due = sorted(step.next)
                if seen.next != seen.next_before or (seen.next != due and due != ["__start__"]):
                    before, after = seen.next_before, seen.next
                    found.append(f"{thread.history.ids[i]} {ns}: {due}, {before} -> {after}")
    assert not found, "\n".join(found)


class Turn(NamedTuple):
    thread: str
    due: list[str]
    turning: str
    """An edit that turns the router."""
    then: list[str]
    keeping: str
    """One that does not."""
    nth: int = 0


TURNS = (
    Turn("loop", ["count"], "n=5", [], "path=x", nth=1),
    Turn("branch-main", ["c_main"], "path=alt", ["c_alt"], "n=7"),
    Turn("join_loop", ["fan"], "n=9", [], "path=x", nth=1),
    Turn("deferred", ["a"], 'log=["1","2","3","4","5","6","7","8"]', [], "n=1", nth=1),
    Turn("deferred_join", ["a"], 'log=["1","2","3","4","5","6","7","8"]', [], "n=1", nth=1),
    Turn("sends", ["work", "work", "work"], "n=1", ["work"], "path=x"),
    Turn("ends-start-1", ["one"], 'path="2"', ["two"], "n=1"),
    Turn("limit", ["a"], "n=5", [], "path=x", nth=1),
    Turn("stateful", ["sub"], "n=3", [], "path=x", nth=1),
    Turn("cached-first", ["again"], "n=2", [], "path=y"),
    Turn("pydantic_state", ["extend"], "total=9.0", [], "log=[]"),
    Turn("delta", ["left", "right"], "n=5", [], 'rare=["x"]', nth=1),
    Turn("messages", ["summarise"], "messages=[]", [], "summary=x"),
    Turn("asynchronous", ["beside", "wait"], "n=2", [], "path=x", nth=1),
    Turn("agent", ["tools", "tools"], "messages[-1].tool_calls=[]", [], "messages[0].content=x"),
    Turn("agent_v1", ["tools"], "messages[-1].tool_calls=[]", [], "messages[0].content=x"),
)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("turn", TURNS, ids=lambda t: t.thread)
def test_a_router_turns_or_not(
    version: str, turn: Turn, played: Played, hosts: Hosts, tmp_path: Path
) -> None:
    """What the preview says is what runs."""
    scenario = next(s.name for s in SCENARIOS if turn.thread.split("-")[0] == s.name)
    if scenario in LACKS[version]:
        pytest.skip(f"not in LangGraph {version}")
    told = played(version, scenario)
    with thread_in(told.store(), turn.thread) as thread:
        forker = Forker(hosts(version), told, thread)
        id_ = at(thread, turn.due, turn.nth)
        turned, kept = forker.fork(id_, turn.turning), forker.fork(id_, turn.keeping)
        assert turned.preview.held is None
        assert (turned.next_before, turned.next) == (turn.due, turn.then)
        assert kept.next == turn.due
        assert forker.run(turned, tmp_path) == turn.then
        assert forker.run(kept, tmp_path) == turn.due


class Held(NamedTuple):
    """A reason for which the recorded routes stand, and a graph that has it."""

    reason: str
    thread: str
    due: list[str]
    edit: str
    said: str


COMMAND = "by a Command, whose route is known only by running it."
SINCE = "it saw other values then, or its code has changed."
EDIT = "An edit led here, and which node it stood for is not stored, so none can be asked again."
HELD = (
    Held("a Command", "commands", ["left", "right"], "path=x",
         f"'lead' went to left, right {COMMAND}"),
    Held("a Command beside an edge", "ends-command-and-edge", ["b", "c"], "path=x",
         f"'a' went to b {COMMAND}"),
    Held("Command.PARENT", "to_parent-left", ["left"], "path=r", f"'sub' went to left {COMMAND}"),
    Held("a sibling", "siblings-routed", ["c_main"], "n=7",
         f"On the unedited state 'p' would now go to c_alt, and it went to c_main: {SINCE}"),
    Held("a sibling's Send", "siblings-sent", ["work"], "path=x",
         f"On the unedited state 'p' would now send other values to work than it did: {SINCE}"),
    Held("changed code", "mended-elsewhere", ["c_main"], "path=alt",
         f"On the unedited state 'b' would now go to c_alt, and it went to c_main: {SINCE}"),
    Held("changed code that fails", "mended-fails", ["c_main"], "path=alt",
         "A router cannot be asked about the unedited state. "),
    Held("an input", "branch-main", ["__start__"], "path=alt",
         "An input led here, and no node that could be asked again."),
    Held("an edit that began a thread", "update_head-seeded", ["a"], "path=alt", EDIT),
    Held("an edit by others", "update_head-seeded", ["b"], "path=alt", EDIT),
    Held("a router that fails", "branch-main", ["c_main"], "path=nowhere",
         "A router failed on the edited state. "),
)  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("held", HELD, ids=lambda h: h.reason)
def test_held_and_why(version: str, held: Held, played: Played, hosts: Hosts) -> None:
    """What is due stays due, and the reason is said."""
    scenario = max((s.name for s in SCENARIOS if held.thread.startswith(s.name)), key=len)
    told = played(version, scenario)
    with thread_in(told.store(), held.thread) as thread:
        forker = Forker(hosts(version), told, thread)
        fork = forker.fork(at(thread, held.due), held.edit)
    assert str(fork.preview.held).startswith(held.said)
    assert (fork.next_before, fork.next) == (held.due, held.due)
    assert not fork.preview.rerouted


@pytest.mark.parametrize("version", VERSIONS)
def test_held_where_the_parent_is_gone(
    version: str, played: Played, hosts: Hosts, tmp_path: Path
) -> None:
    told, again = played(version, "branch"), hosts(version)
    with thread_in(told.store(), "branch-main") as thread:
        id_ = at(thread, ["c_main"])
    pruned = without_ancestors(told.store(), tmp_path / "pruned.db", "branch-main", id_)
    with thread_in(pruned, "branch-main") as thread:
        fork = Forker(again, told, thread).fork(id_, "path=alt")
    assert (
        fork.preview.held == "What led here is gone from the store, so no node can be asked again."
    )
    assert fork.next_before == fork.next == ["c_main"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("as_node", [None, "b"])
def test_an_edit_of_an_edit_that_turned(
    version: str, as_node: str | None, played: Played, hosts: Hosts, tmp_path: Path
) -> None:
    """Its routes stand for those of the nodes that led there, and can turn back."""
    told, again = played(version, "branch"), hosts(version)
    with thread_in(told.store(), "branch-main") as thread:
        forker = Forker(again, told, thread)
        first = forker.fork(at(thread, ["c_main"]), "path=alt", as_node=as_node)
        assert first.next == ["c_alt"]
        path = forker.make(first, tmp_path)
    with thread_in(path, "branch-main") as sandbox:
        forker = Forker(again, told, sandbox)
        kept = forker.fork(first.preview.row.id, "n=3")
        back = forker.fork(first.preview.row.id, "path=main")
    assert (kept.preview.held, kept.next) == (None, ["c_alt"])
    assert (back.preview.held, back.next) == (None, ["c_main"])
