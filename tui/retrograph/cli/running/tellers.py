"""Who is told of a run while it goes: a person at a terminal, a reader of lines, a program, or
nobody."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from retrograph.cli.draw.live import LiveLines
from retrograph.cli.output import Output
from retrograph.cli.paint import Line
from retrograph.cli.running.keys import unechoed
from retrograph.cli.running.screen import Screen
from retrograph.engine.serde import Serde
from retrograph.engine.values import Value, to_json
from retrograph.engine.views.pieces import Pieces, shown_speech
from retrograph.engine.views.redact import Redactor

if TYPE_CHECKING:
    from retrograph.engine.host.client import Event
    from retrograph.engine.replay.timeline import Row, Timeline

_OFTEN = 0.1
"""Seconds between two paintings of what goes on."""
_SOON = 0.03
"""Seconds within which it is not painted again when something has come above it."""


class Teller(Protocol):
    """Gets every event once the timeline has taken it, with the rows that became whole by it."""

    def __enter__(self) -> Teller: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def take(self, event: Event, rows: list[Row], timeline: Timeline) -> None: ...

    def left(self, rows: list[Row]) -> None:
        """Rows that became whole by the run's end."""
        ...

    def pausing(self) -> None:
        """A pause was asked for, and comes before the next super-step."""
        ...

    def quiet(self) -> None:
        """Paint nothing more until the next event: somebody is asked something."""
        ...


class Nobody:
    """Nothing is said while it runs."""

    def __enter__(self) -> Nobody:
        return self

    def __exit__(self, *how: object) -> None:
        pass

    def take(self, event: Event, rows: list[Row], timeline: Timeline) -> None:
        pass

    def left(self, rows: list[Row]) -> None:
        pass

    def pausing(self) -> None:
        from retrograph.cli import talk

        talk.say("Pausing before the next step. Ctrl-C again ends the run at once.")

    def quiet(self) -> None:
        pass


class Person(Nobody):
    """Rows as they become whole, what is printed between them; on a terminal, below, what runs."""

    def __init__(self, out: Output, redactor: Redactor, serde: Serde) -> None:
        self._screen = Screen(out)
        self._lines = LiveLines(out.ascii, out.page)
        self._redactor = redactor
        self._serde = serde
        self._open: dict[str, str] = {}
        """By stream, the beginning of a line that is not ended."""
        self._timeline: Timeline | None = None
        """What goes on, as long as that is painted."""
        self._told: Timeline | None = None
        self._is_pausing = False
        self._quietly = ExitStack()
        self._painted = 0.0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._ticker: threading.Thread | None = None

    def __enter__(self) -> Person:
        if self._screen.out.moves:
            self._quietly.enter_context(unechoed())
            self._over.clear()
            self._is_pausing = False
            self._ticker = threading.Thread(target=self._tick, daemon=True)
            self._ticker.start()
        return self

    def __exit__(self, *how: object) -> None:
        self._over.set()
        if self._ticker is not None:
            self._ticker.join()
        with self._lock:
            self._screen.stay([*self._ends(), *self._unended()])
            self._timeline = self._told = None
        self._quietly.close()

    def take(self, event: Event, rows: list[Row], timeline: Timeline) -> None:
        with self._lock:
            self._timeline = self._told = timeline
            said = [*self._said(event), *self._rows(rows)]
            if said:
                self._screen.stay(said)
                if time.monotonic() - self._painted > _SOON:
                    self._paint()

    def left(self, rows: list[Row]) -> None:
        with self._lock:
            self._screen.stay(self._rows(rows))

    def pausing(self) -> None:
        with self._lock:
            self._is_pausing = True
            if self._screen.out.moves:
                self._paint()
                return
        super().pausing()

    def quiet(self) -> None:
        with self._lock:
            self._screen.clear()
            self._timeline = None

    def _tick(self) -> None:
        while not self._over.wait(_OFTEN):
            with self._lock:
                self._paint()

    def _paint(self) -> None:
        if self._timeline is not None and not self._over.is_set():
            self._painted = time.monotonic()
            going = [
                replace(task, said=tuple(self._so_far(text) for text in task.said))
                for task in self._timeline.going
            ]
            rows = self._screen.out.rows
            lines = self._lines.going(going, time.time(), self._is_pausing, rows)
            self._screen.below(list(lines))

    def _said(self, event: Event) -> Iterator[Line]:
        if event.name == "output":
            yield from self._output(event)
        elif event.name == "custom":
            yield self._lines.custom(self._redactor.value(custom_value(event, self._serde)))
        elif event.name == "interrupt":
            value = self._redactor.value(self._serde.decode(event.typed(event["value"])))
            yield self._lines.question(event["node"], value)
        elif event.name == "silent":
            yield self._lines.note("Python does not answer: native code holds it.")

    def _output(self, event: Event) -> Iterator[Line]:
        if event.get("dropped"):
            yield self._lines.lost(event["dropped"])
        stream = event["stream"]
        *whole, rest = (self._open.get(stream, "") + event["text"]).split("\n")
        self._open[stream] = rest
        for text in whole:
            yield self._printed(stream, text)

    def _ends(self) -> list[Line]:
        """Lines that were not ended."""
        left = [self._printed(stream, text) for stream, text in self._open.items() if text]
        self._open.clear()
        return left

    def _printed(self, stream: str, text: str) -> Line:
        return self._lines.output(self._redactor.text(text.rstrip("\r")), stream == "stderr")

    def _rows(self, rows: Iterable[Row]) -> Iterator[Line]:
        for row in rows:
            shown = shown_row(row, self._redactor)
            yield self._lines.row(shown)
            yield from self._lines.said(shown)

    def _unended(self) -> Iterator[Line]:
        """What models had said in tasks that have not ended."""
        for task in () if self._told is None else self._told.going:
            said = tuple(shown_speech(text, self._redactor) for text in task.said)
            yield from self._lines.unended(replace(task, said=said))

    def _so_far(self, text: str) -> str:
        """A text that still grows: where something is hidden, its whole lines."""
        if self._redactor.hides_values:
            text = text.rpartition("\n")[0]
        return shown_speech(text, self._redactor)


class Program(Nobody):
    """Events as JSON, one a line."""

    def __init__(self, out: Output, redactor: Redactor, serde: Serde) -> None:
        self._out = out
        self._redactor = redactor
        self._serde = serde
        self._printed: Pieces[dict[str, Any]] = Pieces(redactor, redactor.text)
        self._spoken: Pieces[dict[str, Any]] = Pieces(
            redactor, lambda text: shown_speech(text, redactor)
        )

    def __exit__(self, *how: object) -> None:
        self._rest(self._spoken)
        self._rest(self._printed)

    def take(self, event: Event, rows: list[Row], timeline: Timeline) -> None:
        if event.name == "task_end":
            self._rest(self._spoken, event["ns"], event["id"])
        shape = self._shape(event)
        if shape is not None:
            self._out.event(shape)
        for row in rows:
            if row.route is not None:
                self._out.event(
                    {
                        **_head("route", event.at),
                        "step": row.step,
                        "ns": row.ns,
                        "node": row.node,
                        "to": list(row.route),
                        "original": list(row.route if row.original is None else row.original)
                        if row.turned
                        else None,
                    }
                )

    def _shape(self, event: Event) -> dict[str, Any] | None:
        name = event.name
        head = _head(name, event.at)
        if name in ("task_start", "task_end"):
            shape = {**head, **_picked(event, "step", "ns", "node", "id")}
            if name == "task_end":
                shape |= _picked(event, "seconds", "tokens", "stopped")
                shape["error"] = self._error(event["error"])
            return shape
        if name == "checkpoint":
            return {**head, **_picked(event, "step", "ns", "id", "parent", "source", "bytes")}
        if name == "interrupt":
            value = self._serde.decode(event.typed(event["value"]))
            shown = to_json(self._redactor.value(value))
            return {**head, "step": None, **_picked(event, "ns", "node", "id"), "value": shown}
        if name == "custom":
            shown = to_json(self._redactor.value(custom_value(event, self._serde)))
            return {**head, "step": None, "ns": event["ns"], "node": None, "value": shown}
        if name == "message":
            about = {**head, **_picked(event, "step", "ns", "node", "id")}
            key = (event["ns"], event["task"], str(event["id"]))
            text = self._spoken.add(key, event["text"], about)
            return {**about, "text": text} if text else None
        if name == "output":
            about = {**head, **_picked(event, "stream")}
            text, dropped = event["text"], event["dropped"]
            text = self._printed.add((event["stream"],), text, about)
            return {**about, "dropped": dropped, "text": text} if text or dropped else None
        if name == "paused":
            return {**head, **{k: event.get(k) for k in ("step", "ns", "node", "why")}}
        return None

    def _rest(self, pieces: Pieces[dict[str, Any]], *beginning: str) -> None:
        """Say what was held back of texts that have ended."""
        for about, text in pieces.end(*beginning):
            more = {"dropped": 0} if pieces is self._printed else {}
            self._out.event({**about, **more, "text": text})

    def _error(self, error: Mapping[str, Any] | None) -> dict[str, Any] | None:
        if error is None:
            return None
        return {k: self._redactor.text(error[k]) for k in ("type", "message", "traceback")}


def custom_value(event: Event, serde: Serde) -> Value:
    """What a node wrote to its stream; as text where it could not be stored."""
    stated = event.get("value")
    return event["text"] if stated is None else serde.decode(event.typed(stated))


def shown_row(row: Row, redactor: Redactor) -> Row:
    """The row with what its error and its models say as far as it may be seen."""
    if not redactor.hides_values:
        return row
    return replace(
        row,
        error=None if row.error is None else redactor.text(row.error),
        said=tuple(shown_speech(text, redactor) for text in row.said),
    )


def _head(name: str, at: float) -> dict[str, Any]:
    from datetime import UTC, datetime

    from retrograph.engine.text import iso

    return {"event": name, "at": iso(datetime.fromtimestamp(at, UTC))}


def _picked(event: Event, *names: str) -> dict[str, Any]:
    return {name: event.get(name) for name in names}
