"""Steps that were not stored, told from those that are gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from retrograph.engine.history import History
from retrograph.engine.model import IndexRow, Loader
from retrograph.engine.thread import Thread
from retrograph.engine.threads.pages import read_page
from retrograph.engine.tree.gaps import after_gaps, explain
from retrograph.loaders.registry import open_source
from zoo import Store
from zoo.graphs.flow import step
from zoo.graphs.nested import ask, line


def id_of(step: int, n: int) -> str:
    return f"1f1ebf22-64d4-6{n:03x}-{0x8000 | (step & 0x3FFF):04x}-00000000{n:04x}"


def gaps(*rows: tuple[int, int | None, str]) -> list[int]:
    """Rows are (step, number of the parent, source)."""
    ids = [id_of(step, n) for n, (step, _, _) in enumerate(rows)]
    index = [
        IndexRow("", ids[n], None if parent is None else ids[parent], None)
        for n, (_, parent, _) in enumerate(rows)
    ]
    history = History.build("t", [index])
    return after_gaps(history, range(len(history)), lambda i: rows[i][2])


def test_one_checkpoint_a_run() -> None:
    assert gaps((4, None, "loop"), (9, 0, "loop"), (14, 1, "loop")) == [0, 1, 2]


def test_ordinary_lines_and_copies() -> None:
    line = [(-1, None, "input"), (0, 0, "loop"), (1, 1, "loop")]
    assert gaps(*line) == []
    # A copy beside what it copies jumps, and what goes on from it does as well.
    assert gaps(*line, (5, 1, "fork"), (7, 3, "loop")) == []
    assert gaps(*line, (2, 2, "update"), (3, 3, "loop")) == []


@pytest.fixture(scope="module")
def loader(zoo_store: Store) -> Iterator[Loader]:
    opened = open_source(str(zoo_store.path))
    yield opened
    opened.close()


def test_only_exit_durability_leaves_gaps(zoo_store: Store, loader: Loader) -> None:
    found = set()
    for thread_id in zoo_store.threads:
        thread = Thread(loader, thread_id)
        sources = {i: envelope.source for i, envelope, _ in thread.walk()}
        if after_gaps(thread.history, sources, sources.get):
            found.add(thread_id)
    assert found == {"exit_only", "exit_only-asks"}


def test_questions_answered_before_a_gap(tmp_path: Path) -> None:
    """The answer's own writes are not stored: that the run went on tells it."""
    graph = line(("a", step("a")), ("ask", ask), ("b", step("b")), ("again", ask))
    config = {"configurable": {"thread_id": "t"}}
    with SqliteSaver.from_conn_string(str(tmp_path / "s.db")) as saver:
        graph.checkpointer = saver
        for given in ({"n": 1}, Command(resume="x")):
            graph.invoke(given, config, durability="exit")
    loader = open_source(str(tmp_path / "s.db"))
    thread = Thread(loader, "t")
    walked = {i: step for i, _, step in thread.walk()}
    assert [[q.answered for q in step.questions] for step in walked.values()] == [[True], [False]]
    page = read_page(thread, walked)
    for i, found in walked.items():
        assert page[i][1] == found
        assert thread.step("", thread.history.ids[i]).questions == found.questions
    loader.close()


def test_words() -> None:
    assert explain(1).startswith("Before a row ")
    assert explain(1200).startswith("Before 1,200 rows ")
