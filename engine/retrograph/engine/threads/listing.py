"""Which threads a list shows: filters that the index can answer, and those that need each head.

Search and age are asked of the source. Status and metadata stand in the head of each thread, so
these are looked at page by page, in the order of the list, until enough are found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from retrograph.engine.errors import UsageError
from retrograph.engine.ids import first_id_at, time_of
from retrograph.engine.model import Loader, ThreadQuery
from retrograph.engine.text import cut
from retrograph.engine.threads.status import ThreadInfo, describe_all

STATUSES = ("done", "interrupted", "error", "unfinished")

_PAGE = 64
_LARGEST_PAGE = 16_384

_SPAN = re.compile(r"(\d{1,9})\s*(s|sec|m|min|h|d|w)")
_SECONDS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class ThreadFilter:
    """What a thread must be like to be listed."""

    status: str | None = None
    node: str | None = None
    """A node that is due and has no output yet."""
    where: Mapping[str, str] = field(default_factory=dict)
    """Metadata of the head: key to the value as text (or as JSON)."""
    search: str | None = None
    """Text in the thread id; case is ignored."""
    since: datetime | None = None
    """Of the last activity. Threads whose ids tell no time are then left out."""
    sizes: bool = False

    @property
    def needs_heads(self) -> bool:
        return self.status is not None or self.node is not None or bool(self.where)


def find_threads(
    loader: Loader,
    wanted: ThreadFilter,
    limit: int | None,
    looked_at: Callable[[int], None] = lambda count: None,
) -> Iterator[ThreadInfo]:
    """Threads that fit, newest activity first, at most `limit`. `looked_at` is told how many
    have been looked at so far."""
    seen: set[str] = set()
    found = looked = 0
    page = _LARGEST_PAGE if limit is None else _PAGE if wanted.needs_heads else limit
    offset = 0
    while limit is None or found < limit:
        # Each page is read anew, so pages grow, and what a writer moved meanwhile is met once.
        rows = list(loader.threads(_query(wanted, page, offset)))
        fresh = [row for row in rows if row.thread_id not in seen]
        if wanted.since is not None:
            fresh = [row for row in fresh if _since(row.last_id, wanted.since)]
        seen.update(row.thread_id for row in rows)
        for number, info in enumerate(describe_all(loader, fresh), start=looked + 1):
            looked_at(number)
            if _fits(info, wanted):
                yield info
                found += 1
                if found == limit:
                    return
        looked += len(fresh)
        if len(rows) < page:
            return
        offset += len(rows)
        page = min(page * 2, _LARGEST_PAGE)


def _query(wanted: ThreadFilter, limit: int, offset: int) -> ThreadQuery:
    return ThreadQuery(
        limit=limit,
        offset=offset,
        search=wanted.search,
        since_id=first_id_at(wanted.since) if wanted.since is not None else None,
        sizes=wanted.sizes,
    )


def _since(last_id: str, since: datetime) -> bool:
    when = time_of(last_id)
    return when is not None and when >= since


def _fits(info: ThreadInfo, wanted: ThreadFilter) -> bool:
    if wanted.status is not None and info.status != wanted.status:
        return False
    if wanted.node is not None and wanted.node not in info.next:
        return False
    return all(
        key in info.metadata and _is(info.metadata[key], text) for key, text in wanted.where.items()
    )


def _is(value: Any, text: str) -> bool:
    """Whether a scalar is what was typed: the same text, or the same JSON."""
    if isinstance(value, str):
        return value == text
    try:
        typed = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return type(typed) is type(value) and bool(typed == value)


def parse_where(texts: list[str]) -> dict[str, str]:
    """`KEY=VALUE` of each. Raises `UsageError` where there is no `=`."""
    where = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UsageError(f"--where takes KEY=VALUE, not '{cut(text, 80)}'.")
        where[key] = value
    return where


def parse_since(text: str, now: datetime) -> datetime:
    """A moment: `90s`, `30min`, `1h`, `2d`, `1w` before `now`, or an ISO 8601 date or time (local
    where it names no zone). Raises `UsageError` for anything else."""
    try:
        if span := _SPAN.fullmatch(text.strip()):
            return now - timedelta(seconds=int(span[1]) * _SECONDS[span[2]])
        return datetime.fromisoformat(text.strip()).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"'{cut(text, 40)}' is no time: give 30min, 1h, 2d, or a date such as 2026-01-31."
        ) from None
