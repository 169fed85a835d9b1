"""Whether somebody has written to what is being looked at: cheap, and never more than it must be.

Every commit that writes anywhere in the cluster moves `txid_current_snapshot()`, which costs
nothing to read, on a standby too: as long as it stands still, nothing has changed. When it moves,
what was listed last is looked at: threads by the number of their rows and the transactions that
wrote them (exact; 8 ms for 10,000 checkpoints and 20,000 writes), the list of threads likewise
where the store is small. In a large one the list goes by the server's own counters, which may be
some seconds late; since reading such a list again is work, it is said to have changed so seldom
that the server spends little on it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from retrograph.loaders.postgres.layout import Layout
from retrograph.loaders.postgres.session import Reading, Row, Statement

_SNAPSHOT: Final[Statement] = ("SELECT txid_current_snapshot()::text", ())
_SMALL: Final = 16 << 20
"""Bytes of the tables up to which all rows are counted."""
_COUNTERS: Final = "counters "
_THREADS: Final = 3
"""Threads that are watched: the ones listed last."""
_REST: Final = 20
"""A list by counters rests for so many times of what it took."""


@dataclass(slots=True)
class _Scope:
    """A thread, or (`None`) the list of threads, as it was when it was last looked at."""

    thread_id: str | None
    snapshot: str
    """From before it was listed."""
    fingerprint: str | None = None
    """`None`: not looked at yet, or nothing that can be told."""
    rests_until: float = 0.0


class Watch:
    """Remembers what was listed, and how it looked."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._scopes: list[_Scope] = []
        self._snapshot: str | None = None
        self._seconds = 0.0
        self._following = False

    def before(self, thread_id: str | None) -> list[Statement]:
        """What to read before a listing, in the same transaction; `listed` takes the answers."""
        return [_SNAPSHOT, self._look(thread_id)] if self._following else [_SNAPSHOT]

    def listed(self, thread_id: str | None, answers: Sequence[Sequence[Row]]) -> None:
        """A thread or the list of threads is being shown from now on."""
        known = [scope for scope in self._scopes if scope.thread_id == thread_id]
        scope = known[0] if known else _Scope(thread_id, *(rows[0][0] for rows in answers))
        others = [other for other in self._scopes if other.thread_id != thread_id]
        lists = [other for other in others if other.thread_id is None]
        threads = [other for other in others if other.thread_id is not None]
        self._scopes = [*lists, *threads[1 - _THREADS :], scope]

    def took(self, seconds: float) -> None:
        """How long the last list of threads took."""
        self._seconds = seconds

    def changed(self, reading: Reading) -> bool:
        """Whether any of it has been written to since the last call."""
        self._following = True
        snapshot = reading.all(_SNAPSHOT)[0][0]
        moved = snapshot != self._snapshot
        # From before the looks: what is committed while they are taken is seen by the next call.
        self._snapshot = snapshot
        if not self._scopes:
            self._scopes = [_Scope(None, snapshot)]
        looked = [scope for scope in self._scopes if moved or self._unsure(scope)]
        if not looked:
            return False
        looks = [self._look(scope.thread_id) for scope in looked]
        *found, last = reading.several(*looks, _SNAPSHOT)
        changed = [
            self._compare(scope, rows[0][0], nothing_since=scope.snapshot == last[0][0])
            for scope, rows in zip(looked, found, strict=True)
        ]
        return any(changed)

    @staticmethod
    def _unsure(scope: _Scope) -> bool:
        return scope.fingerprint is None or scope.fingerprint.startswith(_COUNTERS)

    def _compare(self, scope: _Scope, found: str | None, *, nothing_since: bool) -> bool:
        before = scope.fingerprint
        if before is None:
            # How it looked when it was listed is known only if nothing at all was committed since.
            scope.fingerprint = found
            if found is None:
                scope.snapshot = self._snapshot or ""
            return not nothing_since
        if before == found:
            return False
        if before.startswith(_COUNTERS):
            if time.monotonic() < scope.rests_until:
                return False
            scope.rests_until = time.monotonic() + _REST * self._seconds
        scope.fingerprint = found
        return True

    def _look(self, thread_id: str | None) -> Statement:
        if not self._layout.stored_rows:
            return "SELECT NULL::text", ()
        tables = [r for r in self._layout.relations if r.name != "checkpoint_blobs"]
        where = "" if thread_id is None else " WHERE thread_id = %s"
        rows = ", ".join(
            f"(SELECT concat(count(*), ':', sum(xmin::text::bigint)) FROM {table.sql}{where})"
            for table in tables
        )
        if thread_id is not None:
            return f"SELECT concat_ws(' ', {rows})", (thread_id,) * len(tables)
        oids = [table.oid for table in tables]
        return (
            "SELECT CASE WHEN (SELECT sum(pg_relation_size(t.oid)) FROM unnest(%s::oid[]) "
            f"AS t(oid)) < {_SMALL} THEN concat_ws(' ', {rows}) "
            # A standby counts nothing of what it replays: NULL.
            f"ELSE '{_COUNTERS}' || (SELECT nullif(sum(pg_stat_get_tuples_inserted(t.oid) "
            "+ pg_stat_get_tuples_updated(t.oid) + pg_stat_get_tuples_deleted(t.oid)), 0) "
            "FROM unnest(%s::oid[]) AS t(oid) WHERE NOT pg_is_in_recovery()) END",
            (oids, oids),
        )
