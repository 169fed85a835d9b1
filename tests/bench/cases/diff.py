"""The changes between two states of 2,000 messages: one edited, one removed, one moved, one new,
and a changed number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from tests.bench.measure import compare, peak
from tests.bench.report import Row, seconds, times_faster
from tests.bench.stores.growing import TEXT

COUNT = 2_000
CHANGES = 5
LIMIT = 0.010
"""Seconds."""


def states() -> tuple[dict[str, Any], dict[str, Any]]:
    """As a graph holds them."""
    from tests.bench.stores.messages import _message

    old = [_message(number, TEXT) for number in range(COUNT)]
    new = list(old)
    new[700] = old[700].model_copy(update={"content": TEXT.upper()})
    new.append(new.pop(100))
    del new[1_400]
    new.append(_message(COUNT, TEXT))
    return {"messages": old, "total": 1.5}, {"messages": new, "total": 2.5}


@lru_cache(maxsize=1)
def stored() -> tuple[tuple[str, bytes], tuple[str, bytes]]:
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    old, new = (JsonPlusSerializer().dumps_typed(state) for state in states())
    return old, new


def ours() -> Callable[[], object]:
    """With the decoding, since a diff unpacks only what differs."""
    from retrograph.engine.diff.changes import diff
    from retrograph.engine.model import Typed
    from retrograph.engine.serde import Serde

    old, new = (Typed(*typed) for typed in stored())
    serde = Serde()

    def call() -> object:
        changes = diff(serde.decode(old), serde.decode(new))
        assert len(changes) == CHANGES, changes
        return changes

    return call


def plain() -> tuple[Any, Any]:
    """The states as dicts and lists, which any library can compare."""
    old, new = states()
    return _plain(old), _plain(new)


def _plain(state: dict[str, Any]) -> dict[str, Any]:
    return {**state, "messages": [message.model_dump() for message in state["messages"]]}


def ours_on_dicts() -> Callable[[], object]:
    from retrograph.engine.diff.changes import diff

    old, new = plain()
    assert len(diff(old, new)) == CHANGES
    return lambda: diff(old, new)


def deepdiff() -> Callable[[], object]:
    from deepdiff import DeepDiff

    old, new = plain()
    return lambda: DeepDiff(old, new)


def rows(quick: bool) -> Iterator[Row]:
    calls = 3 if quick else 9
    timing = compare(ours, deepdiff, calls=calls, rounds=2 if quick else 5, clock="cpu")
    memory = f"{peak(ours) / 1e6:.1f} MB, {peak(deepdiff) / 1e6:.1f} MB"
    yield times_faster(
        "decoding two states of 2,000 messages and telling their 5 changes; deepdiff on dicts",
        timing,
        100,
        memory,
    )
    yield Row(
        "the same, in seconds",
        seconds(timing.ours),
        "",
        "",
        f"≤ {seconds(LIMIT)}",
        timing.ours <= LIMIT,
    )
    timing = compare(ours_on_dicts, deepdiff, calls=calls, rounds=2 if quick else 3, clock="cpu")
    yield Row(
        "the same changes between plain dicts; deepdiff",
        seconds(timing.ours),
        seconds(timing.baseline),
        f"{1 / timing.ratio:.3g} × faster",
        "",
        None,
    )
