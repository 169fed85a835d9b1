"""What every loader must do, as tests that each loader's test module inherits.

`StoreContract` holds for any store, whatever is in it: it needs the fixture `store`.
`LoaderContract` adds what must come out of the content that `loaders.fill` puts in through the
backend's own saver. A backend's module provides

    @pytest.fixture(scope="class")
    @classmethod
    def store(cls) -> Store          # filled by `fill(…)`

and inherits `LoaderContract`. All tests of a class share the store, and only add to it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pytest

from loaders import content
from retrograph.engine.errors import Cancelled, RefError
from retrograph.engine.model import (
    CheckpointKey,
    Loader,
    ReadsBodies,
    ReadsHeads,
    ReadsNewest,
    ThreadQuery,
    ThreadRow,
    WriteRow,
)
from retrograph.engine.serde import Serde, decode_metadata, envelope

ALL = ThreadQuery(limit=None)
CONTROL = {"__interrupt__", "__error__", "__resume__", "__error_source_node__"}


@dataclass
class Store:
    """A store to be tested."""

    open: Callable[[], Loader]
    append: Callable[[int], None] | None = None
    """Adds `content.appended(n)` as another process would."""
    fingerprint: Callable[[], object] = lambda: None
    """Whatever must not change by reading: bytes and names of files, statistics of a server."""
    odd_ids: tuple[str, ...] = content.ODD_IDS
    """The thread ids that this backend can store."""


def flat(batches: Any) -> list[Any]:
    return list(chain.from_iterable(batches))


def thread_ids(loader: Loader, limit: int | None = None) -> list[str]:
    return [row.thread_id for row in loader.threads(ThreadQuery(limit=limit))]


def everything(loader: Loader, thread_id: str) -> tuple[Any, ...]:
    """One thread by every method, for comparisons."""
    rows = flat(loader.rows(thread_id))
    keys = [CheckpointKey(thread_id, row[0], row[1]) for row in rows[:50]]
    return (
        loader.thread(thread_id),
        rows,
        flat(loader.writes(thread_id)),
        flat(loader.envelopes(thread_id)),
        loader.details(keys),
        [loader.read(key) for key in keys],
    )


class StoreContract:
    """Invariants of any store."""

    @pytest.fixture
    def loader(self, store: Store) -> Any:
        loader = store.open()
        yield loader
        loader.close()

    def test_says_what_it_is(self, loader: Loader) -> None:
        assert loader.name
        assert loader.location
        assert loader.read_only is True
        assert loader.warnings == []

    def test_threads_newest_first_and_each_once(self, loader: Loader) -> None:
        rows = list(loader.threads(ALL))
        assert rows
        assert [r.last_id for r in rows] == sorted((r.last_id for r in rows), reverse=True)
        assert len({r.thread_id for r in rows}) == len(rows)

    def test_pages_of_threads_are_the_whole_list(self, loader: Loader) -> None:
        whole = list(loader.threads(ALL))
        pages: list[ThreadRow] = []
        for offset in range(0, len(whole) + 3, 3):
            page = list(loader.threads(ThreadQuery(limit=3, offset=offset)))
            assert len(page) <= 3
            pages += page
        assert pages == whole

    def test_one_thread_as_in_the_list(self, loader: Loader) -> None:
        for row in loader.threads(ALL):
            assert loader.thread(row.thread_id) == row

    def test_a_thread_row_agrees_with_the_index(self, loader: Loader) -> None:
        for row in loader.threads(ALL):
            index = flat(loader.rows(row.thread_id))
            ids = [r[1] for r in index]
            assert row.checkpoints == len(index)
            assert row.namespaces == len({r[0] for r in index})
            assert (row.first_id, row.last_id) == (min(ids), max(ids))
            heads = [r for r in index if r[0] == ""] or index
            assert (
                (row.head_ns, row.head) == max((r[0], r[1]) for r in heads)
                if not any(r[0] == "" for r in index)
                else ("", max(r[1] for r in heads))
            )

    def test_sizes_are_there_when_asked_for(self, loader: Loader) -> None:
        assert all(row.size is None for row in loader.threads(ALL))
        assert all(
            row.size is not None and row.size > 0
            for row in loader.threads(ThreadQuery(limit=None, sizes=True))
        )

    def test_the_index_is_in_order(self, loader: Loader) -> None:
        for thread_id in thread_ids(loader):
            rows = flat(loader.rows(thread_id))
            assert [r[:2] for r in rows] == sorted({tuple(r[:2]) for r in rows})
            for ns, id, parent, size in rows:
                assert isinstance(ns, str)
                assert isinstance(id, str)
                assert parent is None or (isinstance(parent, str) and parent)
                assert size is None or size > 0

    def test_one_namespace_is_its_part_of_the_index(self, loader: Loader) -> None:
        for thread_id in thread_ids(loader):
            rows = flat(loader.rows(thread_id))
            writes = flat(loader.writes(thread_id))
            envelopes = flat(loader.envelopes(thread_id))
            for ns in {r[0] for r in rows}:
                assert flat(loader.rows(thread_id, ns)) == [r for r in rows if r[0] == ns]
                assert flat(loader.writes(thread_id, ns)) == [w for w in writes if w[0] == ns]
                assert flat(loader.envelopes(thread_id, ns)) == [e for e in envelopes if e.ns == ns]

    def test_what_is_newer_is_the_end_of_the_index(self, loader: Loader) -> None:
        if not isinstance(loader, ReadsNewest):
            pytest.skip("this loader reads its index whole")
        for thread_id in thread_ids(loader):
            rows = flat(loader.rows(thread_id))
            ids = sorted({row[1] for row in rows})
            for than in ("", ids[0], *ids[1 :: len(ids) // 9 + 1], ids[-1]):
                newer = [row for row in rows if row[1] > than]
                assert loader.newer(thread_id, than, len(rows)) == newer
                assert loader.newer(thread_id, than, 1) == newer[:1]
        assert loader.newer("no such thread", "", 5) == []

    def test_writes_are_in_the_order_of_langgraph(self, loader: Loader) -> None:
        for thread_id in thread_ids(loader):
            writes = [WriteRow(*w) for w in flat(loader.writes(thread_id))]
            assert writes == sorted(
                writes, key=lambda w: (w.ns, w.checkpoint_id, w.task_path, w.task_id, w.idx)
            )

    def test_heads_of_writes(self, loader: Loader) -> None:
        """Sends: the first 256 bytes; control writes: all; others: nothing."""
        for thread_id in thread_ids(loader):
            writes = [WriteRow(*w) for w in flat(loader.writes(thread_id))]
            by_checkpoint = {(w.ns, w.checkpoint_id) for w in writes}
            whole = {
                (ns, id, w.task_id, w.idx): w
                for ns, id in by_checkpoint
                for w in loader.read_writes(thread_id, ns, [id]).get(id, ())
            }
            for write in writes:
                raw = whole[write.ns, write.checkpoint_id, write.task_id, write.idx]
                assert (write.type, write.channel) == (raw.value.type, raw.channel)
                assert write.size is None or write.size == len(raw.value.data)
                if write.channel == "__pregel_tasks":
                    assert write.head == raw.value.data[:256]
                elif write.channel in CONTROL:
                    assert write.head == raw.value.data
                else:
                    assert write.head is None

    def test_envelopes_are_what_reading_gives(self, loader: Loader) -> None:
        serde = Serde.from_env()
        for thread_id in thread_ids(loader, 20):
            rows = flat(loader.rows(thread_id))[:60]
            chosen = {(r[0], r[1]) for r in rows}
            for found in flat(loader.envelopes(thread_id)):
                if (found.ns, found.id) in chosen:
                    raw = loader.read(CheckpointKey(thread_id, found.ns, found.id))
                    assert found == envelope(
                        found.ns, found.id, raw.parent_id, raw.checkpoint, raw.metadata, serde
                    )

    def test_envelopes_follow_the_index(self, loader: Loader) -> None:
        for thread_id in thread_ids(loader):
            assert [(e.ns, e.id, e.parent_id) for e in flat(loader.envelopes(thread_id))] == [
                tuple(r[:3]) for r in flat(loader.rows(thread_id))
            ]

    def test_chosen_checkpoints(self, loader: Loader) -> None:
        for thread_id in thread_ids(loader, 10):
            writes = flat(loader.writes(thread_id))
            envelopes = flat(loader.envelopes(thread_id))
            ids = [e.id for e in envelopes][::2]
            # Given in no order, twice, and with one that is not there.
            given = [*reversed(ids), *ids[:1], "no-such-id"]
            chosen = set(ids)
            assert flat(loader.envelopes(thread_id, ids=given)) == [
                e for e in envelopes if e.id in chosen
            ]
            assert flat(loader.writes(thread_id, ids=given)) == [
                w for w in writes if w[1] in chosen
            ]
            assert flat(loader.envelopes(thread_id, ids=[])) == []
            assert flat(loader.writes(thread_id, ids=[])) == []

    def test_reading_gives_all_that_the_index_says(self, loader: Loader) -> None:
        for thread_id in thread_ids(loader, 20):
            for ns, id, parent, size in flat(loader.rows(thread_id))[:40]:
                key = CheckpointKey(thread_id, ns, id)
                raw = loader.read(key)
                assert (raw.key, raw.parent_id) == (key, parent)
                assert size is None or size == len(raw.checkpoint.data)
                assert isinstance(raw.checkpoint.data, bytes)
                assert isinstance(raw.metadata.data, bytes)
                assert raw.writes == loader.read_writes(thread_id, ns, [id]).get(id, ())

    def test_heads_of_many_threads(self, loader: Loader) -> None:
        if not isinstance(loader, ReadsHeads):
            pytest.skip("this loader reads heads one by one")
        keys = [CheckpointKey(r.thread_id, r.head_ns, r.head) for r in loader.threads(ALL)]
        gone = CheckpointKey(keys[0].thread_id, "", "no-such-id")
        heads = loader.heads([gone, *keys, *keys[:1]])
        assert set(heads) == set(keys)
        for key, (found, writes) in heads.items():
            assert [found] == flat(loader.envelopes(key.thread_id, key.ns, [key.id]))
            assert list(writes) == flat(loader.writes(key.thread_id, key.ns, [key.id]))

    def test_bodies_of_a_namespace(self, loader: Loader) -> None:
        if not isinstance(loader, ReadsBodies):
            pytest.skip("this loader reads bodies one by one")
        for thread_id in thread_ids(loader, 10):
            rows = flat(loader.rows(thread_id))
            for ns in {row[0] for row in rows}:
                ids = [row[1] for row in rows if row[0] == ns]
                assert [raw.key.id for raw in flat(loader.bodies(thread_id, ns))] == ids
                found = flat(loader.bodies(thread_id, ns, ids[:20]))
                whole = [loader.read(CheckpointKey(thread_id, ns, id)) for id in ids[:20]]
                assert [(r.key, r.parent_id, r.checkpoint, r.metadata) for r in found] == [
                    (r.key, r.parent_id, r.checkpoint, r.metadata) for r in whole
                ]

    def test_details_are_the_metadata(self, loader: Loader) -> None:
        serde = Serde.from_env()
        for thread_id in thread_ids(loader, 10):
            keys = [CheckpointKey(thread_id, r[0], r[1]) for r in flat(loader.rows(thread_id))][:30]
            details = loader.details(keys)
            assert [d.key for d in details] == keys
            for detail in details:
                raw = loader.read(detail.key)
                assert detail.metadata == decode_metadata(raw.metadata, serde)

    def test_what_is_not_there(self, loader: Loader) -> None:
        assert loader.thread("no such thread") is None
        assert flat(loader.rows("no such thread")) == []
        assert flat(loader.writes("no such thread")) == []
        assert flat(loader.envelopes("no such thread")) == []
        assert list(loader.threads(ThreadQuery(search="no such thread"))) == []
        assert loader.details([CheckpointKey("no such thread", "", "x")]) == []
        some = thread_ids(loader, 1)[0]
        assert loader.read_writes(some, "", ["no-such-id"]) == {}
        with pytest.raises(RefError, match="no-such-id"):
            loader.read(CheckpointKey(some, "", "no-such-id"))

    def test_many_threads_of_the_process_at_once(self, loader: Loader) -> None:
        some = thread_ids(loader, 6)
        alone = {thread_id: everything(loader, thread_id) for thread_id in some}
        with ThreadPoolExecutor(8) as pool:
            for thread_id, found in pool.map(
                lambda t: (t, everything(loader, t)), [t for _ in range(4) for t in some]
            ):
                assert found == alone[thread_id]

    def test_readings_may_overlap_and_be_left(self, loader: Loader) -> None:
        some = thread_ids(loader, 2)
        walks = [loader.rows(t) for t in some] + [loader.envelopes(t) for t in some]
        firsts = [next(iter(w)) for w in walks]
        assert all(firsts)
        again = [flat(loader.rows(t)) for t in some]
        assert [list(f) for f in firsts[: len(some)]] == [
            rows[: len(first)] for rows, first in zip(again, firsts, strict=False)
        ]
        for walk in walks:
            walk.close()  # type: ignore[attr-defined]
        assert [flat(loader.rows(t)) for t in some] == again

    def test_interrupted_from_another_thread(self, loader: Loader) -> None:
        some = thread_ids(loader, 1)[0]
        walk = loader.envelopes(some)
        canceller = threading.Thread(target=loader.interrupt)
        next(walk)
        canceller.start()
        canceller.join()
        with pytest.raises(Cancelled):
            _drain(walk, loader)
        assert flat(loader.rows(some))

    def test_nothing_is_changed_by_reading(self, store: Store) -> None:
        before = store.fingerprint()
        loader = store.open()
        for row in loader.threads(ThreadQuery(limit=5, sizes=True)):
            everything(loader, row.thread_id)
        loader.changed()
        during = store.fingerprint()
        loader.close()
        assert before == during == store.fingerprint()

    def test_closing_twice_does_no_harm(self, store: Store) -> None:
        loader = store.open()
        loader.close()
        loader.close()


def _drain(walk: Any, loader: Loader) -> None:
    """The rest of a walk; one that was over already counts as stopped."""
    if not flat(walk):
        raise Cancelled("over")


class LoaderContract(StoreContract):
    """What must come out of `content.threads()`."""

    @pytest.fixture
    def expected(self, store: Store) -> list[content.Thread]:
        """Newest activity first."""
        known = set(store.odd_ids)
        threads = [t for t in content.threads() if t.id not in content.ODD_IDS or t.id in known]
        return threads[::-1]

    def test_every_thread_is_listed(self, loader: Loader, expected: list[content.Thread]) -> None:
        rows = [r for r in loader.threads(ALL) if not r.thread_id.startswith("new-")]
        assert [(r.thread_id, r.checkpoints) for r in rows] == [
            (t.id, len(t.checkpoints)) for t in expected
        ]

    def test_ids_parents_and_namespaces(
        self, loader: Loader, expected: list[content.Thread]
    ) -> None:
        for thread in expected:
            assert [tuple(r[:3]) for r in flat(loader.rows(thread.id))] == [
                (c.ns, c.id, c.parent) for c in thread.of()
            ]

    def test_values_and_metadata(self, loader: Loader, expected: list[content.Thread]) -> None:
        serde = Serde.from_env()
        for thread in expected:
            for checkpoint in thread.of()[:20]:
                key = CheckpointKey(thread.id, checkpoint.ns, checkpoint.id)
                raw = loader.read(key)
                body = serde.decode(raw.checkpoint)
                values = dict(body["channel_values"])
                values |= {name: serde.decode(blob) for name, blob in raw.blobs.items()}
                assert values == checkpoint.values
                metadata = loader.details([key])[0].metadata
                assert {k: metadata.get(k) for k in checkpoint.metadata} == checkpoint.metadata

    def test_present_channels(self, loader: Loader, expected: list[content.Thread]) -> None:
        for thread in expected:
            assert [
                (e.v, set(e.present), e.unreadable) for e in flat(loader.envelopes(thread.id))
            ] == [(4, set(c.values), None) for c in thread.of()]

    def test_writes_with_orphans(self, loader: Loader, expected: list[content.Thread]) -> None:
        for thread in expected:
            puts = [
                (c.ns if c else "", id, put.path, put.task_id, channel)
                for c, id, put in content.written(thread)
                for channel, _ in put.writes
            ]
            found = [WriteRow(*w) for w in flat(loader.writes(thread.id))]
            assert sorted(
                (w.ns, w.checkpoint_id, w.task_path, w.task_id, w.channel) for w in found
            ) == sorted(puts)

    def test_values_of_writes(self, loader: Loader) -> None:
        serde = Serde.from_env()
        thread = next(t for t in content.threads() if t.id == content.WRITES)
        first = thread.of("")[0]
        found = loader.read_writes(thread.id, "", [first.id, content.cid(1001, 1)])
        assert set(found) == {first.id, content.cid(1001, 1)}
        assert [(w.task_id, w.channel, serde.decode(w.value)) for w in found[first.id]] == sorted(
            ((put.task_id, channel, value) for put in first.puts for channel, value in put.writes),
            key=lambda w: (next(p.path for p in first.puts if p.task_id == w[0]), w[0]),
        )
        only = loader.read_writes(thread.id, "", [first.id], channels=["note"])
        assert [(w.task_id, w.channel) for w in only[first.id]] == [("aa-task", "note")]

    def test_a_big_send_is_read_by_its_head(self, loader: Loader) -> None:
        sends = [
            w
            for w in map(WriteRow._make, flat(loader.writes(content.WRITES)))
            if w.channel == "__pregel_tasks"
        ]
        assert [(w.head is not None and b"work" in w.head, w.size) for w in sends] == [
            (True, sends[0].size)
        ]
        assert sends[0].size is None or sends[0].size > content.SEND_PAYLOAD

    def test_a_long_thread_comes_in_batches(self, loader: Loader) -> None:
        assert len(flat(loader.rows(content.LONG))) == content.LONG_LENGTH
        assert len(flat(loader.writes(content.LONG))) == content.LONG_LENGTH
        many = [content.cid(10_000 + n, n) for n in range(0, content.LONG_LENGTH, 3)]
        assert [e.id for e in flat(loader.envelopes(content.LONG, ids=many))] == many
        assert [w[1] for w in flat(loader.writes(content.LONG, ids=many))] == many

    @pytest.mark.parametrize(
        ("search", "found"),
        [
            ("CONV@", {"user-42:conv@home"}),
            ("%_", {"100%_\\'\""}),
            ("\\", {"100%_\\'\""}),
            ("_", {"100%_\\'\""}),
            ("線", {"線程"}),
            ("STRASSE ünÏ", {"Straße Ünï"}),
            ("1f1ebf22", {content.DASHED, content.DASHED.replace("-", "")}),
        ],
    )
    def test_search(self, loader: Loader, store: Store, search: str, found: set[str]) -> None:
        rows = loader.threads(ThreadQuery(limit=None, search=search))
        assert {r.thread_id for r in rows} == found & set(store.odd_ids)

    def test_search_in_pages(self, loader: Loader) -> None:
        whole = [r.thread_id for r in loader.threads(ThreadQuery(limit=None, search="n"))]
        pages = [
            r.thread_id
            for offset in range(len(whole))
            for r in loader.threads(ThreadQuery(limit=1, offset=offset, search="n"))
        ]
        assert len(whole) > 1
        assert pages == whole

    @pytest.mark.parametrize("prefix", ["user-", "線", "1f1ebf22-", "X", "x", "Straße", "100%"])
    def test_prefix(self, loader: Loader, prefix: str) -> None:
        rows = loader.threads(ThreadQuery(limit=None, prefix=prefix))
        assert sorted(r.thread_id for r in rows) == sorted(
            t for t in thread_ids(loader) if t.startswith(prefix)
        )

    def test_since(self, loader: Loader, expected: list[content.Thread]) -> None:
        newest = {t.id: max(c.id for c in t.checkpoints) for t in expected}
        since = sorted(newest.values())[len(newest) // 2]
        rows = loader.threads(ThreadQuery(limit=None, since_id=since))
        assert {r.thread_id for r in rows if r.thread_id in newest} == {
            t for t, id in newest.items() if id >= since
        }

    def test_following(self, store: Store) -> None:
        if store.append is None:
            pytest.skip("this store cannot be added to")
        loader = store.open()
        try:
            _until(lambda: not loader.changed())
            for n in (1, 2):
                assert not loader.changed()
                store.append(n)
                assert loader.changed()
                _until(lambda: not loader.changed())
                new = content.appended(n)
                assert loader.thread(new.id) is not None
                assert [r[1] for r in flat(loader.rows(new.id))] == [new.checkpoints[0].id]
                assert thread_ids(loader, 1) == [new.id]
        finally:
            loader.close()


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.06)
