"""The Graph tab: the graph of a thread drawn, the way here in it; then each node with its ways."""

from __future__ import annotations

from textual import events
from textual.message import Message

from retrograph.engine.diagram.draw import Diagram, Piece
from retrograph.engine.text import escape
from retrograph.tui.messages import ChartMade, ReadingFailed
from retrograph.tui.reading.chart import LED_HERE, ON_THE_WAY, Chart, chart
from retrograph.tui.reading.inspected import Inspected
from retrograph.tui.reading.topology import Here, Node
from retrograph.tui.reading.wrap import Wrapped
from retrograph.tui.spans import Line, Span, columns, pad
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.lines import Lines
from retrograph.tui.work import Job, Reads


class GraphTab(Reads, Lines):
    """The cursor goes from node to node; what is not drawn for want of room is listed."""

    def __init__(self, ui: Ui) -> None:
        super().__init__(ui)
        self._chart: Chart | None = None
        self._as_picture = False
        self._stops: list[int] = []
        self._places: dict[int, str] = {}

    @property
    def place(self) -> str:
        return self._places.get(self.cursor, "")

    def show(self, inspected: Inspected | None) -> None:
        if inspected is None:
            self._take(None)
            return
        ascii = self.ui.ascii

        def work(job: Job) -> Message:
            return ChartMade(chart(inspected, ascii), job.ticket)

        self.read("chart", work)

    def on_chart_made(self, message: ChartMade) -> None:
        message.stop()
        if self.newest("chart", message.ticket):
            self._take(message.chart)

    def on_reading_failed(self, message: ReadingFailed) -> None:
        message.stop()
        self._take(None)
        self.say_empty(message.sentence, "failed")

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        if self._chart is not None and self._fits(self._chart) != self._as_picture:
            self._take(self._chart)

    def _fits(self, chart: Chart) -> bool:
        room = self.scrollable_content_region.width
        return chart.diagram is not None and chart.diagram.width <= room

    def _take(self, chart: Chart | None) -> None:
        self._chart = chart
        self._stops, self._places = [], {}
        if chart is None:
            self.set_lines([])
            return
        self.say_empty("No step of this thread has been read that went anywhere.")
        self._as_picture = self._fits(chart)
        lines: list[Line] = []
        if chart.diagram is not None and self._as_picture:
            lines += self._diagram(chart, chart.diagram)
        elif chart.nodes:
            why = Wrapped(self._why_not(chart), max(self.scrollable_content_region.width, 20))
            lines += [*([Span(why.line(k), "dim")] for k in range(len(why))), []]
        listed = graph_lines(chart.nodes, chart.at, self.ui)
        self._stops += range(len(lines), len(lines) + len(listed))
        lines += listed
        if listed and chart.read < chart.total:
            lines += [
                [],
                [Span(f"Of {chart.read:,} of {chart.total:,} steps read so far.", "waits")],
            ]
        self.set_lines(lines, cursor=self.cursor)

    def _why_not(self, chart: Chart) -> str:
        if chart.diagram is None:
            return "A graph of this size is listed, not drawn."
        room, zoom = self.scrollable_content_region.width, self.ui.keys.first("thread.zoom")
        return (
            f"The drawing takes {chart.diagram.width} columns, and there are {room}: "
            f"the graph is listed. {zoom} zooms."
        )

    def _diagram(self, chart: Chart, diagram: Diagram) -> list[Line]:
        ways = {node.name: node for node in chart.nodes}
        lines: list[Line] = []
        for row in diagram.rows:
            here = [piece.node for piece in row if piece.node is not None]
            if here:
                self._stops.append(len(lines))
                self._places[len(lines)] = self.ui.dot.join(
                    _said(ways[name], self.ui) for name in here if name in ways
                )
            lines.append([_span(piece, chart) for piece in row])
        return [*lines, [], self._legend(), []]

    def _legend(self) -> Line:
        way, other = ("=", "-") if self.ui.ascii else ("━", "─")
        signs = self.ui.signs
        return [
            Span(way, "accent"),
            Span(" led here  ", "faint"),
            Span(way),
            Span(" this line  ", "faint"),
            Span(other, "dim"),
            Span(" others  ", "faint"),
            Span(signs.answered, "dim"),
            Span(" ran  ", "faint"),
            Span(signs.step, "waits"),
            Span(" due", "faint"),
        ]

    def validate_cursor(self, cursor: int) -> int:
        """The nearest row with something to say, in the direction of the move."""
        cursor = super().validate_cursor(cursor)
        if not self._stops or cursor in self._stops:
            return cursor
        further = [stop for stop in self._stops if (stop > cursor) == (cursor >= self.cursor)]
        return min(further or self._stops, key=lambda stop: abs(stop - cursor))


def _span(piece: Piece, chart: Chart) -> Span:
    if piece.node is not None:
        name = piece.node
        due, ran = name in chart.at.due, chart.ran(name)
        return Span(chart.labels[name], "waits strong" if due else "strong" if ran else "dim")
    role = {0: "", LED_HERE: "accent", ON_THE_WAY: ""}.get(piece.weight, "dim")
    return Span(piece.text, role)


def _said(node: Node, ui: Ui) -> str:
    """`price → hold 1×, ship 1×`."""
    signs = ui.signs
    ways = " | ".join(
        f"{', '.join(map(escape, way))} {count:,}{signs.times}" for way, count in node.ways
    )
    return f"{escape(node.name)} {signs.arrow} {ways}"


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
