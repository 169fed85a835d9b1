"""Notes: a page and the whole walk say the same, rows made of them are the engine's own, and what
was known survives a longer history."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pictures import history
from retrograph.engine.model import Loader
from retrograph.engine.thread import Thread
from retrograph.engine.tree.labels import UNICODE, Label
from retrograph.engine.tree.rows import Painter, tree_rows
from retrograph.loaders.registry import open_source
from retrograph.tui.reading.known import Known, Note, Noted
from retrograph.tui.reading.notes import note_all, note_page
from retrograph.tui.reading.picture import make_picture
from retrograph.tui.reading.treemodel import TreeModel
from retrograph.tui.widgets.treepaint import label_spans
from zoo import SCENARIOS, Store


@pytest.fixture(scope="module")
def loader(zoo_store: Store) -> Iterator[Loader]:
    opened = open_source(str(zoo_store.path))
    yield opened
    opened.close()


def threads_of(scenario: str, store: Store) -> list[str]:
    return list(dict.fromkeys(thread_id for thread_id, _, _ in store.of(scenario)))


@pytest.mark.parametrize("scenario", [s.name for s in SCENARIOS])
def test_pages_say_what_the_walk_says(scenario: str, zoo_store: Store, loader: Loader) -> None:
    for thread_id in threads_of(scenario, zoo_store):
        thread = Thread(loader, thread_id)
        walked = {noted.checkpoint: noted for notes in note_all(thread, 3) for noted in notes}
        assert set(walked) == set(range(len(thread.history)))
        for i in range(len(thread.history)):
            assert note_page(thread, [i]) == [walked[i]]


@pytest.mark.parametrize("scenario", [s.name for s in SCENARIOS])
def test_rows_are_those_of_the_command(scenario: str, zoo_store: Store, loader: Loader) -> None:
    for thread_id in threads_of(scenario, zoo_store):
        thread = Thread(loader, thread_id)
        tree = thread.history
        steps, envelopes = {}, {}
        for i, envelope, step in thread.walk():
            key = tree.ns(i), tree.ids[i]
            steps[key], envelopes[key] = step, envelope
        owners = thread.owners()
        theirs = list(tree_rows(tree, steps, envelopes, owners=owners))
        known = Known(tree)
        for notes in note_all(thread):
            known.take(notes)
        picture = make_picture(tree, owners)
        model = TreeModel(picture, known, {(g.ns, g.owner) for g in picture.layout.groups})
        painter = Painter(tree, picture.layout, known.slim_step, known.slim_envelope)
        painter.labels = known.labels()
        ours = [painter.row(model.view, row) for row in range(len(model.view))]
        assert ours == theirs


@pytest.mark.parametrize("scenario", [s.name for s in SCENARIOS])
def test_a_label_in_parts_is_the_label(scenario: str, zoo_store: Store, loader: Loader) -> None:
    for thread_id in threads_of(scenario, zoo_store):
        thread = Thread(loader, thread_id)
        for noted in note_page(thread, range(len(thread.history))):
            label = noted.note.label
            assert "".join(text for text, _ in label_spans(label, UNICODE)) == label.text(UNICODE)


def note(name: str) -> Note:
    return Note(Label("step", (name,), ((),)), False, False)


def test_what_was_known_survives_a_longer_history() -> None:
    old = history("a b<a c<b d<c sub/x sub/y<x")
    known = Known(old)
    known.take(Noted(i, note(old.ids[i]), None) for i in range(len(old)))
    assert known.complete
    new = history("a b<a c<b d<c e<d f<b sub/x sub/y<x sub/z<y")
    moved = known.moved_to(new)
    kept = {new.ids[i]: moved.note(i) for i in range(len(new)) if moved.has(i)}
    # b and y have gained a child, d was a leaf: what they say may be another thing now.
    assert kept == {name: note(name) for name in "acx"}
    assert moved.count == 3


def test_what_was_known_where_checkpoints_went() -> None:
    old = history("a b<a c<b d<c")
    known = Known(old)
    known.take(Noted(i, note(old.ids[i]), 7) for i in range(len(old)))
    new = history("b c<b d<c e<d")
    moved = known.moved_to(new)
    assert {new.ids[i] for i in range(len(new)) if moved.has(i)} == {"b", "c"}
    assert moved.step(new.find("", "c")) == 7
