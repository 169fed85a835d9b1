"""Replays in a host: which nodes run, with which policy, and what comes of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hosting import OWN, VERSIONS, hosted, plan_of, python_of
from retrograph.engine.errors import UsageError
from retrograph.engine.host.client import Event
from retrograph.engine.host.requests import launch, load
from retrograph.engine.model import Loader
from retrograph.engine.replay.asked import Asked
from retrograph.engine.replay.driving import Choice, Driver, Outcome
from retrograph.engine.replay.plan import Plan, plan_replay
from retrograph.engine.replay.recordings import recordings_of
from retrograph.engine.sandbox.make import make_sandbox
from retrograph.engine.threads.lookup import LoaderIndex
from retrograph.engine.threads.refs import locate
from retrograph.engine.values import to_json
from retrograph.loaders.registry import open_source
from stories import effects

VERSION = pytest.mark.parametrize("version", VERSIONS)


class Replayed(NamedTuple):
    plan: Plan
    outcome: Outcome
    effects: list[str]
    """Nodes whose own code ran."""
    values: dict[str, Any]
    waiting: tuple[str, ...]
    """Due at the end, without output."""
    events: Sequence[Event]

    @property
    def policies(self) -> dict[str, str]:
        return {":".join(n.key).lstrip(":"): n.policy for n in self.plan.nodes}


class Replay:
    """Replays in a copy of the project."""

    def __init__(self, folder: Path, python: str = OWN) -> None:
        self.folder = folder
        self.python = python

    def __call__(
        self,
        ref: str,
        *,
        choices: Sequence[Choice] = (),
        edited: Sequence[str] = (),
        known: int | None = None,
        **asked: Any,
    ) -> Replayed:
        """`known`: so many super-steps of each node are recorded, no more."""
        loader = open_source(str(self.folder / "store.db"))
        try:
            return self._replayed(loader, ref, list(choices), edited, known, asked)
        finally:
            loader.close()

    def _replayed(
        self,
        loader: Loader,
        ref: str,
        choices: list[Choice],
        edited: Sequence[str],
        known: int | None,
        asked: Mapping[str, Any],
    ) -> Replayed:
        index = LoaderIndex(loader)
        key = locate(ref, index)
        thread = index.thread(key.thread_id)
        launching = plan_of(self.folder, f"agent.py:{key.thread_id}", self.python)
        recorded = {at: steps[:known] for at, steps in recordings_of(thread, key).items()}
        events: list[Event] = []
        with launch(launching) as host:
            loaded = load(host, launching)
            plan = plan_replay(
                host,
                launching,
                loaded,
                thread,
                key,
                Asked(**asked),
                recordings=recorded,
                edited=edited,
            )
            assert plan.closure is not None
            made = make_sandbox(
                thread, plan.closure, "x", folder=self.folder / "made", recorded=recorded
            )
            driver = Driver(
                host,
                plan,
                made.path,
                tell=events.append,
                choose=lambda event: choices.pop(0) if choices else "stop",
            )
            outcome = driver.run()
        there = open_source(str(made.path))
        try:
            result = LoaderIndex(there).thread(key.thread_id)
            head = result.history.ids[result.history.head()]
            values = {name: to_json(v) for name, v in result.snapshot("", head).values.items()}
            waiting = result.step("", head).waiting
        finally:
            there.close()
        return Replayed(plan, outcome, effects(self.folder), values, waiting, events)


@pytest.fixture
def replay(project: Path) -> Replay:
    return Replay(project)


@VERSION
def test_as_it_went(project: Path, version: str) -> None:
    done = Replay(project, python_of(version))("travel@step:1")
    assert done.effects == ["b", "c_main", "d"]
    assert done.values["log"] == ["a", "b", "c_main", "d"]
    assert [(r.step, r.node, r.policy) for r in done.outcome.ran] == [
        (2, "b", "live"),
        (3, "c_main", "live"),
        (4, "d", "live"),
    ]
    assert done.outcome.status == "done"


@VERSION
def test_everything_recorded_runs_nothing(project: Path, version: str) -> None:
    done = Replay(project, python_of(version))("travel@step:1", recorded=["b", "c_main", "d"])
    assert done.effects == []
    assert done.values["log"] == ["a", "b", "c_main", "d"]
    assert {r.policy for r in done.outcome.ran} == {"recorded"}


@VERSION
def test_a_crash_as_users_know_it(project: Path, version: str) -> None:
    """Killed inside step3: the plan says that it runs again; what had finished does not."""
    done = Replay(project, python_of(version))("crash")
    assert any("step3 was due" in w and "runs again" in w for w in done.plan.warnings)
    assert done.effects == ["step3", "step4"]
    assert done.values["log"] == ["step1", "step2", "step3", "step4"]


def test_killed_before_its_step_was_saved(project: Path, replay: Replay) -> None:
    """All tasks had finished: none runs again, and that the run goes on is not denied."""
    with closing(sqlite3.connect(project / "store.db", isolation_level=None)) as db:
        newest = "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = 'travel'"
        for table in ("writes", "checkpoints"):
            db.execute(
                f"DELETE FROM {table} WHERE thread_id = 'travel' AND checkpoint_id >= "
                f"(SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = 'travel' "
                f"AND checkpoint_id < ({newest}))"
            )
    done = replay("travel")
    assert done.effects == ["d"]
    assert done.values["log"] == ["a", "b", "c_main", "d"]
    said = " ".join(done.plan.warnings)
    assert "c_main had finished" in said
    assert "what is due then runs" in said
    assert "nothing would run" not in said


@VERSION
def test_a_router_that_failed(project: Path, version: str) -> None:
    """LangGraph stores what its node gave and the error, and goes on as if it led nowhere."""
    with closing(sqlite3.connect(project / "store.db", isolation_level=None)) as db:
        [(at,)] = db.execute(
            "SELECT checkpoint_id FROM writes WHERE thread_id = 'travel' AND channel = "
            "'branch:to:c_main'"
        )
        for table in ("writes", "checkpoints"):
            db.execute(
                f"DELETE FROM {table} WHERE thread_id = 'travel' AND checkpoint_id > ?", (at,)
            )
        db.execute(
            "UPDATE writes SET channel = '__error__', idx = -1, type = 'msgpack', value = ? "
            "WHERE thread_id = 'travel' AND channel = 'branch:to:c_main'",
            (b"\xabKeyError(1)",),
        )
    replay = Replay(project, python_of(version))
    done = replay("travel")
    assert done.effects == []
    assert done.values["log"] == ["a", "b"]
    said = " ".join(done.plan.warnings)
    assert "b failed once it had given its values, in choosing where to go" in said
    assert "b had finished" not in said
    again = replay("travel", again=True)
    assert again.effects == ["b", "c_main", "d"]
    assert again.values["log"] == ["a", "b", "c_main", "d"]


@VERSION
def test_sends_are_recorded_each_by_itself(project: Path, version: str) -> None:
    done = Replay(project, python_of(version))("sending@step:0", recorded=["plan", "one"])
    assert done.effects == ["after"]
    assert done.values["log"] == ["plan", "one 0", "one 1", "one 2", "after"]


@VERSION
def test_inside_a_sub_graph(project: Path, version: str) -> None:
    done = Replay(project, python_of(version))("nested@step:0", recorded=["sub:x"])
    assert done.effects == ["pre", "ask"]
    assert done.outcome.status == "interrupted"
    assert done.waiting == ("sub",)


def test_a_step_that_is_half_done(project: Path, replay: Replay) -> None:
    """What had finished is not run again, unless that is asked for."""
    (project / "mended").touch()
    done = replay("beside")
    assert done.policies["good"] == "finished"
    assert done.effects == ["bad", "z"]
    assert done.values["log"] == ["pre", "mended", "good", "z"]
    again = replay("beside", again=True)
    assert sorted(again.effects) == ["bad", "good", "z"]


def test_a_recorded_command_keeps_its_goto(replay: Replay) -> None:
    done = replay("command@step:1", recorded=["decide"])
    assert done.effects == ["left"]
    assert done.values["log"] == ["first", "decide", "left"]


def test_routers_decide_on_a_stub(replay: Replay) -> None:
    done = replay("travel@step:1", stubs={"b": {"path": "alt", "log": ["stub"]}})
    assert done.effects == ["c_alt", "d"]
    assert done.values["log"] == ["a", "stub", "c_alt", "d"]


def test_a_stub_of_a_command(replay: Replay) -> None:
    given = {"$goto": "right", "$update": {"log": ["stub"]}}
    done = replay("command@step:1", stubs={"decide": given})
    assert done.effects == ["right"]
    assert done.values["log"] == ["first", "stub", "right"]


@pytest.mark.parametrize(("node", "ns"), [("c_main", ""), ("d", "")])
def test_paused_before(replay: Replay, node: str, ns: str) -> None:
    done = replay("travel@step:1", pause_before=[node])
    assert done.outcome.status == "paused"
    assert done.waiting == (node,)
    assert node not in done.effects


def test_paused_inside_a_sub_graph(replay: Replay) -> None:
    done = replay("nested@step:0", pause_before=["sub:ask"])
    assert done.outcome.status == "paused"
    assert done.effects == ["pre", "x"]
    went_on = replay("nested@step:0", pause_before=["sub:ask"], choices=["go"])
    assert went_on.effects == ["pre", "x", "ask"]
    assert went_on.outcome.status == "interrupted"


def test_side_effects_are_recorded_or_held(replay: Replay) -> None:
    done = replay("travel@step:1", side_effects=["b", "c_alt"])
    assert done.policies == {"b": "recorded", "c_main": "live", "c_alt": "pause", "d": "live"}
    assert done.effects == ["c_main", "d"]
    held = replay("crash", side_effects=["step3"])
    assert held.policies["step3"] == "pause"
    assert held.effects == []
    assert held.waiting == ("step3",)


@pytest.mark.parametrize("choices", [(), ("go", "go")])
def test_where_recordings_run_out_it_is_held(replay: Replay, choices: Sequence[Choice]) -> None:
    done = replay("loop@step:0", recorded=["count"], known=1, choices=choices)
    held = [event for event in done.events if event.name == "paused"]
    assert {(e["node"], e["why"]) for e in held} == {("count", "nothing more is recorded of it")}
    assert len(held) == max(len(choices), 1), "before each super-step that is not recorded"
    if choices:
        assert done.effects == ["count", "count"], "the others run themselves"
        assert done.values["log"] == ["count 1", "count 2", "count 3"]
    else:
        assert (done.outcome.status, done.effects) == ("paused", [])
        assert done.values["log"] == ["count 1"]


def test_an_edit_that_a_recording_takes_back_is_warned_of(replay: Replay) -> None:
    done = replay("travel@step:1", recorded=["b"], edited=["log"])
    assert any("'b' writes 'log'" in warning for warning in done.plan.warnings)


def test_an_error_is_told_with_the_users_line(replay: Replay) -> None:
    done = replay("beside")
    assert done.outcome.status == "error"
    assert "agent.py:" in str(done.outcome.error)
    assert "ValueError: no such order" in str(done.outcome.traceback)
    (ran,) = done.outcome.ran
    assert ran.error is not None
    assert ran.error["message"] == "no such order"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"recorded": ["bb"]}, "did you mean 'b'"),
        ({"recorded": ["c_alt"]}, "Nothing is recorded of 'c_alt'"),
        ({"recorded": ["b"], "live": ["b"]}, "both"),
    ],
)
def test_refused(project: Path, asked: Any, said: str) -> None:
    loader = open_source(str(project / "store.db"))
    index = LoaderIndex(loader)
    key = locate("travel@step:1", index)
    thread = index.thread(key.thread_id)
    launching = plan_of(project, "agent.py:travel")
    with (
        hosted(project, "agent.py:travel") as (host, loaded),
        pytest.raises(UsageError, match=said),
    ):
        plan_replay(
            host, launching, loaded, thread, key, Asked(**asked),
            recordings=recordings_of(thread, key),
        )  # fmt: skip
    loader.close()


def test_the_source_is_untouched(project: Path, replay: Replay) -> None:
    before = {path: path.read_bytes() for path in project.glob("store.db*")}
    replay("travel@step:1")
    assert {path: path.read_bytes() for path in project.glob("store.db*")} == before
