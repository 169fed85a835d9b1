"""Histories in few words for tests of pictures: `a b<a c<a sub:1/d` are checkpoints with parents;
what stands before a `/` is a namespace."""

from __future__ import annotations

from textwrap import dedent

from retrograph.engine.history import NONE, History
from retrograph.engine.model import IndexRow
from retrograph.engine.tree.lanes import UNICODE, Glyphs, Layout


def history(words: str) -> History:
    rows = []
    for word in words.split():
        name, _, parent = word.partition("<")
        ns, _, checkpoint_id = name.rpartition("/")
        rows.append(IndexRow(ns, checkpoint_id, parent or None, 1))
    return History.build("t", [sorted(rows, key=lambda row: row[:2])])


def owned_by(tree: History, words: str) -> dict[int, int]:
    """`d<b e<sub:1/d`: during which checkpoint each one ran, by ids that are unique."""
    places = {checkpoint_id: i for i, checkpoint_id in enumerate(tree.ids)}
    found = {}
    for word in words.split():
        of, _, owner = word.partition("<")
        found[places[of]] = places[owner]
    return found


def picture(
    tree: History, layout: Layout, glyphs: Glyphs = UNICODE, limit: int | None = None
) -> str:
    """Prefix and checkpoint id a row; a header is its namespace in brackets."""
    lines = []
    for entry in range(len(layout)):
        i, group = layout.checkpoint(entry), layout.group(entry)
        name = tree.ids[i] if group == NONE else f"[{layout.groups[group].ns}]"
        lines.append((layout.prefix(entry, glyphs, limit) + name).rstrip())
    return "\n".join(lines)


def lines(text: str) -> str:
    return dedent(text).strip("\n")
