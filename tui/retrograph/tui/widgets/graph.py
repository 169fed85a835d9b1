"""The Graph tab: nodes and the ways between them, as the thread's steps took them."""

from __future__ import annotations

from retrograph.engine.text import escape
from retrograph.tui.reading.inspected import Inspected
from retrograph.tui.reading.topology import Here, Node, here, topology
from retrograph.tui.spans import Line, Span, columns, pad
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.lines import Lines


class GraphTab(Lines):
    """Each node with its ways; the ones of this checkpoint stand out."""

    def __init__(self, ui: Ui) -> None:
        super().__init__(ui)

    @property
    def place(self) -> str:
        return ""

    def show(self, inspected: Inspected | None) -> None:
        if inspected is None:
            self.set_lines([])
            return
        key = inspected.snapshot.key
        nodes = topology(inspected.known, inspected.history, key.ns)
        self.say_empty("No step of this thread has been read that went anywhere.")
        lines = graph_lines(nodes, here(inspected.snapshot.step), self.ui)
        if lines and not inspected.known.complete:
            count = f"{inspected.known.count:,} of {len(inspected.history):,}"
            lines += [[], [Span(f"Of {count} steps read so far.", "waits")]]
        self.set_lines(lines, cursor=min(self.cursor, max(len(lines) - 1, 0)))


def graph_lines(nodes: list[Node], at: Here, ui: Ui) -> list[Line]:
    """Lines of the graph: a node with one way takes one, a router one for each of its ways."""
    width = max((columns(escape(node.name)) for node in nodes), default=0)
    lines: list[Line] = []
    for node in nodes:
        due = node.name in at.due
        title = [
            Span(f"{ui.signs.step} " if due else "  ", "waits"),
            *pad([Span(escape(node.name), "waits strong" if due else "strong")], width),
        ]
        for k, (way, count) in enumerate(node.ways):
            head = title if k == 0 else [Span(" " * (width + 2))]
            lines.append([*head, *_way(node.name, way, count, at, ui)])
    return lines


def _way(node: str, way: tuple[str, ...], count: int, at: Here, ui: Ui) -> Line:
    came = all((node, to) in at.came_by for to in way)
    went = all((node, to) in at.went for to in way)
    role = "accent" if came or went else ""
    said = "  led here" if came else "  taken from here" if went else ""
    return [
        Span(f" {ui.signs.arrow} ", role or "faint"),
        Span(", ".join(map(escape, way)), role),
        Span(f"  {count:,}{ui.signs.times}", "faint"),
        Span(said, "accent"),
    ]
