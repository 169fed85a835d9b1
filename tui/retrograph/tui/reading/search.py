"""Finding rows of a tree: by their words, by step, by the end of an id, by what they are."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable

from retrograph.engine.history import NONE
from retrograph.engine.tree.rows import title
from retrograph.tui.reading.known import Known, Note
from retrograph.tui.reading.picture import Picture

_STEP = re.compile(r"(?:step:)?(-?\d{1,9})")


def with_text(picture: Picture, known: Known, text: str) -> array[int]:
    """The entries whose words hold the text, ascending; case counts only where it is typed."""
    if not text:
        return array("i")

    def holds(words: str) -> bool:
        return text in (words if typed else words.lower())

    typed = text != text.lower()
    layout = picture.layout
    found = [layout.entry(i) for i in known.where(lambda note: holds(note.says()))]
    found += [layout.header(k) for k, group in enumerate(layout.groups) if holds(title(group.ns))]
    return _entries(found)


def at_place(picture: Picture, known: Known, text: str) -> array[int]:
    """The entries of a step, or of ids that end so; the checkpoints of the root graph alone where
    it has such a step."""
    history, layout = picture.history, picture.layout
    text = text.strip().lstrip("@")
    if not text:
        return array("i")
    if step := _STEP.fullmatch(text):
        wanted = int(step[1])
        for span in (history.span(picture.top), range(len(history))):
            found = [layout.entry(i) for i in span if known.step(i) == wanted]
            if found:
                return _entries(found)
    ids = history.ids
    return _entries(layout.entry(i) for i in range(len(ids)) if ids[i].endswith(text))


def is_question(note: Note) -> bool:
    """Whether a question stands there, open or answered."""
    return note.label.trouble == "question" or note.label.answered


def is_error(note: Note) -> bool:
    return note.label.trouble == "failed"


def _entries(found: Iterable[int]) -> array[int]:
    return array("i", sorted(entry for entry in found if entry != NONE))
