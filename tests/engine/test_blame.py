"""Who last set a value: by whom, since when, what it was before; with few looks."""

from __future__ import annotations

import math
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from made import Made, make, said
from retrograph.engine.diff.sameness import identity, same
from retrograph.engine.errors import RefError, UsageError
from retrograph.engine.model import Loader, ThreadQuery
from retrograph.engine.search.blame import Blame
from retrograph.engine.thread import Snapshot, Thread
from retrograph.engine.values import ABSENT, Delta
from retrograph.engine.views.redact import REDACTED, Redactor
from retrograph.loaders.registry import open_source
from servers.postgres import Zoo
from zoo import Store

DATA = Path(__file__).parent.parent / "data" / "formats"


def thread_of(path: Path) -> Thread:
    return Thread(open_source(str(path)), "t")


def blame(thread: Thread, path: str, **how: Any) -> list[tuple[int | None, Any, str, Any]]:
    """(step, node or source, path, value), newest first."""
    traced = Blame(thread, thread.history.head(), path, **how)
    return [
        (s.by.step, s.by.node or s.by.source, "/".join(map(str, s.path)), s.value) for s in traced
    ]


def test_earlier_values(tmp_path: Path) -> None:
    states = [
        Made({}, source="input"),
        Made({"c": "a"}, {"one": {"c": "a"}}),
        Made({"c": "a", "d": 1}, {"two": {"d": 1}}),
        Made({"c": "b", "d": 1}, {"two": {"c": "b"}}),
        Made({"c": "b", "d": 2}, {"one": {"d": 2}}),
        Made({"c": "a", "d": 2}, source="update"),
        Made({"c": "a", "d": 3}, {"two": {"d": 3}}),
    ]
    make(tmp_path / "s.db", states)
    thread = thread_of(tmp_path / "s.db")
    assert blame(thread, "c") == [
        (4, "update", "c", "a"),
        (2, "two", "c", "b"),
        (0, "one", "c", "a"),
    ]
    assert [row[:2] for row in blame(thread, "d")] == [(5, "two"), (3, "one"), (1, "two")]


def test_messages_are_followed_by_their_id(tmp_path: Path) -> None:
    hello, other = said("hello", "m1"), said("other", "m2")
    edited = said("HELLO", "m1")
    states = [
        Made({"messages": [hello]}, {"ask": {"messages": [hello]}}),
        Made({"messages": [hello, other]}, {"answer": {"messages": [other]}}),
        Made({"messages": [edited, other]}, {"edit": {"messages": [edited]}}),
        # What stood at 0 now stands at 1; what stood at 1 at 0.
        Made({"messages": [other, edited]}, {"turn": {"messages": [other, edited]}}),
    ]
    make(tmp_path / "s.db", states)
    thread = thread_of(tmp_path / "s.db")
    assert blame(thread, "messages[1].content") == [
        (1, "edit", "messages/0/content", "HELLO"),
        (-1, "loop", "messages/0/content", "hello"),
    ]
    assert blame(thread, "messages[0].content") == [(0, "answer", "messages/1/content", "other")]


def test_items_without_id_are_followed_by_content(tmp_path: Path) -> None:
    window = [["a"], ["a", "b"], ["a", "b", "c"], ["b", "c", "d"], ["b", "c", "D"]]
    states = [Made({"c": items}, {f"n{k}": {"c": items}}) for k, items in enumerate(window)]
    make(tmp_path / "s.db", states)
    thread = thread_of(tmp_path / "s.db")
    assert blame(thread, "c[0]") == [(0, "n1", "c/1", "b")]
    assert [row[0] for row in blame(thread, "c[2]")] == [3, 2]
    twice = [["x"], ["x", "x"]]
    make(tmp_path / "t.db", [Made({"c": items}) for items in twice])
    assert [row[0] for row in blame(thread_of(tmp_path / "t.db"), "c[1]")] == [0]
    assert [row[0] for row in blame(thread_of(tmp_path / "t.db"), "c[0]")] == [-1]


def test_removed_and_set_again(tmp_path: Path) -> None:
    hello, other = said("hello", "m1"), said("other", "m2")
    talks = [[hello], [other], [other], [other, hello], [other, hello]]
    make(tmp_path / "s.db", [Made({"messages": talk, "n": n}) for n, talk in enumerate(talks)])
    thread = thread_of(tmp_path / "s.db")
    for exact in (False, True):
        found = [(row[0], row[3]) for row in blame(thread, "messages[1].content", exact=exact)]
        assert found == [(2, "hello"), (0, ABSENT), (-1, "hello")]


def test_parallel_tasks(tmp_path: Path) -> None:
    a, b = said("from a", "ma"), said("from b", "mb")
    nodes = {"a": {"messages": [a], "c": 1}, "b": {"messages": [b]}, "z": {"d": 1}}
    states = [Made({}), Made({"messages": [a, b], "c": 1, "d": 1, "sum": 7}, nodes)]
    make(tmp_path / "s.db", states)
    thread = thread_of(tmp_path / "s.db")
    assert blame(thread, "messages[0].content")[0][1] == "a"
    assert blame(thread, "messages[1]")[0][1] == "b"
    assert blame(thread, "c")[0][1] == "a"
    assert blame(thread, "d")[0][1] == "z"
    # Nothing tells which of the two made the list what it is, nor who wrote what none wrote.
    (setting,) = Blame(thread, thread.history.head(), "messages")
    assert (setting.by.node, setting.by.task_id, setting.by.ran) == (None, None, ("a", "b", "z"))
    (setting,) = Blame(thread, thread.history.head(), "sum")
    assert setting.by.node is None


def test_values_that_are_not_there(tmp_path: Path) -> None:
    make(tmp_path / "s.db", [Made({"messages": [said("x", "m")]})])
    thread = thread_of(tmp_path / "s.db")
    with pytest.raises(RefError, match="did you mean 'messages'"):
        Blame(thread, 0, "mesages")
    with pytest.raises(RefError, match="no item 4"):
        Blame(thread, 0, "messages[4]")
    with pytest.raises(UsageError, match="which value"):
        Blame(thread, 0, "")


def test_what_is_redacted_is_not_shown(tmp_path: Path) -> None:
    states = [Made({"c": {"ssn": n, "note": f"sk-{n}"}}) for n in (1, 2)]
    make(tmp_path / "s.db", states)
    thread = thread_of(tmp_path / "s.db")
    redactor = Redactor(["ssn", "/sk-\\d/"])
    assert [row[3] for row in blame(thread, "c.ssn", redactor=redactor)] == [REDACTED, REDACTED]
    assert [row[3] for row in blame(thread, "c.note", redactor=redactor)] == [REDACTED, REDACTED]
    assert [row[3] for row in blame(thread, "c", redactor=Redactor(["c"]))] == [REDACTED] * 2


@pytest.mark.parametrize("count", [1, 2, 3, 5, 10, 33, 300])
def test_few_looks_where_a_value_stays(tmp_path: Path, count: int) -> None:
    """Each item was set once; the list changes at every step."""
    states = [
        Made({"c": [{"id": f"i{k}", "v": k} for k in range(n + 1)]}, {"n": {"c": n}})
        for n in range(count)
    ]
    make(tmp_path / "s.db", states)
    thread = thread_of(tmp_path / "s.db")
    allowed = 2 * math.log2(count) + 2
    for item in range(0, count, max(count // 40, 1)):
        traced = Blame(thread, thread.history.head(), f"c[{item}].v")
        found = list(traced)
        assert [s.checkpoint for s in found] == [item]
        assert traced.decoded <= min(allowed, count)
        assert traced.length == count


def test_versions_spare_looks(tmp_path: Path) -> None:
    """Where nothing else in the channel changes, two looks are enough, and certain."""
    values = ["a"] * 200 + ["b"] * 300
    make(tmp_path / "s.db", [Made({"c": v, "n": n}) for n, v in enumerate(values)])
    thread = thread_of(tmp_path / "s.db")
    traced = Blame(thread, thread.history.head(), "c")
    assert [s.checkpoint for s in traced] == [200, 0]
    assert traced.decoded == 2
    assert traced.certain


def test_never_more_looks_than_checkpoints(tmp_path: Path) -> None:
    states = [Made({"c": [{"id": "i", "v": n % 3, "n": n}]}) for n in range(120)]
    make(tmp_path / "s.db", states)
    thread = thread_of(tmp_path / "s.db")
    for exact in (False, True):
        traced = Blame(thread, thread.history.head(), "c[0].v", exact=exact)
        assert len(list(traced)) == 120
        assert traced.decoded <= 120


def test_a_value_that_changed_back_between_two_looks(tmp_path: Path) -> None:
    values = [0] * 20 + [1] + [0] * 200
    states = [Made({"c": [{"id": "i", "v": v, "n": n}]}) for n, v in enumerate(values)]
    make(tmp_path / "s.db", states)
    thread = thread_of(tmp_path / "s.db")
    quick = Blame(thread, thread.history.head(), "c[0].v")
    assert [s.checkpoint for s in quick] == [0]
    assert not quick.certain
    exact = Blame(thread, thread.history.head(), "c[0].v", exact=True)
    assert [s.checkpoint for s in exact] == [21, 20, 0]
    assert exact.certain


# Against what reading every checkpoint of the line tells.


def changes(values: list[Any]) -> list[tuple[int, Any]]:
    found = []
    before: Any = ABSENT
    for at, value in enumerate(values):
        unlike = (value is ABSENT) != (before is ABSENT)
        if unlike or (value is not ABSENT and not same(value, before)):
            found.append((at, value))
        before = value
    return found[::-1]


def by_id(value: Any, id_: object) -> Any:
    parts = [value]
    if isinstance(value, Delta):
        parts = [value.snapshot, *value.writes, list(value.writes)]
    items = (item for part in parts if isinstance(part, list) for item in part)
    return next((item for item in items if identity(item) == id_), ABSENT)


def check(thread: Thread) -> int:
    history = thread.history
    checked = 0
    for ns in history.namespaces():
        leaf = history.leaves(ns)[-1]
        line = history.line(leaf)
        snapshots = {i: thread.snapshot(ns, history.ids[i]) for i in line}
        for channel, value in snapshots[leaf].values.items():
            if value is ABSENT or isinstance(value, Delta):
                continue
            along = [snapshots[i].values.get(channel, ABSENT) for i in line]
            if saved_too_late(channel, list(snapshots.values()), along):
                continue
            checked += compare(thread, f"/{channel}", snapshots, changes(along))
            items = value if isinstance(value, list) else []
            for k, item in islice(enumerate(items), 2):
                own = identity(item)
                if own is not None:
                    held = changes([by_id(state, own) for state in along])
                    checked += compare(thread, f"/{channel}/{k}", snapshots, held)
    return checked


def saved_too_late(channel: str, snapshots: list[Snapshot], along: list[Any]) -> bool:
    """Whether one version has several values: asynchronous saving stores the live list of a Topic
    that accumulates, as it does with joins (langgraph #8748)."""
    by_version: dict[Any, Any] = {}
    for snapshot, value in zip(snapshots, along, strict=True):
        version = snapshot.envelope.versions.get(channel)
        if version is not None and not same(by_version.setdefault(version, value), value):
            return True
    return False


def compare(
    thread: Thread, path: str, snapshots: dict[int, Snapshot], expected: list[tuple[int, Any]]
) -> int:
    line = list(snapshots)
    exact = Blame(thread, line[-1], path, exact=True)
    found = list(exact)
    where = f"{thread.thread_id} {path} at {thread.history.ids[line[-1]]}"
    assert [line.index(s.checkpoint) for s in found] == [at for at, _ in expected], where
    assert all(same(s.value, value) for s, (_, value) in zip(found, expected, strict=True)), where
    assert exact.decoded <= len(line), where
    quick = Blame(thread, line[-1], path)
    quick_found = [s.checkpoint for s in quick]
    if quick.certain:
        assert quick_found == [s.checkpoint for s in found], where
    for setting in found:
        by, parent = setting.by, thread.history.parent(setting.checkpoint)
        if by.source == "loop" and parent in snapshots:
            # Where one task alone wrote a channel, that one is named, with its id.
            channel = path.split("/")[1]
            writes = [w for w in snapshots[parent].writes if w.channel == channel]
            if len(writes) == 1 and writes[0].node in by.ran:
                assert (by.node, by.task_id) == (writes[0].node, writes[0].task_id), where
    return len(found)


def check_all(loader: Loader) -> int:
    rows = list(loader.threads(ThreadQuery(limit=None)))
    return sum(check(Thread(loader, row.thread_id)) for row in rows)


@pytest.mark.parametrize("store", sorted(path.name for path in DATA.glob("*.db")))
def test_lines_in_stores_of_any_version(store: str) -> None:
    assert check_all(open_source(str(DATA / store))) > 10


def test_lines_of_the_zoo(zoo_store: Store) -> None:
    assert check_all(open_source(str(zoo_store.path))) > 500


def test_lines_of_the_zoo_on_postgres(postgres_zoo: Zoo) -> None:
    wanted = ("loop", "join", "delta", "messages", "agent", "replay", "two_deep", "values")
    found = 0
    with closing(open_source(postgres_zoo.database.uri)) as loader:
        for scenario in wanted:
            threads = {thread_id for thread_id, _, _ in postgres_zoo.store.of(scenario)}
            found += sum(check(Thread(loader, thread_id)) for thread_id in sorted(threads))
    assert found > 50


@pytest.mark.parametrize("version", ["0.2.0", "0.2.45", "0.3.0", "0.4.0"])
def test_the_nodes_that_old_versions_name(version: str) -> None:
    """Until 0.4 the metadata of a checkpoint held each node's writes."""
    loader = open_source(str(DATA / f"langgraph-{version}.db"))
    checked = 0
    for row in list(loader.threads(ThreadQuery(limit=None))):
        thread = Thread(loader, row.thread_id)
        history = thread.history
        for leaf in history.leaves():
            for channel in thread.snapshot("", history.ids[leaf]).values:
                for setting in Blame(thread, leaf, f"/{channel}", exact=True):
                    key = history.ids[setting.checkpoint]
                    envelope = thread.envelopes_of("", [setting.checkpoint])[setting.checkpoint]
                    told = envelope.metadata.get("writes")
                    if envelope.source != "loop" or not isinstance(told, dict):
                        continue
                    wrote = {n for n, u in told.items() if isinstance(u, dict) and channel in u}
                    if len(wrote) == 1:
                        assert setting.by.node in (*wrote, "__start__"), (row.thread_id, key)
                        checked += 1
    assert checked > 5
