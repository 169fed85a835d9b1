"""Sandboxes as sources: the contract, joined to their source and without it."""

from __future__ import annotations

import resource
import shutil
import stat
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from loaders.contract import Store, StoreContract, flat
from loaders.sqlite_files import snapshot
from retrograph.engine.errors import SourceError
from retrograph.engine.history import NONE
from retrograph.engine.model import ROOT, Loader
from retrograph.engine.sandbox.closure import for_going_on, for_replay
from retrograph.engine.sandbox.file import Sandbox
from retrograph.engine.sandbox.make import make_sandbox
from retrograph.engine.thread import Thread
from retrograph.loaders.registry import open_source
from retrograph.loaders.sandbox import SandboxLoader
from zoo import Store as Zoo

PLACES = ("loop", "two_deep", "stateful", "delta", "travel_below", "messages")


def middle(thread: Thread) -> str:
    """A checkpoint with a past and something due."""
    history = thread.history
    fit = [i for i, _, step in thread.walk(ROOT) if step.next and history.parent(i) != NONE]
    return history.ids[fit[len(fit) // 2]]


def sandbox_of(path: Path, thread_id: str, folder: Path, *, full: bool = False) -> Sandbox:
    loader = open_source(str(path))
    try:
        thread = Thread(loader, thread_id)
        closure = for_replay(thread, ROOT, middle(thread))
        return make_sandbox(thread, closure, str(path), full=full, folder=folder)
    finally:
        loader.close()


class TestSandbox(StoreContract):
    @pytest.fixture(scope="class", params=PLACES)
    @classmethod
    def store(
        cls,
        request: pytest.FixtureRequest,
        zoo_store: Zoo,
        tmp_path_factory: pytest.TempPathFactory,
    ) -> Store:
        folder = tmp_path_factory.mktemp("sandbox")
        shutil.copy(zoo_store.path, folder / "zoo.db")
        made = sandbox_of(folder / "zoo.db", request.param, folder / "made")
        return Store(
            lambda: open_source(str(made.path)),
            fingerprint=lambda: (snapshot(folder), snapshot(made.path.parent)),
        )


@pytest.fixture
def source(zoo_store: Zoo, tmp_path: Path) -> Path:
    shutil.copy(zoo_store.path, tmp_path / "zoo.db")
    return tmp_path / "zoo.db"


@pytest.fixture
def opened(source: Path, tmp_path: Path) -> Iterator[Loader]:
    made = sandbox_of(source, "two_deep", tmp_path)
    loader = open_source(str(made.path))
    yield loader
    loader.close()


@pytest.mark.parametrize("thread_id", PLACES)
def test_the_line_is_the_sources(source: Path, tmp_path: Path, thread_id: str) -> None:
    """Up to where it began the tree is the source's, sub-graphs and values included."""
    made = sandbox_of(source, thread_id, tmp_path)
    theirs, ours = open_source(str(source)), open_source(str(made.path))
    theirs_thread, ours_thread = Thread(theirs, thread_id), Thread(ours, thread_id)
    at = theirs_thread.history.find(ROOT, made.origin.checkpoint_id)
    line = [theirs_thread.history.ids[i] for i in theirs_thread.history.line(at)]
    assert [ours_thread.history.ids[i] for i in ours_thread.history.span(ROOT)] == line
    for id_ in line:
        a, b = theirs_thread.snapshot(ROOT, id_), ours_thread.snapshot(ROOT, id_)
        assert (a.values, a.parent_id, a.step.next) == (b.values, b.parent_id, b.step.next)
        assert (a.step.ran, a.step.came_by) == (b.step.ran, b.step.came_by)
    known = {(r[0], r[1]) for r in flat(theirs.rows(thread_id))}
    assert {(r[0], r[1]) for r in flat(ours.rows(thread_id))} <= known
    assert ours.warnings == []
    ours.close()
    theirs.close()


def test_its_own_output_is_not_of_the_line(source: Path, tmp_path: Path) -> None:
    """Neither the writes of the checkpoint where it began nor what its tasks began."""
    loader = open_source(str(source))
    thread = Thread(loader, "two_deep")
    asked = next(i for i, _, step in thread.walk(ROOT) if step.questions)
    closure = for_replay(thread, ROOT, thread.history.ids[asked])
    made = make_sandbox(thread, closure, str(source), folder=tmp_path)
    loader.close()
    ours = open_source(str(made.path))
    history = Thread(ours, "two_deep").history
    assert history.namespaces() == [ROOT]
    assert flat(ours.writes("two_deep", ROOT, [made.origin.checkpoint_id])) == []
    ours.close()


def test_without_its_source(opened: Loader, source: Path) -> None:
    source.unlink()
    rows = flat(opened.rows("two_deep"))
    assert len(rows) == 1
    assert len(opened.warnings) == 1
    assert "zoo.db" in opened.warnings[0]


def test_with_a_source_that_has_moved(opened: Loader, source: Path) -> None:
    moved = source.rename(source.with_name("moved.db"))
    again = open_source(opened.location, origin=str(moved))
    assert len(flat(again.rows("two_deep"))) > 1
    again.close()


def test_a_sandbox_of_a_sandbox(opened: Loader, tmp_path: Path) -> None:
    thread = Thread(opened, "two_deep")
    at = thread.history.ids[thread.history.line(thread.history.head())[-2]]
    closure = for_replay(thread, ROOT, at)
    made = make_sandbox(thread, closure, opened.location, folder=tmp_path)
    loader = open_source(str(made.path))
    inner = Thread(loader, "two_deep").history
    assert [inner.ids[i] for i in inner.span(ROOT)] == [
        thread.history.ids[i] for i in thread.history.line(thread.history.find(ROOT, at))
    ]
    loader.close()


@pytest.mark.parametrize("thread_id", PLACES)
def test_full_stands_alone(source: Path, tmp_path: Path, thread_id: str) -> None:
    made = sandbox_of(source, thread_id, tmp_path, full=True)
    short = sandbox_of(source, thread_id, tmp_path)
    joined = open_source(str(short.path))
    theirs = [tuple(row[:3]) for row in flat(joined.rows(thread_id))]
    ids = {row[:2] for row in theirs}
    writes = [row for row in flat(joined.writes(thread_id)) if tuple(row[:2]) in ids]
    joined.close()
    source.unlink()
    ours = open_source(str(made.path))
    assert [tuple(row[:3]) for row in flat(ours.rows(thread_id))] == theirs
    assert flat(ours.writes(thread_id)) == writes
    thread = Thread(ours, thread_id)
    for parent, child in pairwise(thread.history.span(ROOT)):
        assert thread.history.parent(child) == parent
    ours.close()


def test_readable_by_its_owner_alone(source: Path, tmp_path: Path) -> None:
    made = sandbox_of(source, "loop", tmp_path / "new")
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700
    assert [p.name for p in made.path.parent.iterdir()] == [made.path.name]


def test_nothing_is_left_of_one_that_fails(source: Path, tmp_path: Path) -> None:
    loader = open_source(str(source))
    thread = Thread(loader, "loop")
    closure = for_going_on(thread, thread.history.ids[thread.history.head()])

    def fail(count: int) -> None:
        raise SourceError("The source went away.")

    with pytest.raises(SourceError, match="went away"):
        make_sandbox(thread, closure, "x", full=True, folder=tmp_path / "new", copied=fail)
    assert list((tmp_path / "new").iterdir()) == []
    loader.close()


@pytest.mark.parametrize("room", [0, 8192])
def test_nothing_is_left_of_one_that_the_disk_has_no_room_for(
    source: Path, tmp_path: Path, room: int
) -> None:
    was = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, was[1]))
    try:
        with pytest.raises(SourceError, match="cannot be written"):
            sandbox_of(source, "loop", tmp_path / "made")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, was)
    assert list((tmp_path / "made").iterdir()) == []


def test_making_one_reads_only(source: Path, tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    alone = Path(shutil.copy(source, tmp_path / "alone" / "zoo.db"))
    before = snapshot(alone.parent)
    for thread_id in PLACES:
        sandbox_of(alone, thread_id, tmp_path)
    assert snapshot(alone.parent) == before


def test_is_told_by_its_header(source: Path, tmp_path: Path) -> None:
    made = sandbox_of(source, "loop", tmp_path)
    copied = Path(shutil.copy(made.path, tmp_path / "elsewhere.sqlite"))
    loader = open_source(str(copied))
    assert isinstance(loader, SandboxLoader)
    loader.close()
