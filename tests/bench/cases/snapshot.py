"""One checkpoint of 2,000 messages, every value decoded."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from tests.bench.measure import compare, peak
from tests.bench.report import Row, at_most, seconds, size, times_faster
from tests.bench.stores.messages import THREAD, messages

NEWEST = """
    select type, checkpoint from checkpoints where thread_id = ? and checkpoint_ns = ''
    order by checkpoint_id desc limit 1
"""


def _stored(store: str) -> tuple[str, bytes]:
    with closing(sqlite3.connect(f"file:{store}?mode=ro&immutable=1", uri=True)) as connection:
        found: tuple[str, bytes] = connection.execute(NEWEST, (THREAD,)).fetchone()
    return found


def ours(store: str) -> Callable[[], object]:
    from retrograph.engine.model import Typed
    from retrograph.engine.serde import Serde

    typed = Typed(*_stored(store))
    serde = Serde()

    def call() -> object:
        value = serde.decode(typed)
        # A message is unpacked when it is looked at. Nothing else here is packed.
        for message in value["channel_values"]["messages"]:
            message.data  # noqa: B018
        return value

    return call


def fastest(store: str) -> Callable[[], object]:
    """What a decoder must do at least: unpack the map, and each extension's payload."""
    import ormsgpack

    _, data = _stored(store)

    def hook(code: int, payload: bytes) -> Any:
        return ormsgpack.unpackb(payload, ext_hook=hook, option=ormsgpack.OPT_NON_STR_KEYS)

    return lambda: ormsgpack.unpackb(data, ext_hook=hook, option=ormsgpack.OPT_NON_STR_KEYS)


def official(store: str) -> Callable[[], object]:
    import langchain_core.messages  # noqa: F401  # imports are not counted
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    typed = _stored(store)
    serde = JsonPlusSerializer()
    return lambda: serde.loads_typed(typed)


def snapshot(store: str) -> Callable[[], object]:
    """All of it: opening, finding, reading, its step, decoding."""
    from retrograph.engine.thread import Thread
    from retrograph.loaders.registry import open_source

    def call() -> object:
        with closing(open_source(store)) as loader:
            thread = Thread(loader, THREAD)
            return thread.snapshot("", thread.history.ids[thread.history.head()])

    return call


def rows(quick: bool) -> Iterator[Row]:
    store = messages(2_000, 400)
    calls = 5 if quick else 21
    yield at_most(
        "decoding a checkpoint of 2,000 messages; ormsgpack with a hook that only unpacks payloads",
        compare(ours, fastest, store, calls=calls, clock="cpu"),
        1.5,
        f"{size(peak(ours, store))}, {size(peak(fastest, store))}",
    )
    yield times_faster(
        "the same; JsonPlusSerializer.loads_typed",
        compare(ours, official, store, calls=calls, clock="cpu"),
        3,
        f"{size(peak(ours, store))}, {size(peak(official, store))}",
    )
    timing = compare(snapshot, ours, store, calls=calls, clock="cpu")
    yield Row(
        "that checkpoint as a Snapshot, from opening the file; decoding alone",
        seconds(timing.ours),
        seconds(timing.baseline),
        f"{timing.ratio:.2f} ×",
        "",
        None,
    )
