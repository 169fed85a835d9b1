"""The layers of a directed graph: each node below what leads to it, loops set apart.

The layered drawing of Sugiyama, Tagawa and Toda ("Methods for visual understanding of hierarchical
system structures", 1981): edges that close a loop are taken out, a node stands one layer below the
lowest node that leads to it, and an edge over several layers is cut into pieces by *bends*. Edges
of nodes that lead nowhere else share their bends, so that they join early; others join them only
where they arrive, so that nobody follows one to another's end.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

Node = str
Bend = tuple[str, int, str]
"""(target, layer, owner): where edges to the target pass through a layer; of `owner`'s alone, where
it leads to others, too, else ""."""
Item = Node | Bend
"""What stands in a layer."""

_SWEEPS = 8


@dataclass(slots=True)
class Layers:
    """A graph without its loops, in layers."""

    rows: list[list[Item]]
    """The items of each layer, from left to right."""
    down: dict[Item, list[Item]] = field(default_factory=dict)
    """Each item's neighbours in the layer below."""
    up: dict[Item, list[Item]] = field(default_factory=dict)
    """Each item's neighbours in the layer above."""
    loops: list[tuple[Node, Node]] = field(default_factory=list)
    """Edges back to the same layer or one above."""
    layer: dict[Node, int] = field(default_factory=dict)
    routers: set[Node] = field(default_factory=set)
    """Nodes that lead to more than one."""

    def owner(self, source: Node) -> str:
        """Whose the bends of an edge are."""
        return source if source in self.routers else ""

    def path(self, source: Node, target: Node) -> list[tuple[Item, Item]]:
        """The pieces of an edge that is no loop, downward."""
        own = self.owner(source)
        between = range(self.layer[source] + 1, self.layer[target])
        stops: list[Item] = [source, *((target, k, own) for k in between), target]
        return list(pairwise(stops))


def layered(nodes: Sequence[Node], edges: Iterable[tuple[Node, Node]]) -> Layers:
    """Lay a graph out in layers; `nodes` in the order in which they are best met.

    Every end of an edge must be among the nodes.
    """
    after: dict[Node, list[Node]] = {node: [] for node in nodes}
    for source, target in dict.fromkeys(edges):
        after[source].append(target)
    loops = _loops(nodes, after)
    forward = {node: [to for to in after[node] if (node, to) not in loops] for node in after}
    layer = _depths(nodes, forward)
    layers = Layers([[] for _ in range(max(layer.values(), default=-1) + 1)], layer=layer)
    layers.loops = sorted(loops, key=lambda loop: (layer[loop[0]] - layer[loop[1]], loop))
    layers.routers = {node for node, targets in after.items() if len(targets) > 1}
    # What loops back stands at the right, where the ways back are.
    back = {source for source, _ in loops}
    for node in sorted(nodes, key=lambda node: node in back):
        layers.rows[layer[node]].append(node)
    for source in nodes:
        for target in forward[source]:
            for above, below in layers.path(source, target):
                if isinstance(below, tuple) and below not in layers.up:
                    layers.rows[below[1]].append(below)
                if below not in layers.down.setdefault(above, []):
                    layers.down[above].append(below)
                    layers.up.setdefault(below, []).append(above)
    _untangle(layers)
    return layers


def _loops(nodes: Sequence[Node], after: Mapping[Node, Sequence[Node]]) -> set[tuple[Node, Node]]:
    """The edges to a node that is still being walked, depth first in the order of the nodes."""
    loops: set[tuple[Node, Node]] = set()
    done: set[Node] = set()
    for root in nodes:
        if root in done:
            continue
        open_ = {root: None}
        stack = [(root, iter(after[root]))]
        while stack:
            node, rest = stack[-1]
            to = next(rest, None)
            if to is None:
                stack.pop()
                del open_[node]
                done.add(node)
            elif to in open_:
                loops.add((node, to))
            elif to not in done:
                open_[to] = None
                stack.append((to, iter(after[to])))
    return loops


def _depths(nodes: Sequence[Node], forward: Mapping[Node, Sequence[Node]]) -> dict[Node, int]:
    """The length of the longest way to each node."""
    waits = dict.fromkeys(nodes, 0)
    for targets in forward.values():
        for to in targets:
            waits[to] += 1
    depth = dict.fromkeys(nodes, 0)
    ready = [node for node in nodes if not waits[node]]
    for node in ready:
        for to in forward[node]:
            depth[to] = max(depth[to], depth[node] + 1)
            waits[to] -= 1
            if not waits[to]:
                ready.append(to)
    return depth


def _untangle(layers: Layers) -> None:
    """Order each layer by the middle of its neighbours, down and up, and keep the order with the
    fewest crossings."""
    best, least = [list(row) for row in layers.rows], crossings(layers)
    for sweep in range(_SWEEPS):
        if not least:
            break
        rows = layers.rows if sweep % 2 == 0 else layers.rows[::-1]
        near = layers.up if sweep % 2 == 0 else layers.down
        for before, row in pairwise(rows):
            at = {item: k for k, item in enumerate(before)}
            own = {item: k for k, item in enumerate(row)}
            row.sort(key=lambda item: _middle(near.get(item, ()), at, own[item]))
        count = crossings(layers)
        if count < least:
            best, least = [list(row) for row in layers.rows], count
    layers.rows[:] = best


def _middle(near: Sequence[Item], at: Mapping[Item, int], own: float) -> float:
    return sum(at[item] for item in near) / len(near) if near else own


def crossings(layers: Layers) -> int:
    """How many pairs of pieces cross."""
    count = 0
    for above, below in pairwise(layers.rows):
        at = {item: k for k, item in enumerate(below)}
        seen: list[int] = []
        for item in above:
            ends = [at[to] for to in layers.down.get(item, ())]
            count += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return count
