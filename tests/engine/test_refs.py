"""References: as text, against threads whose ids hold every sign of the grammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrograph.engine.errors import RefError, UsageError
from retrograph.engine.history import History
from retrograph.engine.model import CheckpointKey, IndexRow
from retrograph.engine.threads.refs import Ref, locate, parse, short_length, written

A = "1f1ebf22-64d4-6000-bfff-00000000aaaa"  # step -1
B = "1f1ebf22-64d4-6001-8000-00000000bbbb"  # step 0
C = "1f1ebf22-64d4-6002-8001-00000000cccc"  # step 1, forks
D = "1f1ebf22-64d4-6003-8002-00000000dddd"  # step 2
E = "1f1ebf22-64d4-6004-8002-00000000eeee"  # step 2, the other line
SUB = "ship:50c50418-d4df|box:1"


class Threads:
    """An index over plain rows; `steps` overrides what the ids say, as metadata does."""

    def __init__(
        self,
        threads: Mapping[str, Sequence[tuple[str, str, str | None]]],
        steps: Mapping[str, int] | None = None,
    ) -> None:
        self.threads = threads
        self.stored = steps or {}

    def has(self, thread_id: str) -> bool:
        return thread_id in self.threads

    def history(self, thread_id: str) -> History:
        rows = [IndexRow(ns, i, parent, None) for ns, i, parent in self.threads[thread_id]]
        return History.build(thread_id, [rows])

    def steps(self, thread_id: str, some: Sequence[int]) -> dict[int, int | None]:
        history = self.history(thread_id)
        return {i: self.stored.get(history.ids[i], history.step(i)) for i in some}

    def alike(self, thread_id: str) -> list[str]:
        return [t for t in self.threads if t.startswith(thread_id[:3])][:2]


LINE = [("", A, None), ("", B, A), ("", C, B), ("", D, C), ("", E, C), (SUB, A, None), (SUB, D, A)]
ODD = ["1", "user-42:conv@home", "線程", "", "x" * 2000, "a::b", "up~2", "back\\@slash"]
SUBS = [
    ("", "head", None),
    ("n:1", "1-bbbb", None),
    ("n:1", "same", None),
    ("n:2", "2-bbbb", None),
    ("n:2", "same", None),
]
INDEX = Threads({"t": LINE, "s": SUBS, **dict.fromkeys(ODD, LINE)})


def at(text: str | None, thread: str | None = None) -> tuple[str, str]:
    key = locate(text, INDEX, thread)
    return key.ns, key.id


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t", E),
        ("t~1", C),
        ("t~0", E),
        ("t~3", A),
        ("t@bbbb", B),
        ("t@cccc~2", A),
        (f"t@{D}", D),
        (f"t@{D}~1", C),
        ("t@step:1", C),
        ("t@step:-1", A),
        ("t@step:1~1", B),
        ("t@root", A),
        (f"t@{A}", A),  # this id is in two namespaces: the root's wins
        ("t@dddd", D),
        ("t::@aaaa", A),  # the empty namespace, said
    ],
)
def test_points_of_the_root_namespace(text: str, expected: str) -> None:
    assert at(text) == ("", expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"t::{SUB}", D),
        (f"t::{SUB}~1", A),
        (f"t::{SUB}@aaaa", A),
        (f"t::{SUB}@root", A),
        (f"t::{SUB}@step:2~1", A),
    ],
)
def test_points_of_a_namespace(text: str, expected: str) -> None:
    assert at(text) == (SUB, expected)


@pytest.mark.parametrize("name", ODD)
def test_any_thread_id_can_be_named(name: str) -> None:
    assert locate(name, INDEX) == CheckpointKey(name, "", E)
    assert locate("~1", INDEX, thread=name) == CheckpointKey(name, "", C)
    assert locate("@cccc", INDEX, thread=name) == CheckpointKey(name, "", C)
    assert locate(f"::{SUB}@root", INDEX, thread=name) == CheckpointKey(name, SUB, A)
    assert locate(None, INDEX, thread=name) == CheckpointKey(name, "", E)


@pytest.mark.parametrize("name", [n for n in ODD if "\\" not in n])
def test_any_thread_id_takes_a_point(name: str) -> None:
    assert locate(f"{name}@cccc", INDEX) == CheckpointKey(name, "", C)
    assert locate(written(CheckpointKey(name, "", C)), INDEX) == CheckpointKey(name, "", C)
    escaped = name.replace("@", "\\@")
    assert locate(f"{escaped}~1", INDEX) == CheckpointKey(name, "", C)


def test_a_thread_whose_id_looks_like_another_reference_wins() -> None:
    index = Threads({"t": LINE, "t@bbbb": LINE, "t~1": LINE})
    assert locate("t@bbbb", index) == CheckpointKey("t@bbbb", "", E)
    assert locate("t~1", index) == CheckpointKey("t~1", "", E)
    assert locate("t@bbbb~1", index) == CheckpointKey("t", "", A)  # split at the @
    assert locate("t\\@bbbb~1", index) == CheckpointKey("t@bbbb", "", C)


def test_an_unescaped_at_of_the_id_is_understood_where_nothing_else_fits() -> None:
    index = Threads({"me@home": LINE})
    assert locate("me@home~1", index) == CheckpointKey("me@home", "", C)
    assert locate(f"me@home::{SUB}", index) == CheckpointKey("me@home", SUB, D)


def test_parts_without_a_thread_lookup() -> None:
    def never(_: str) -> bool:
        return False

    assert parse("a:b|c@x~2", never) == Ref("a:b|c", None, "x~2")
    assert parse("a::n|m:1::k@x", never) == Ref("a", "n|m:1::k", "x")
    assert parse("a\\@b::n@x", never) == Ref("a@b", "n", "x")
    assert parse("a~12", never) == Ref("a", None, None, 12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t@step:2", ["2 checkpoints", D, E, "the end of one"]),
        ("t@00", ["No checkpoint", "'@00'"]),
        ("s@bbbb", ["2 checkpoints", "::n:1@1-bbbb", "::n:2@2-bbbb", "more of the id"]),
        ("s@same", ["2 checkpoints", "::n:1@same", "::n:2@same"]),
        ("t@step:99", ["No checkpoint"]),
        ("t@", ["Nothing stands after the @"]),
        ("t@~1", ["Nothing stands after the @"]),
        ("t@zzzz", ["No checkpoint", "'@zzzz'"]),
        ("t@root~1", ["beyond the root", "0 parents"]),
        ("t~99", ["beyond the root", "3 parents"]),
        ("t~" + "9" * 18, ["beyond the root"]),
        ("t~" + "9" * 5000, ["no thread"]),
        ("t::nope", ["no namespace 'nope'", SUB]),
        ("tt", ["no thread 'tt'"]),
        ("nope::x@y", ["no thread 'nope'"]),
    ],
)
def test_what_names_nothing_or_too_much_is_said(text: str, words: list[str]) -> None:
    with pytest.raises(RefError) as caught:
        at(text)
    message = str(caught.value)
    for word in words:
        assert word in message
    assert len(message) < 700


def test_a_thread_that_may_have_been_meant_is_named() -> None:
    with pytest.raises(RefError, match="did you mean 'user-42:conv@home'"):
        at("user-43")


def test_many_candidates_are_counted() -> None:
    rows: list[tuple[str, str, str | None]] = [("", f"{n:03d}-end", None) for n in range(30)]
    with pytest.raises(RefError, match=r"30 checkpoints.*007-end, … 22 more"):
        locate("t@end", Threads({"t": rows}))
    with pytest.raises(RefError, match=r"'@root' is 30 checkpoints"):
        locate("t@root", Threads({"t": rows}))


@pytest.mark.parametrize("text", ["t", "t@bbbb", "x"])
def test_thread_and_a_whole_reference_do_not_fit(text: str) -> None:
    with pytest.raises(UsageError, match="With --thread"):
        at(text, thread="t")


def test_no_reference_at_all() -> None:
    with pytest.raises(UsageError, match="--thread"):
        at(None)


def test_step_follows_the_metadata_where_the_id_says_another() -> None:
    # A copy carries its original's step in its id, one less than in its metadata.
    index = Threads({"t": LINE}, steps={E: 3})
    assert locate("t@step:2", index).id == D
    assert locate("t@step:3", index).id == E


def test_ids_that_are_words() -> None:
    rows: list[tuple[str, str, str | None]] = [
        ("", "one~1", None),
        ("", "root", "one~1"),
        ("", "step:7", "root"),
        ("", "three", "step:7"),
    ]
    index = Threads({"t": rows}, steps={"three": 9})
    for whole in ("one~1", "root", "step:7"):
        assert locate(f"t@{whole}", index).id == whole
    assert locate("t@root~1", index).id == "one~1"
    assert locate("t@step:9", index).id == "three"


def test_a_thread_without_a_root_namespace_means_its_newest() -> None:
    index = Threads({"t": [("s:1", A, None), ("s:2", B, None), ("s:3", A, None)]})
    assert locate("t", index) == CheckpointKey("t", "s:2", B)


def test_a_parent_that_is_gone_ends_the_climb() -> None:
    index = Threads({"t": [("", B, A), ("", C, B)]})
    with pytest.raises(RefError, match=f"1 parent; the next, {A}, is not in the store"):
        locate("t~2", index)


def test_a_loop_of_parents_ends() -> None:
    index = Threads({"t": [("", A, C), ("", B, A), ("", C, B)]})
    with pytest.raises(RefError, match="beyond the root"):
        locate("t~1000000000", index)


def test_short_ids_tell_all_apart() -> None:
    assert short_length([]) == 6
    assert short_length([A, B, C]) == 6
    assert short_length(["x1234567", "y1234567"]) == 8
    assert short_length([A, A]) == 6  # one id in two namespaces
    assert short_length(["1", "11"]) == 6


texts = st.text(st.sampled_from("ab@~:\\|1線\x00"), max_size=12)


@given(names=st.lists(texts, min_size=1, max_size=4, unique=True), text=texts)
def test_reading_never_fails_in_another_way(names: list[str], text: str) -> None:
    rows: list[tuple[str, str, str | None]] = [("", "1", None), ("a", "b1", None)]
    index = Threads(dict.fromkeys(names, rows))
    for thread in (None, names[0]):
        try:
            key = locate(text, index, thread)
        except (RefError, UsageError):
            continue
        assert key.thread_id in names


@given(names=st.lists(texts, min_size=1, max_size=4, unique=True))
def test_exactly_a_thread_id_is_that_thread(names: list[str]) -> None:
    index = Threads({name: [("", "1", None)] for name in names})
    for name in names:
        assert locate(name, index).thread_id == name


def test_a_thread_without_a_readable_checkpoint() -> None:
    with pytest.raises(RefError, match="No checkpoint of thread 't' can be read"):
        locate("t", Threads({"t": []}))
    with pytest.raises(RefError, match="'@root'"):
        locate("t@root", Threads({"t": []}))


def test_steps_are_asked_for_together() -> None:
    asked: list[Sequence[int]] = []

    class Counted(Threads):
        def steps(self, thread_id: str, some: Sequence[int]) -> dict[int, int | None]:
            asked.append(some)
            return super().steps(thread_id, some)

    rows = [("", A, None), *(("", f"{k:04}{C[4:]}", A) for k in range(100)), ("", D, A)]
    assert locate("t@step:2", Counted({"t": rows})).id == D
    assert [len(some) for some in asked] == [101]
