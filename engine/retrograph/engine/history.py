"""The tree of a thread's checkpoints, built from the index alone.

Flat arrays instead of objects: a checkpoint costs its id and some 24 bytes, so that a thread of
1,000,000 checkpoints is held whole. A checkpoint is an int `i`, ordered by namespace and then by
id; `NONE` (−1) stands for "no checkpoint".
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice

from retrograph.engine import ids as checkpoint_ids
from retrograph.engine.links import NONE, linked, linked_on
from retrograph.engine.model import ROOT, IndexRow

__all__ = ["NONE", "History"]


class History:
    """All checkpoints of a thread, of all namespaces.

    Oddities of the data never stop it: a parent that is not in the store makes a root, a loop in
    the parent chain is cut at its oldest checkpoint, and `problems()` says so.
    """

    def __init__(
        self,
        thread_id: str,
        ids: list[str],
        spans: dict[str, range],
        parents: array[int],
        sizes: array[int],
        missing: dict[int, str],
        cut: dict[int, str],
    ) -> None:
        self.thread_id = thread_id
        self.ids = ids
        self._spans = spans
        self._parents = parents
        self._sizes = sizes
        self._missing = missing
        self._cut = cut

    @classmethod
    def build(cls, thread_id: str, batches: Iterable[Sequence[IndexRow]]) -> History:
        """Build from index rows, ideally ordered by namespace and id (else they are sorted)."""
        builder = _Builder()
        for batch in batches:
            builder.add(batch)
        return builder.finish(thread_id)

    def grown(self, rows: Sequence[IndexRow]) -> History | None:
        """With later rows at the end of its only namespace: what is known of the others is kept.
        `None` where they do not just go on from here, so that all has to be built anew."""
        count = len(self.ids)
        if [row[0] for row in rows] != self.namespaces() * len(rows):
            return None
        ids = self.ids + [row[1] for row in rows]
        if any(ids[i - 1] >= ids[i] for i in range(count, len(ids))):
            return None
        parents, missing = self._parents[:], dict(self._missing)
        for i, (_, _, parent_id, _) in enumerate(rows, count):
            found = bisect_left(ids, parent_id, 0, i) if parent_id else NONE
            if parent_id and (found == i or ids[found] != parent_id):
                found, missing[i] = NONE, parent_id
            parents.append(found)
        if not {row[1] for row in rows}.isdisjoint(missing.values()):
            return None  # a parent that comes after its child
        sizes = self._sizes + array("q", [-1 if size is None else size for *_, size in rows])
        spans = dict.fromkeys(self._spans, range(len(ids)))
        made = History(self.thread_id, ids, spans, parents, sizes, missing, self._cut)
        made._steps = made._steps_after(self._steps)
        made._child_links = linked_on(self._child_links, parents)
        return made

    def __len__(self) -> int:
        return len(self.ids)

    def namespaces(self) -> list[str]:
        """All namespaces, the root (`""`) first."""
        return list(self._spans)

    def span(self, ns: str) -> range:
        """The checkpoints of one namespace, oldest first; empty where there are none."""
        return self._spans.get(ns, range(0))

    @property
    def first_id(self) -> str:
        """The smallest id of all namespaces. Raises `ValueError` where there is none."""
        return min(self.ids[span.start] for span in self._spans.values())

    @property
    def last_id(self) -> str:
        """The greatest id of all namespaces. Raises `ValueError` where there is none."""
        return max(self.ids[span.stop - 1] for span in self._spans.values())

    def ns(self, i: int) -> str:
        position = bisect_left(self._ends, i + 1)
        return self._names[position]

    def find(self, ns: str, checkpoint_id: str) -> int:
        """The checkpoint with exactly this id, or `NONE`."""
        span = self.span(ns)
        i = bisect_left(self.ids, checkpoint_id, span.start, span.stop)
        return i if i < span.stop and self.ids[i] == checkpoint_id else NONE

    def parent(self, i: int) -> int:
        return self._parents[i]

    def parents(self) -> array[int]:
        """Of all checkpoints; a copy."""
        return self._parents[:]

    def parent_id(self, i: int) -> str | None:
        """As stored, also where that checkpoint is not in the store or closes a loop."""
        parent = self._parents[i]
        if parent >= 0:
            return self.ids[parent]
        return self._missing.get(i) or self._cut.get(i)

    def children(self, i: int) -> list[int]:
        """Oldest first."""
        first, following = self._child_links
        found = []
        child = first[i]
        while child >= 0:
            found.append(child)
            child = following[child]
        return found

    def has_children(self, i: int) -> bool:
        return self._child_links[0][i] >= 0

    def forks(self, i: int) -> bool:
        """Whether a checkpoint has several children, which may be a great many."""
        first, following = self._child_links
        return first[i] >= 0 and following[first[i]] >= 0

    def size(self, i: int) -> int | None:
        """Stored bytes."""
        size = self._sizes[i]
        return size if size >= 0 else None

    def step(self, i: int) -> int | None:
        """From the id, unwrapped along the chain; `None` where the id holds none.

        The step in `metadata` is the better source where it has been read.
        """
        step = self._steps[i]
        return step if step != _NO_STEP else None

    def head(self, ns: str = ROOT) -> int:
        """The newest checkpoint of a namespace: the one with the greatest id."""
        span = self.span(ns)
        return span.stop - 1 if span else NONE

    def leaves(self, ns: str = ROOT) -> list[int]:
        first = self._child_links[0]
        return [i for i in self.span(ns) if first[i] < 0]

    def roots(self, ns: str = ROOT) -> list[int]:
        parents = self._parents
        return [i for i in self.span(ns) if parents[i] < 0]

    def fork_points(self, ns: str = ROOT) -> list[int]:
        # Whoever has a sibling tells of its parent.
        _, following = self._child_links
        parents, span = self._parents, self.span(ns)
        return sorted({parents[i] for i in span if following[i] >= 0})

    def line(self, i: int) -> list[int]:
        """From the root to `i`."""
        parents = self._parents
        line = []
        while i >= 0:
            line.append(i)
            i = parents[i]
        line.reverse()
        return line

    def problems(self) -> list[str]:
        """One sentence for each kind of oddity in the parent chains."""
        found = []
        strays: dict[str, list[int]] = {"gone": [], "elsewhere": []}
        if self._missing:
            known: dict[str, str] = {}
            wanted = set(self._missing.values())
            for ns, span in self._spans.items():
                known.update((self.ids[i], ns) for i in span if self.ids[i] in wanted)
            for i, parent_id in self._missing.items():
                strays["elsewhere" if parent_id in known else "gone"].append(i)
        if strays["gone"]:
            found.append(
                f"{_count(strays['gone'], 'checkpoint')} {_has(strays['gone'])} a parent that is "
                f"not in the store (pruned, or never saved): drawn as a root."
            )
        if strays["elsewhere"]:
            found.append(
                f"{_count(strays['elsewhere'], 'checkpoint')} {_has(strays['elsewhere'])} a parent "
                "in another namespace: drawn as a root."
            )
        if self._cut:
            oldest = ", ".join(self.ids[i] for i in list(self._cut)[:3])
            found.append(f"The parent chain loops: cut at {oldest}.")
        return found

    @cached_property
    def _names(self) -> list[str]:
        return list(self._spans)

    @cached_property
    def _ends(self) -> list[int]:
        return [span.stop for span in self._spans.values()]

    @cached_property
    def _child_links(self) -> tuple[array[int], array[int]]:
        """(first child, next sibling) of each checkpoint, both oldest first."""
        return linked(self._parents)

    @cached_property
    def _steps(self) -> array[int]:
        return self._steps_after(array("i"))

    def _steps_after(self, known: array[int]) -> array[int]:
        """The steps of all, where those of the first are known."""
        start = len(known)
        steps = known + array("i", [_NO_STEP]) * (len(self.ids) - start)
        parents = self._parents
        rows = islice(zip(self.ids, parents, strict=True), start, None)
        for i, (id_, parent) in enumerate(rows, start):
            if steps[i] != _NO_STEP:
                continue
            if parent < i:
                raw = checkpoint_ids.step_of(id_)
                if raw is not None:
                    above = steps[parent] if parent >= 0 else _NO_STEP
                    # Nearly always the next step, which needs no arithmetic.
                    if above == _NO_STEP:
                        steps[i] = raw
                    elif (raw - above) % checkpoint_ids.WRAP == 1:
                        steps[i] = above + 1
                    else:
                        steps[i] = checkpoint_ids.unwrap_step(raw, above)
                continue
            # Parents almost always come first; where they do not, walk up to a known one.
            chain = [i]
            while (up := parents[chain[-1]]) > chain[-1] and steps[up] == _NO_STEP:
                chain.append(up)
            for k in reversed(chain):
                raw = checkpoint_ids.step_of(self.ids[k])
                if raw is None:
                    continue
                above = steps[parents[k]] if parents[k] >= 0 else _NO_STEP
                steps[k] = raw if above == _NO_STEP else checkpoint_ids.unwrap_step(raw, above)
        return steps


_NO_STEP = -(2**31)


class _Builder:
    """Collects index rows; most parents are the row before, and are linked on the way."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.parents = array("i")
        self.sizes = array("q")
        self.runs: list[tuple[str, int]] = []  # (namespace, first row)
        self.elsewhere: dict[int, str] = {}  # parents that are not the row before, by row
        self.ordered = True

    def add(self, batch: Sequence[IndexRow]) -> None:
        ids, parents, sizes, elsewhere = self.ids, self.parents, self.sizes, self.elsewhere
        ns = self.runs[-1][0] if self.runs else None
        previous = ids[-1] if ids else None
        i = len(ids)
        for row_ns, row_id, parent_id, size in batch:
            if row_ns != ns:
                if ns is not None and row_ns < ns:
                    self.ordered = False
                self.runs.append((row_ns, i))
                ns, previous = row_ns, None
            elif previous is not None and row_id <= previous:
                self.ordered = False
            if not parent_id:
                parents.append(NONE)
            elif parent_id == previous:
                parents.append(i - 1)
            else:
                parents.append(NONE)
                elsewhere[i] = parent_id
            ids.append(row_id)
            sizes.append(-1 if size is None else size)
            previous = row_id
            i += 1

    def finish(self, thread_id: str) -> History:
        if not self.ordered:
            return self._sorted().finish(thread_id)
        ids, parents = self.ids, self.parents
        ends = self._ends()
        spans = {ns: range(start, end) for (ns, start), end in zip(self.runs, ends, strict=True)}
        backward = False
        missing: dict[int, str] = {}
        run = 0
        for i, parent_id in self.elsewhere.items():  # ascending, as they were met
            while ends[run] <= i:
                run += 1
            start, stop = self.runs[run][1], ends[run]
            found = bisect_left(ids, parent_id, start, stop)
            if found < stop and ids[found] == parent_id:
                parents[i] = found
                backward = backward or found >= i
            else:
                missing[i] = parent_id
        cut = _cut_loops(ids, parents) if backward else {}
        return History(thread_id, ids, spans, parents, self.sizes, missing, cut)

    def _ends(self) -> list[int]:
        return [start for _, start in self.runs[1:]] + [len(self.ids)] if self.runs else []

    def _sorted(self) -> _Builder:
        """The same rows in our order (a database's collation may differ), twins dropped."""
        rows: dict[tuple[str, str], IndexRow] = {}
        ends = self._ends()
        for (ns, start), end in zip(self.runs, ends, strict=True):
            for i in range(start, end):
                parent = self.parents[i]
                parent_id = self.ids[parent] if parent >= 0 else self.elsewhere.get(i)
                size = self.sizes[i] if self.sizes[i] >= 0 else None
                rows[ns, self.ids[i]] = IndexRow(ns, self.ids[i], parent_id, size)
        again = _Builder()
        again.add([rows[key] for key in sorted(rows)])
        return again


def _cut_loops(ids: list[str], parents: array[int]) -> dict[int, str]:
    """Cut each loop of the parent chain at its oldest checkpoint; returns what was cut."""
    cut: dict[int, str] = {}
    state = bytearray(len(ids))  # 0 unseen, 1 on the walk, 2 done
    for start in range(len(ids)):
        walk = []
        i = start
        while i >= 0 and state[i] == 0:
            state[i] = 1
            walk.append(i)
            i = parents[i]
        if i >= 0 and state[i] == 1:
            oldest = min(walk[walk.index(i) :])
            cut[oldest] = ids[parents[oldest]]
            parents[oldest] = NONE
        for k in walk:
            state[k] = 2
    return cut


def _count(items: Sequence[int], noun: str) -> str:
    return f"{len(items):,} {noun}" + ("" if len(items) == 1 else "s")


def _has(items: Sequence[int]) -> str:
    return "has" if len(items) == 1 else "have"
