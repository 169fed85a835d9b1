"""Where a value of a thread holds a text: each place once, at the checkpoint where it begins.

A message that stays in the state for 500 checkpoints is one hit, not 500: a checkpoint's matches
are held against its parent's, and those that it has more are hits. So a text that was removed and
comes again is a hit again, and so is one on another branch.

Each distinct value is decoded once, and only if its bytes may hold the text. What is the same as
at the parent is told by comparing bytes (`serde.slices`), or by its version where it is not
stored as one piece of MessagePack; what was appended to a list is looked at by itself; messages
are known again by their bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from retrograph.engine.bulk import read_bodies
from retrograph.engine.history import NONE
from retrograph.engine.model import CheckpointKey, RawCheckpoint, Typed, WriteRow
from retrograph.engine.search.held import Held, Match, Values
from retrograph.engine.search.needle import Needle, texts
from retrograph.engine.thread import Thread
from retrograph.engine.views.redact import Redactor
from retrograph.engine.views.shown import shown_path

Where: TypeAlias = Literal["values", "questions", "errors"]

_ASKED = {"__interrupt__": "questions", "__error__": "errors"}

State: TypeAlias = "dict[str, Held]"
"""What each channel of a checkpoint holds."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A place that holds the text, at the checkpoint where it begins to."""

    thread_id: str
    ns: str
    id: str
    where: Where
    """In the state's values, in a question that a node asked there, or in an error."""
    path: tuple[object, ...]
    """In `values`; of a question inside what is asked."""
    text: str
    """All of the text that holds the match, redacted."""
    begin: int
    end: int
    """Of the first match in `text`."""
    cut: bool = False
    """Whether `text` is only a part, since the whole is very long."""


class Grep:
    """One search over any number of threads."""

    def __init__(
        self,
        needle: Needle,
        redactor: Redactor | None = None,
        looked_at: Callable[[int, int], None] = lambda checkpoints, hits: None,
    ) -> None:
        """What `redactor` hides is never matched. `looked_at` is told how many checkpoints have
        been searched so far, and how many hits there are."""
        self._needle = needle
        self._redactor = redactor or Redactor()
        self._looked_at = looked_at
        self.checkpoints = 0
        self.hits = 0
        self.unreadable = 0
        """Checkpoints that could not be read (encrypted, broken)."""

    def thread(
        self, thread: Thread, ns: str | None = None, line: Sequence[int] | None = None
    ) -> Iterator[Hit]:
        """Hits in all of a thread, in one namespace, or in the checkpoints of one line of it;
        by namespace, then oldest first."""
        history = thread.history
        if line is not None:
            ns = history.ns(line[0])
        for name in history.namespaces() if ns is None else [ns]:
            for hit in self._namespace(thread, name, line):
                self.hits += 1
                yield hit

    def _namespace(self, thread: Thread, ns: str, line: Sequence[int] | None) -> Iterator[Hit]:
        history = thread.history
        ids = None if line is None else [history.ids[i] for i in line]
        on_line = None if line is None else set(line)
        line_end = line[-1] if line else NONE
        said = self._said(thread, ns, ids)
        values = Values(thread, ns, self._needle, self._redactor)
        left: dict[int, tuple[State, int]] = {}
        for raw in read_bodies(thread.loader, thread.thread_id, ns, ids):
            i = history.find(ns, raw.key.id)
            if i == NONE or (on_line is not None and i not in on_line):
                continue  # written since the index was read
            parent = history.parent(i)
            before = _taken(left, parent)
            state = values.read(raw, history.ids[parent] if parent != NONE else None, before)
            if state is None:
                self.unreadable += 1
                # What it holds is not known: its children are not held against it, but against
                # what came before.
                state = before or {}
            else:
                yield from self._begun(raw, state, before or {})
            yield from said.pop(raw.key.id, ())
            children = len(history.children(i)) if on_line is None else int(i != line_end)
            if children:
                left[i] = (state, children)
            self.checkpoints += 1
            self._looked_at(self.checkpoints, self.hits)

    def _begun(self, raw: RawCheckpoint, state: State, before: State) -> Iterator[Hit]:
        for channel, held in state.items():
            was = before.get(channel)
            if held is was or not held.matches:
                continue
            for match in _more(held.matches, was.matches if was is not None else ()):
                yield self._hit(raw.key, "values", (channel, *match.path), match)

    def _said(self, thread: Thread, ns: str, ids: Sequence[str] | None) -> dict[str, list[Hit]]:
        """Hits in questions and errors, by checkpoint: they stand in the writes."""
        found: dict[str, list[Hit]] = {}
        for batch in thread.loader.writes(thread.thread_id, ns, ids):
            for row in batch:
                if row[5] in _ASKED and row[7] is not None:
                    hits = list(self._in_write(thread, WriteRow._make(row)))
                    if hits:
                        found.setdefault(row[1], []).extend(hits)
        return found

    def _in_write(self, thread: Thread, row: WriteRow) -> Iterator[Hit]:
        typed = Typed(row.type, row.head or b"")
        if typed.type == "msgpack" and not self._needle.may_hold(typed.data):
            return
        value = self._redactor.value(thread.serde.decode(typed))
        where: Where = "errors" if row.channel == "__error__" else "questions"
        items = value if where == "questions" and isinstance(value, list | tuple) else [value]
        for item in items:
            asked = _asked(item)
            for path, text in texts(asked):
                spot = self._needle.spot(text)
                if spot is not None:
                    key = CheckpointKey(thread.thread_id, row.ns, row.checkpoint_id)
                    yield self._hit(key, where, path, Match(path, text, *spot))

    def _hit(self, key: CheckpointKey, where: Where, path: tuple[object, ...], match: Match) -> Hit:
        shown = shown_path(path, self._redactor)
        place = (key.thread_id, key.ns, key.id, where, shown)
        return Hit(*place, match.text, match.begin, match.end, match.cut)


def _asked(item: Any) -> Any:
    """What a stored interrupt asks."""
    fields = item if isinstance(item, dict) else getattr(item, "fields", None)
    return fields["value"] if isinstance(fields, Mapping) and "value" in fields else item


def _taken(left: dict[int, tuple[State, int]], parent: int) -> State | None:
    """The state of the parent, forgotten where no other child waits for it."""
    if parent not in left:
        return None
    state, children = left[parent]
    if children == 1:
        del left[parent]
    else:
        left[parent] = (state, children - 1)
    return state


def _more(matches: tuple[Match, ...], before: tuple[Match, ...]) -> Iterator[Match]:
    """The matches that were not there before, however they moved; of equal ones the last."""
    if matches[: len(before)] == before:
        # The same ones, and more behind them.
        yield from matches[len(before) :]
        return
    known = Counter(match.mark for match in before)
    for match in matches:
        if known[match.mark] > 0:
            known[match.mark] -= 1
        else:
            yield match
