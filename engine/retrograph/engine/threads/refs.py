r"""References: how a person or a program names a checkpoint.

    REF    = THREAD | THREAD::NAMESPACE, then nothing (its head), ~N, or @POINT
    POINT  = the whole id | a unique END of an id | step:N | root, then ~N: N parents up

What is exactly a thread id is that thread; else the text is split at the last `@` that is not
written `\@`. The grammar is small, but thread ids may hold any of its signs, so reading one
needs to ask which threads there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from retrograph.engine.errors import RefError, UsageError
from retrograph.engine.history import NONE, History
from retrograph.engine.model import ROOT, CheckpointKey
from retrograph.engine.text import cut

_CLIMB = re.compile(r"~(\d{1,18})\Z")
_STEP = re.compile(r"step:(-?\d{1,18})\Z")
_UNESCAPED_AT = re.compile(r"(?<!\\)@")
_LISTED = 8  # candidates named in an error
_SHORTEST = 6  # characters of a short id


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference that has been read, but not yet looked up."""

    thread_id: str
    ns: str | None = None
    """`None`: not said, which is the root namespace, or for an id wherever it is."""
    point: str | None = None
    """What stands after the `@`, with its `~N`; `None`: the head."""
    up: int = 0
    """Parents to climb from the head."""


class Index(Protocol):
    """What a reference is looked up in."""

    def has(self, thread_id: str) -> bool:
        """Whether exactly this thread is there."""
        ...

    def history(self, thread_id: str) -> History: ...

    def steps(self, thread_id: str, some: Sequence[int]) -> Mapping[int, int | None]:
        """Steps as shown to people: of the metadata, else of the id."""
        ...

    def alike(self, thread_id: str) -> Sequence[str]:
        """A few ids of threads that may have been meant."""
        ...


def locate(text: str | None, index: Index, thread: str | None = None) -> CheckpointKey:
    """The checkpoint that `text` names; with `thread`, `text` may only say where in it.

    Raises `RefError` when it names nothing or more than one, `UsageError` when the two
    do not fit together.
    """
    ref = parse(text, index.has, thread)
    if not index.has(ref.thread_id):
        raise RefError(_no_thread(ref.thread_id, index.alike(ref.thread_id)))
    history = index.history(ref.thread_id)
    i = resolve(ref, history, lambda some: index.steps(ref.thread_id, some))
    return CheckpointKey(ref.thread_id, history.ns(i), history.ids[i])


def parse(text: str | None, has: Callable[[str], bool], thread: str | None = None) -> Ref:
    """Read a reference; `has` tells whether a thread of exactly that id is there."""
    if thread is not None:
        return _within(thread, text or "")
    if text is None:
        raise UsageError(
            "Which thread is meant is missing: give REF (a thread id, and @ with the end of a "
            "checkpoint id), or --thread."
        )
    if has(text):
        return Ref(text)
    readings = _readings(*_split(text))
    plain = readings[-1]
    # Where there is no such thread, an `@` may be the thread id's own: `me@home~1`.
    readings += _readings(text, None)
    return next((ref for ref in readings if has(ref.thread_id)), plain)


def _readings(before: str, point: str | None) -> list[Ref]:
    """What may be meant, likeliest first: all of `before` as a thread, then THREAD::NAMESPACE."""
    up = 0
    if point is None:
        before, up = _climb(before)
    readings = [Ref(_unescape(before), None, point, up)]
    name, separator, ns = before.partition("::")
    if separator:
        readings.append(Ref(_unescape(name), _unescape(ns), point, up))
    return readings


def _within(thread: str, text: str) -> Ref:
    if text == "" or _CLIMB.fullmatch(text):
        return Ref(thread, up=_climb(text)[1])
    if text.startswith("@"):
        return Ref(thread, point=text[1:])
    if text.startswith("::"):
        before, point = _split(text[2:])
        up = 0
        if point is None:
            before, up = _climb(before)
        return Ref(thread, _unescape(before), point, up)
    raise UsageError(
        f"With --thread, REF only says where in the thread: @…, ::NAMESPACE@…, ~N, or nothing; "
        f"{_quoted(text)} is none of them."
    )


def _split(text: str) -> tuple[str, str | None]:
    last = None
    for last in _UNESCAPED_AT.finditer(text):  # noqa: B007
        pass
    return (text, None) if last is None else (text[: last.start()], text[last.end() :])


def _climb(text: str) -> tuple[str, int]:
    found = _CLIMB.search(text)
    return (text[: found.start()], int(found[1])) if found else (text, 0)


def _unescape(text: str) -> str:
    return text.replace("\\@", "@")


Steps: TypeAlias = Callable[[Sequence[int]], Mapping[int, int | None]]
"""Tells the steps of some checkpoints."""


def resolve(ref: Ref, history: History, steps: Steps) -> int:
    """The checkpoint of `history` that `ref` names."""
    if ref.ns is not None and not history.span(ref.ns):
        raise RefError(no_namespace(ref.thread_id, ref.ns, history))
    if ref.point is None:
        i, up = _head(ref, history), ref.up
    else:
        i, up = _at(ref, ref.point, history, steps)
    return _ancestor(ref, history, i, up)


def _head(ref: Ref, history: History) -> int:
    head = history.head(ref.ns or ROOT)
    if head == NONE and ref.ns is None:
        heads = [history.head(ns) for ns in history.namespaces()]
        head = max(heads, key=history.ids.__getitem__, default=NONE)
    if head == NONE:
        raise RefError(f"No checkpoint of thread {_quoted(ref.thread_id)} can be read.")
    return head


def _at(ref: Ref, point: str, history: History, steps: Steps) -> tuple[int, int]:
    """(checkpoint, parents to climb). The whole id wins over what else the text could mean."""
    if point and (found := _whole(ref, point, history)) != NONE:
        return found, 0
    point, up = _climb(point)
    if not point:
        raise RefError(
            "Nothing stands after the @: give the end of a checkpoint id, step:N, or root."
        )
    if (found := _whole(ref, point, history)) != NONE:
        return found, up
    main = history.span(ref.ns or ROOT)
    if point == "root":
        return _only(ref, point, history.roots(ref.ns or ROOT), history), up
    if numbered := _STEP.fullmatch(point):
        wanted = int(numbered[1])
        # The step of the id is off by one in copies: ask about its neighbours too.
        near = [i for i in main if (s := history.step(i)) is None or abs(s - wanted) <= 1]
        known = steps(near)
        return _only(ref, point, [i for i in near if known.get(i) == wanted], history), up
    where = main if ref.ns is not None else range(len(history))
    ids = history.ids
    found_ends = [i for i in where if ids[i].endswith(point)]
    if len(found_ends) > 1 and len({ids[i] for i in found_ends}) == 1:
        return _whole(ref, ids[found_ends[0]], history), up
    return _only(ref, point, found_ends, history), up


def _whole(ref: Ref, point: str, history: History) -> int:
    """The checkpoint of exactly this id: of the namespace said, else of the root, else of the
    only other one that has it."""
    if ref.ns is not None:
        return history.find(ref.ns, point)
    found = [i for ns in history.namespaces() if (i := history.find(ns, point)) != NONE]
    if len(found) > 1 and history.ns(found[0]) != ROOT:
        return _only(ref, point, found, history)
    return found[0] if found else NONE


def _only(ref: Ref, point: str, found: Sequence[int], history: History) -> int:
    if len(found) == 1:
        return found[0]
    where = f"thread {_quoted(ref.thread_id)}" + (f" in {_quoted(ref.ns)}" if ref.ns else "")
    if not found:
        raise RefError(
            f"No checkpoint of {where} is {_quoted('@' + point)}: give the end of an id as `tree` "
            "shows it, step:N, or root."
        )
    listed = ", ".join(_candidate(history, i) for i in found[:_LISTED])
    more = f", … {len(found) - _LISTED:,} more" if len(found) > _LISTED else ""
    by_id = point != "root" and not _STEP.fullmatch(point)
    hint = "give more of the id." if by_id else "give the end of one of these ids."
    raise RefError(
        f"{_quoted('@' + point)} is {len(found):,} checkpoints of {where}: {listed}{more}; {hint}"
    )


def _candidate(history: History, i: int) -> str:
    ns = history.ns(i)
    return f"::{ns}@{history.ids[i]}" if ns else history.ids[i]


def _ancestor(ref: Ref, history: History, i: int, up: int) -> int:
    start = i
    for climbed in range(up):
        above = history.parent(i)
        if above == NONE:
            gone = history.parent_id(i)
            why = f"; the next, {gone}, is not in the store" if gone else ""
            raise RefError(
                f"~{up} goes beyond the root: {history.ids[start]} has {climbed:,} "
                f"parent{'' if climbed == 1 else 's'}{why}."
            )
        i = above
    return i


def no_namespace(thread_id: str, ns: str, history: History) -> str:
    """A sentence: there is no such namespace, but these."""
    names = [ns for ns in history.namespaces() if ns]
    if not names:
        return f"Thread {_quoted(thread_id)} has no namespace {_quoted(ns)}: it has no sub-graphs."
    listed = ", ".join(_quoted(ns) for ns in names[:_LISTED])
    more = f", … {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return f"Thread {_quoted(thread_id)} has no namespace {_quoted(ns)}; it has {listed}{more}."


def _no_thread(thread_id: str, alike: Sequence[str]) -> str:
    hint = f"; did you mean {' or '.join(_quoted(a) for a in alike)}?" if alike else "."
    return f"There is no thread {_quoted(thread_id)}{hint}"


def _quoted(text: str) -> str:
    return f"'{cut(text, 80)}'"


def written(key: CheckpointKey, end: str | None = None) -> str:
    """The reference that names `key`, with the whole id, or with `end` of it."""
    name = key.thread_id.replace("@", "\\@")
    ns = "::" + key.ns.replace("@", "\\@") if key.ns else ""
    return f"{name}{ns}@{end or key.id}"


def short_length(ids: Iterable[str]) -> int:
    """How many characters at the end of each id are enough to tell all of them apart.

    At least 6, so that references stay good while a thread grows.
    """
    distinct = set(ids)
    longest = max(map(len, distinct), default=_SHORTEST)
    length = _SHORTEST
    while length < longest and len({i[-length:] for i in distinct}) < len(distinct):
        length += 1
    return length
