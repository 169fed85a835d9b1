"""A run as it goes, line by line: tasks that have ended, those that go on, what they print and ask.

step  2 ● b → c_alt  original → c_main                                12 ms
      3 ● c_alt → d   recorded                                         0 ms
        │ what the node printed
        “ what its model said, where that is asked for
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from retrograph.cli.draw.words import question_line
from retrograph.cli.paint import Line, Span, Style, fit, spread, wrap
from retrograph.engine.replay.recordings import bare
from retrograph.engine.text import duration, escape
from retrograph.engine.tree.labels import ASCII, UNICODE, Signs, names

if TYPE_CHECKING:
    from retrograph.engine.replay.timeline import Going, Row
    from retrograph.engine.values import Value

_STEP: Final = 5
"""Columns of a step's number."""
_GOING: Final = 8
"""Running tasks that are shown one by one."""
_TEXT: Final = 2000
"""Characters of one line of output."""
_TAIL: Final = 8
"""Lines of what a running task's model says that are shown."""
_NARROW: Final = 10
"""Columns that a text gets at the least."""

_POLICY: Final = {"recorded": "recorded", "stub": "stub", "finished": "finished"}


class LiveLines:
    """Draws for one terminal. Texts are escaped here; values must have been redacted."""

    def __init__(self, ascii: bool, width: int | None) -> None:
        self.signs: Signs = ASCII if ascii else UNICODE
        self._bar = "|" if ascii else "│"
        self._quote = '"' if ascii else "“"
        self._dots = self.signs.cut
        self._width = width
        self._step: int | None = None

    def row(self, row: Row) -> Line:
        """A task that has ended."""
        glyph, style = self._glyph(row)
        left = [*self._head(row.step, row.depth), Span(f"{glyph} ", style), *self._name(row)]
        if row.error is not None:
            left += [Span("  "), Span(escape(row.error), "failed")]
        elif row.route is not None:
            route = where(row.route, self.signs)
            left += [
                Span(f" {self.signs.arrow} ", "dim"),
                Span(route, "fork" if row.turned else ""),
            ]
        if row.policy in _POLICY:
            left.append(Span(f"  {_POLICY[row.policy]}", "dim"))
        if row.original is not None:
            left.append(Span(f"  the original went {where(row.original, self.signs)}", "fork"))
        return spread(left, [Span(_measured(row), "dim")], self._width)

    def said(self, row: Row) -> Iterator[Line]:
        """What a task's models said, below its row."""
        for text in row.said:
            yield from self._quoted(text, row.depth)

    def unended(self, task: Going) -> Iterator[Line]:
        """The same of a task whose process has ended before it."""
        if task.said:
            yield [*self._running(task), Span("  did not end", "dim")]
        for text in task.said:
            yield from self._quoted(text, _depth(task.ns))

    def going(self, going: Sequence[Going], now: float, pausing: bool, rows: int) -> Iterator[Line]:
        """The tasks that run now, and what can be done, on a terminal of so many `rows`. A column
        is left free at the right: a full line would take the cursor with it."""
        width = None if self._width is None else self._width - 1
        shown = going[:_GOING]
        talking = sum(bool(task.said) for task in shown)
        room = max(rows - len(shown) - 3, 0)
        for task in shown:
            ran = duration(max(now - task.since, 0.0))
            left = [*self._running(task), Span(f" {self._dots}", "dim")]
            yield spread(left, [Span(ran, "accent")], width)
            if task.said:
                tail = min(-(-room // talking), _TAIL)
                room, talking = room - tail, talking - 1
                lines = list(self._quoted(task.said[-1], _depth(task.ns)))
                yield from lines[len(lines) - min(tail, len(lines)) :]
        if len(going) > _GOING:
            yield [Span(f"{' ' * (_STEP + 1)}{len(going) - _GOING} more run", "dim")]
        if pausing:
            said = "Pausing before the next step. Ctrl-C again ends the run at once."
            yield [Span(said, "waits")]
        else:
            yield [Span("Ctrl-C pauses before the next step.", "dim")]

    def output(self, text: str, error: bool) -> Line:
        """A line that a node printed."""
        shown = escape(text if len(text) <= _TEXT else text[:_TEXT] + "…")
        bar = Span(f"{' ' * (_STEP + 1)}{self._bar} ", "failed" if error else "dim")
        return self._fit([bar, Span(shown, "dim")])

    def custom(self, value: Value) -> Line:
        """What a node wrote to its stream."""
        head = Span(f"{' ' * (_STEP + 1)}{self.signs.dot} ", "dim")
        return self._fit([head, Span(question_line(value), "string")])

    def lost(self, count: int) -> Line:
        return [Span(f"{' ' * (_STEP + 1)}{self._bar} {count:,} characters are left out", "dim")]

    def question(self, node: str | None, value: Value) -> Line:
        """What a node asks."""
        head = Span(f"{' ' * (_STEP + 1)}{self.signs.question} ", "waits")
        asks = [Span(f"{escape(node or '?')} asks "), Span(question_line(value), "waits")]
        return self._fit([head, *asks])

    def note(self, text: str) -> Line:
        return [Span(f"{' ' * (_STEP + 1)}{escape(text)}", "dim")]

    def _running(self, task: Going) -> list[Span]:
        """A task that runs."""
        indent = " " * (_STEP + 1 + 2 * _depth(task.ns))
        return [Span(indent), Span(f"{self.signs.step} ", "accent"), Span(escape(task.node))]

    def _quoted(self, text: str, depth: int) -> Iterator[Line]:
        """A text in the room between its indent and the edge."""
        indent = " " * (_STEP + 1 + 2 * depth)
        room = None if self._width is None else max(self._width - 1 - len(indent) - 2, _NARROW)
        sign = self._quote
        for line in text.rstrip().split("\n"):
            for part in wrap(escape(line.rstrip("\r").expandtabs(4)), room):
                yield [Span(f"{indent}{sign} ", "accent"), Span(part)]
                sign = " "

    def _fit(self, line: Line) -> Line:
        return fit(line, self._width)

    def _head(self, step: int | None, depth: int) -> list[Span]:
        """The step's number where a new one begins, and room for the sub-graphs."""
        number = ""
        if depth == 0 and step != self._step:
            self._step = step
            number = "" if step is None else str(step)
        return [Span(f"{number.rjust(_STEP)} {'  ' * depth}", "dim")]

    def _glyph(self, row: Row) -> tuple[str, Style]:
        if row.error is not None:
            return self.signs.failed, "failed"
        if row.asks:
            return self.signs.question, "waits"
        return self.signs.step, "fork" if row.turned else "done"

    def _name(self, row: Row) -> list[Span]:
        around = bare(row.ns).replace("|", ":")
        return [Span(f"{escape(around)}:" if around else "", "dim"), Span(escape(row.node))]


def _depth(ns: str) -> int:
    return len(ns.split("|")) if ns else 0


def where(route: Sequence[str], signs: Signs) -> str:
    """`ship, notify`, or END."""
    return names(route, signs) if route else "END"


def _measured(row: Row) -> str:
    tokens = "" if row.tokens is None else f"{row.tokens:,} tokens  "
    return tokens + ("" if row.seconds is None else duration(row.seconds).rjust(7))
