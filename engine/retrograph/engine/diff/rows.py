"""A diff as rows to look at: what changed in its place, what did not folded away.

      messages                          open: something inside changed
        … 3 unchanged                   fold
        [3]                             open
      -   content  "The parcel is …"    replace: the old side,
      +   content  "The parcel was …"   and the new one
      + [4]  AIMessage …                add
      > [5]  from [1]                   move
      - draft  "…"                      remove
      … 12 unchanged

The rows are the same for one column (`unified`: a replaced value takes two lines) and for two
(`DiffRow.old` left, `DiffRow.new` right, `ABSENT` where a side is empty). They hold values, not
text: a screen draws what is in sight, and asks `change.words()` there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from retrograph.engine.diff.changes import Change, Path
from retrograph.engine.diff.facing import facing
from retrograph.engine.text import escape
from retrograph.engine.values import ABSENT, Delta, SetValue, Value

Kind = Literal["open", "same", "fold", "add", "remove", "replace", "move"]


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One row."""

    kind: Kind
    depth: int
    label: str
    """The key (escaped), or the position as `[3]`; "" for the whole value and for folds."""
    path: Path
    """In the new value; of a removal, in the old one; of a fold, of what holds it and the first
    key that it hides."""
    old: Value = ABSENT
    new: Value = ABSENT
    change: Change | None = None
    hidden: int = 0
    """Entries that a fold stands for."""
    was: str = ""
    """Where a moved item stood: `[1]`."""


class Line(NamedTuple):
    """One line of the unified form."""

    sign: Literal[" ", "-", "+", ">", "…"]
    row: DiffRow
    value: Value
    """What stands in the line; `ABSENT` for folds."""


class _Entry(NamedTuple):
    """A child of something that has changed."""

    label: str
    path: Path
    old: Value
    new: Value
    change: Change | None
    """The addition, removal or replacement of all of it."""
    move: Change | None
    inside: list[Change]
    """Changes further down."""


def diff_rows(
    old: Value,
    new: Value,
    changes: Sequence[Change],
    context: int = 0,
    unfold: Collection[Path] = (),
) -> list[DiffRow]:
    """Rows for the changes that `diff(old, new)` gave.

    `context`: how many unchanged entries stay in sight before and after each change. `unfold`:
    paths of folds that are to be open. A single unchanged entry is never folded.
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        old, new = dict(old), dict(new)
    painter = _Rows(context, frozenset(unfold))
    whole = [change for change in changes if not change.path]
    if whole:
        return [DiffRow("replace", 0, "", (), old, new, whole[0])]
    painter.entries(old, new, list(changes), 0, ())
    return painter.rows


def unified(rows: Iterable[DiffRow]) -> Iterator[Line]:
    """The rows as lines of one column, the removed before the added."""
    for row in rows:
        if row.kind == "replace":
            yield Line("-", row, row.old)
            yield Line("+", row, row.new)
        elif row.kind == "remove":
            yield Line("-", row, row.old)
        elif row.kind == "add":
            yield Line("+", row, row.new)
        elif row.kind == "move":
            yield Line(">", row, row.new)
        elif row.kind == "fold":
            yield Line("…", row, ABSENT)
        else:
            yield Line(" ", row, row.new)


class _Rows:
    def __init__(self, context: int, unfold: frozenset[Path]) -> None:
        self.rows: list[DiffRow] = []
        self._context = context
        self._unfold = unfold

    def entries(
        self, old: Value, new: Value, changes: list[Change], depth: int, path: Path
    ) -> None:
        """Rows of everything in two values that face each other."""
        parts = facing(old, new)
        if parts is None:
            return
        shape, x, y = parts
        if shape == "map":
            entries = _map_entries(x, y, changes, len(path), path)
        elif shape == "set":
            entries = _set_entries(x, y, changes, path)
        elif shape == "delta":
            entries = _map_entries(_delta(x), _delta(y), changes, len(path), path)
        else:
            entries = _list_entries(x, y, changes, len(path), path)
        same: list[_Entry] = []
        first = True
        for entry in entries:
            if entry.change is None and entry.move is None and not entry.inside:
                same.append(entry)
                continue
            self._unchanged(same, depth, path, first, last=False)
            same, first = [], False
            self._entry(entry, depth)
        self._unchanged(same, depth, path, first, last=True)

    def _entry(self, entry: _Entry, depth: int) -> None:
        label, path, old, new, change, move, inside = entry
        if move is not None:
            was = f"[{(move.old_path or (0,))[-1]}]"
            self.rows.append(DiffRow("move", depth, label, path, old, new, move, was=was))
        elif change is not None:
            self.rows.append(DiffRow(change.op, depth, label, path, old, new, change))
            return
        else:
            self.rows.append(DiffRow("open", depth, label, path, old, new))
        if change is not None:  # it was replaced after it had moved
            self.rows.append(DiffRow("replace", depth + 1, label, path, old, new, change))
        elif inside:
            self.entries(old, new, inside, depth + 1, path)

    def _unchanged(
        self, same: list[_Entry], depth: int, path: Path, first: bool, last: bool
    ) -> None:
        if not same:
            return
        before = 0 if first else self._context
        after = 0 if last else self._context
        hidden = same[before : len(same) - after]
        if len(hidden) < 2 or hidden[0].path in self._unfold:
            before, hidden = len(same), []
        self.rows += [_same(entry, depth) for entry in same[:before]]
        if hidden:
            at = hidden[0].path
            self.rows.append(DiffRow("fold", depth, "", at, hidden=len(hidden)))
            self.rows += [_same(entry, depth) for entry in same[len(same) - after :]]


def _same(entry: _Entry, depth: int) -> DiffRow:
    return DiffRow("same", depth, entry.label, entry.path, entry.old, entry.new)


def _delta(value: Delta) -> dict[str, Value]:
    snapshot = {} if value.snapshot is ABSENT else {"snapshot": value.snapshot}
    return {**snapshot, "writes": list(value.writes)}


def _name(key: Any) -> tuple[str, str]:
    return type(key).__name__, repr(key)


def _map_entries(
    x: dict[Any, Value], y: dict[Any, Value], changes: list[Change], depth: int, path: Path
) -> Iterator[_Entry]:
    here: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        here.setdefault(_name(change.path[depth]), []).append(change)
    new_keys = {_name(key): key for key in y}
    for key, old in x.items():
        own = here.get(_name(key), [])
        there = new_keys.get(_name(key), ABSENT)
        if there is ABSENT:
            yield _Entry(escape(str(key)), (*path, key), old, ABSENT, own[0], None, [])
        else:
            yield _entry(escape(str(key)), (*path, there), old, y[there], own, depth)
    for key, new in y.items():
        own = here.get(_name(key), [])
        if own and own[0].op == "add" and len(own[0].path) == depth + 1:
            yield _Entry(escape(str(key)), (*path, key), ABSENT, new, own[0], None, [])


def _entry(label: str, path: Path, old: Value, new: Value, own: list[Change], depth: int) -> _Entry:
    """An entry that is on both sides, with the changes that belong to it."""
    move = whole = None
    inside = []
    for change in own:
        if len(change.path) > depth + 1:
            inside.append(change)
        elif change.op == "move":
            move = change
        else:
            whole = change
    return _Entry(label, path, old, new, whole, move, inside)


def _set_entries(x: SetValue, y: SetValue, changes: list[Change], path: Path) -> Iterator[_Entry]:
    gone = {change.path[-1]: change for change in changes if change.op == "remove"}
    come = {change.path[-1]: change for change in changes if change.op == "add"}
    for i, item in enumerate(x.items):
        if i in gone:
            yield _Entry("", (*path, i), item, ABSENT, gone[i], None, [])
    for j, item in enumerate(y.items):
        if j in come:
            yield _Entry("", (*path, j), ABSENT, item, come[j], None, [])
        else:
            yield _Entry("", (*path, j), item, item, None, None, [])


def _list_entries(
    x: Sequence[Value], y: Sequence[Value], changes: list[Change], depth: int, path: Path
) -> Iterator[_Entry]:
    gone: dict[int, Change] = {}
    come: dict[int, Change] = {}
    moved: dict[int, int] = {}
    by_new: dict[int, list[Change]] = {}
    by_old: dict[int, list[Change]] = {}
    for change in changes:
        here = len(change.path) == depth + 1
        if here and change.op == "remove":
            gone[change.path[depth]] = change
        elif here and change.op == "add":
            come[change.path[depth]] = change
        elif change.new_path is not None:
            by_new.setdefault(change.new_path[depth], []).append(change)
            if here and change.op == "move" and change.old_path is not None:
                moved[change.path[depth]] = change.old_path[depth]
        elif change.old_path is not None:
            by_old.setdefault(change.old_path[depth], []).append(change)
    left = set(moved.values())
    i = 0
    for j in range(len(y) + 1):
        # What was removed stands before what stands there now.
        while i < len(x) and (i in gone or i in left):
            if i in gone:
                yield _Entry(f"[{i}]", (*path, i), x[i], ABSENT, gone[i], None, [])
            i += 1
        if j == len(y):
            return
        if j in come:
            yield _Entry(f"[{j}]", (*path, j), ABSENT, y[j], come[j], None, [])
            continue
        was = moved.get(j, i)
        i += j not in moved
        own = [*by_new.get(j, ()), *by_old.get(was, ())]
        yield _entry(f"[{j}]", (*path, j), x[was], y[j], own, depth)
