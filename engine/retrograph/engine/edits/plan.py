"""From what a person asks for to new values of whole channels."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

from retrograph.engine.edits.change import put, remove
from retrograph.engine.edits.toolcalls import broken_calls
from retrograph.engine.errors import DecodeError, RefError, UsageError
from retrograph.engine.host.requests import Edit
from retrograph.engine.paths import Path, parse
from retrograph.engine.serde import Serde
from retrograph.engine.thread import Snapshot
from retrograph.engine.values import ABSENT, Delta, Value, equal, from_json

INPUT: Final = "__start__"
_UNSAID: Any = object()


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asks for, as words of a call or as parsed JSON."""

    sets: Sequence[str] = ()
    """`PATH=JSON`; a bare word is text."""
    deletes: Sequence[str] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    """Whole channels, as JSON: a file's, or an editor's."""
    reduce: Sequence[str] = ()
    """Channels whose value goes through the reducer."""
    input: Any = _UNSAID
    """A whole input, as JSON."""

    @property
    def has_input(self) -> bool:
        return self.input is not _UNSAID

    @property
    def nothing(self) -> bool:
        return not (self.sets or self.deletes or self.values or self.has_input)


@dataclass(frozen=True, slots=True)
class Plan:
    """The edits of one checkpoint."""

    edits: Sequence[Edit]
    before: Mapping[str, Value]
    """The edited channels as they are; of a pending input, its parts."""
    after: Mapping[str, Value]
    """As they shall be; absent: emptied, or left to a reducer."""
    pending_input: bool
    """Whether what is edited is an input that has not been taken in."""
    warnings: Sequence[str] = ()


def plan_edits(
    snapshot: Snapshot, asked: Asked, serde: Serde, whole: Callable[[str], Value]
) -> Plan:
    """Work out the edits. At an input checkpoint they go into the pending input.

    `whole` gives a DeltaChannel's folded value, which takes the graph. Raises `UsageError` and
    `RefError` where a path leads nowhere or a value is malformed, `DecodeError` where one cannot
    be stored.
    """
    pending = snapshot.internal.get(INPUT, ABSENT)
    if pending is not ABSENT:
        return _plan_input(pending, asked, serde)
    if asked.has_input:
        raise UsageError("There is no pending input here to be replaced.")
    return _plan_state(snapshot, asked, serde, whole)


def _plan_input(pending: Value, asked: Asked, serde: Serde) -> Plan:
    if asked.reduce:
        raise UsageError(
            "A pending input goes through the reducers anyway when it is taken in: leave out "
            "--reduce."
        )
    made = pending
    if asked.has_input:
        made = from_json(asked.input, like=pending)
    for name, value in asked.values.items():
        made = put(made, (name,), value)
    for path, value in _sets(asked.sets):
        made = put(made, path, value)
    for text in asked.deletes:
        made = remove(made, parse(text))
    return Plan(
        edits=[Edit(INPUT, "set", serde.encode(made))],
        before=_parts(pending),
        after=_parts(made),
        pending_input=True,
        warnings=list(broken_calls(_parts(pending), _parts(made))),
    )


def _parts(value: Value) -> Mapping[str, Value]:
    return value if isinstance(value, dict) else {"input": value}


def _plan_state(
    snapshot: Snapshot, asked: Asked, serde: Serde, whole: Callable[[str], Value]
) -> Plan:
    state = _State(snapshot, whole)
    reduced: dict[str, Value] = {}
    for name, value in asked.values.items():
        if name in asked.reduce:
            reduced[name] = from_json(value)
        else:
            state.put((name,), value)
    for path, value in _sets(asked.sets):
        if path[0] not in asked.reduce:
            state.put(path, value)
        elif len(path) == 1:
            reduced[str(path[0])] = from_json(value)
        else:
            raise UsageError(
                f"What goes through the reducer of '{path[0]}' is a whole update, not a part of "
                "its value: --set the channel itself, or leave out --reduce."
            )
    for text in asked.deletes:
        state.remove(_path(text))
    for name in asked.reduce:
        if name not in reduced:
            raise UsageError(f"--reduce {name}: there is no --set {name}=… to go through it.")
    edits = [Edit(name, "set", _encoded(name, v, serde)) for name, v in state.changed.items()]
    edits += [Edit(name, "reduce", _encoded(name, v, serde)) for name, v in reduced.items()]
    names = [*state.changed, *reduced]
    after = {name: v for name, v in state.changed.items() if v is not ABSENT}
    before = {name: value for name in names if (value := state.stood(name)) is not ABSENT}
    return Plan(
        edits=edits,
        before=before,
        after=after,
        pending_input=False,
        warnings=list(broken_calls(before, after)),
    )


def _encoded(name: str, value: Value, serde: Serde) -> Any:
    if value is ABSENT:
        return None
    try:
        return serde.encode(value)
    except DecodeError as error:
        raise DecodeError(f"The new value of '{name}' cannot be stored. {error}") from error


class _State:
    """The channels while they are edited."""

    def __init__(self, snapshot: Snapshot, whole: Callable[[str], Value]) -> None:
        self._snapshot = snapshot
        self._whole = whole
        self._folded: dict[str, Value] = {}
        self.changed: dict[str, Value] = {}
        """By channel; `ABSENT`: emptied."""

    def stood(self, name: str) -> Value:
        value = self._snapshot.values.get(name, ABSENT)
        if isinstance(value, Delta):
            if name not in self._folded:
                self._folded[name] = self._whole(name)
            return self._folded[name]
        return value

    def put(self, path: Path, new: Any) -> None:
        name = str(path[0])
        old = self.changed.get(name, self.stood(name))
        if len(path) == 1:
            self.changed[name] = from_json(new, like=old)
            return
        self.changed[name] = put(self._there(name, old), path[1:], new)

    def remove(self, path: Path) -> None:
        name = str(path[0])
        old = self._there(name, self.changed.get(name, self.stood(name)))
        self.changed[name] = ABSENT if len(path) == 1 else remove(old, path[1:])

    def _there(self, name: str, value: Value) -> Value:
        if value is not ABSENT:
            return value
        known = list(self._snapshot.values)
        near = get_close_matches(name, known, 1, 0.6)
        has = ", ".join(known) or "none"
        hint = f"did you mean '{near[0]}'?" if near else f"it has: {has}."
        raise RefError(f"There is no channel '{name}' at this checkpoint; {hint}")


def differing(old: Mapping[str, Value], new: Mapping[str, Value]) -> list[str]:
    """Channels whose values are not the same."""
    return [n for n in {**old, **new} if not equal(old.get(n, ABSENT), new.get(n, ABSENT))]


def _sets(texts: Iterable[str]) -> list[tuple[Path, Any]]:
    return [_set(text) for text in texts]


_EQUALS = re.compile(r"""(?:[^=\[]|\[(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\]]*)\])*=""")


def _set(text: str) -> tuple[Path, Any]:
    """`PATH=JSON`; an `=` inside a quoted key is the path's own."""
    found = _EQUALS.match(text)
    if found is None:
        raise UsageError(f"--set takes PATH=JSON, and {text!r} has no '='.")
    return _path(found[0][:-1]), json_or_word(text[found.end() :], f"--set {found[0][:-1]}")


def _path(text: str) -> Path:
    path = parse(text)
    if not path:
        raise UsageError("A path begins with the name of a channel.")
    return path


def json_or_word(text: str, where: str) -> Any:
    """JSON, or a bare word as text. Raises `UsageError` for what begins like JSON and is none."""
    try:
        return json.loads(text)
    except ValueError as error:
        if text.strip()[:1] in ("", "{", "[", '"'):
            raise UsageError(f"The value of {where} is not valid JSON: {error}.") from error
    return text
