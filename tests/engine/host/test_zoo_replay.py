"""The whole zoo, replayed in hosts: unedited, every run goes as it went, in values, in what is due
and in the nodes that run.

Newest LangGraph: every checkpoint with something due, and every call that went on or gave an
answer (of the graphs drawn by lot some, where each of their calls began). Older ones share one
scenario of each kind: where its calls began. With ZOO_EVERYWHERE in the environment all of them run
on all of these. Each time all around the graph (what its nodes have counted, its cache) is as it
was just before the call. What cannot be compared: a checkpoint that was never run, and one at which
the caller gave a `goto` or an update, which are not stored apart from what came of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from hosting import VERSIONS
from hosting.played import EVERYWHERE, LACKS, NEWEST, SOME, Hosts, Played
from hosting.replays import Case, Made, Told, differences, goings_on, replays, thread_in
from zoo import SCENARIOS

UNTOLD = {"chance-10", "chance-96"}
"""Threads with a node that gives a `Command` and has a router, too, which may lead anywhere: what
of the stored route came of which is not told apart, so with a recording the router alone goes."""


def cases(told: Told, few: bool) -> Iterator[tuple[str, Case]]:
    """(thread, case): replays of the scenario; `few`: from where a thread's calls began only."""
    threads = list(dict.fromkeys(call.thread for call in told.calls))
    for thread_id in threads[:: 4 if told.scenario == "chance" and not EVERYWHERE else 1]:
        begun: set[int] = set()
        with thread_in(told.store(), thread_id) as thread:
            for case in replays(told, thread):
                if not few or case.call.number not in begun:
                    begun.add(case.call.number)
                    yield thread_id, case


@pytest.mark.parametrize("version", VERSIONS)
def test_the_zoo_is_whole_but_for_what_each_langgraph_lacks(version: str, played: Played) -> None:
    absent = {s.name for s in SCENARIOS if played(version, s.name).absent is not None}
    assert absent == LACKS[version]


@SOME
def test_as_it_went(version: str, scenario: str, played: Played, hosts: Hosts) -> None:
    told = played(version, scenario)
    again, found = hosts(version), []
    for thread_id, case in cases(told, version != NEWEST or scenario == "chance"):
        with thread_in(told.store(), thread_id) as thread:
            made = again.make(scenario, case, thread)
            found += said(case, differences(again, thread, case, made))
            found += said(case, unplanned(made))
    assert not found, "\n".join(found)


@SOME
def test_recorded(version: str, scenario: str, played: Played, hosts: Hosts) -> None:
    """With all that is recorded standing in, it goes the same, and no node is called of which
    there is a recording."""
    told = played(version, scenario)
    again, found = hosts(version), []
    for thread_id, case in cases(told, few=True):
        if thread_id in UNTOLD:
            continue
        with thread_in(told.store(), thread_id) as thread:
            made = again.make(scenario, case, thread, recorded=True)
            # A recorded sub-graph does not run its nodes, and what was asked then is answered.
            differing = [d for d in differences(again, thread, case, made) if d[0] == "checkpoint"]
            called = made.called.keys() & made.plan.recordings.keys()
            found += said(case, [*differing, *(("called", str(node)) for node in called)])
            found += said(case, unplanned(made))
    assert not found, "\n".join(found)


@SOME
def test_gone_on(version: str, scenario: str, played: Played, hosts: Hosts) -> None:
    """What had finished in a half-done step does not run again, and what was answered stays so."""
    told = played(version, scenario)
    again, found = hosts(version), []
    for case in goings_on(told):
        thread_id = case.call.thread
        with thread_in(told.store(case.call), thread_id) as before:
            made = again.make(scenario, case, before, going_on=True)
        with thread_in(told.store(), thread_id) as thread:
            found += said(case, differences(again, thread, case, made))
            found += said(case, unplanned(made))
    assert not found, "\n".join(found)


def unplanned(made: Made) -> list[tuple[str, str]]:
    """Nodes that ran, and of which the plan did not say that they may. Tasks that functions call
    and handlers of errors are no nodes."""
    planned = {node.key for node in made.plan.nodes}
    graphs = {"", *made.plan.loaded.subgraphs}
    ran = [node for node in made.started if node[0] in graphs]
    return [("unplanned", str(node)) for node in ran if node not in planned]


def said(case: Case, what: Iterable[tuple[str, str]]) -> list[str]:
    at = f"{case.call.thread} call {case.call.number} from {case.line[0]}"
    return [f"{at}: {name}: {one}" for name, one in what]
