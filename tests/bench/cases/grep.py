"""Searching a long thread whose messages grow: in each checkpoint most is what was before."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

from tests.bench.measure import compare, peak
from tests.bench.report import Row, at_most, seconds, size
from tests.bench.stores.growing import MESSAGE_EVERY, THREAD, growing

LIMIT = 3
_MESSAGE = 300
"""Bytes by which a checkpoint with one more message is larger, at least."""
PLAIN = """
    select checkpoint from checkpoints where thread_id = ? order by checkpoint_ns, checkpoint_id
"""


def _search(store: str, pattern: str, expected: int, regex: bool = False) -> Callable[[], object]:
    from retrograph.engine.search.grep import Grep
    from retrograph.engine.search.needle import Needle
    from retrograph.engine.thread import Thread
    from retrograph.loaders.registry import open_source

    def call() -> object:
        with closing(open_source(store)) as loader:
            hits = list(Grep(Needle(pattern, regex)).thread(Thread(loader, THREAD)))
        assert len(hits) == expected, len(hits)
        return hits

    return call


def everywhere(store: str, messages: str) -> Callable[[], object]:
    return _search(store, "lazy dog", int(messages))


def nowhere(store: str, messages: str) -> Callable[[], object]:
    return _search(store, "lazy cat", 0)


def by_expression(store: str, messages: str) -> Callable[[], object]:
    return _search(store, "la[sz]y.dog", int(messages), regex=True)


def each_value_once(store: str, messages: str) -> Callable[[], object]:
    """Reading all checkpoints, and decoding each value of `messages` once: those checkpoints of
    which it is known beforehand that they have a new one."""
    import ormsgpack

    def hook(code: int, payload: bytes) -> object:
        return ormsgpack.unpackb(payload, ext_hook=hook, option=ormsgpack.OPT_NON_STR_KEYS)

    def call() -> object:
        decoded, size = 0, 0
        with closing(sqlite3.connect(f"file:{store}?mode=ro&immutable=1", uri=True)) as connection:
            for (body,) in connection.execute(PLAIN, (THREAD,)):
                if size and len(body) - size > _MESSAGE:
                    ormsgpack.unpackb(body, ext_hook=hook, option=ormsgpack.OPT_NON_STR_KEYS)
                    decoded += 1
                size = len(body)
        assert decoded == int(messages), decoded
        return decoded

    return call


def each_message_once(store: str, messages: str) -> Callable[[], object]:
    """Reading all checkpoints, and decoding the last, which holds each message."""
    import ormsgpack

    def hook(code: int, payload: bytes) -> object:
        return ormsgpack.unpackb(payload, ext_hook=hook, option=ormsgpack.OPT_NON_STR_KEYS)

    def call() -> object:
        with closing(sqlite3.connect(f"file:{store}?mode=ro&immutable=1", uri=True)) as connection:
            body = b""
            for (body,) in connection.execute(PLAIN, (THREAD,)):  # noqa: B007
                pass
        value = ormsgpack.unpackb(body, ext_hook=hook, option=ormsgpack.OPT_NON_STR_KEYS)
        assert len(value["channel_values"]["messages"]) == int(messages)
        return value

    return call


def rows(quick: bool) -> Iterator[Row]:
    count = 1_000 if quick else 10_000
    store, messages = growing(count), count // MESSAGE_EVERY
    for what, side in (
        ("a text that every message holds", everywhere),
        ("a text that is nowhere", nowhere),
        ("a regular expression", by_expression),
    ):
        memory = f"{size(peak(side, store, messages))}, "
        memory += size(peak(each_value_once, store, messages))
        yield at_most(
            f"grep of {count:,} checkpoints with growing messages, {what}; reading them and "
            "decoding each distinct value once",
            compare(side, each_value_once, store, messages, rounds=3, clock="cpu"),
            LIMIT,
            memory,
        )
    timing = compare(everywhere, each_message_once, store, messages, rounds=3, clock="cpu")
    yield Row(
        "the first of these; reading them and decoding each message once, in one list",
        seconds(timing.ours),
        seconds(timing.baseline),
        f"{timing.ratio:.2f} ×",
        "",
        None,
    )
