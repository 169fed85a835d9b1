"""The Info tab: ids, times, versions, metadata, and what takes the room."""

from __future__ import annotations

from collections.abc import Iterable

from retrograph.engine.history import History
from retrograph.engine.ids import time_of
from retrograph.engine.text import cut, escape
from retrograph.engine.text import size as size_text
from retrograph.engine.views.summary import one_line, size_of
from retrograph.tui import clock
from retrograph.tui.reading.inspected import Inspected
from retrograph.tui.spans import Line, Span, clip, columns, pad
from retrograph.tui.ui import Ui
from retrograph.tui.widgets.lines import Lines

_NAME = 14
_BAR = 20
_POINTS = 32
"""Checkpoints of the line that its growth shows."""
_SPARKS = "▁▂▃▅▇"


class InfoTab(Lines):
    """Facts, a line each."""

    def __init__(self, ui: Ui) -> None:
        super().__init__(ui)

    @property
    def place(self) -> str:
        return ""

    def show(self, inspected: Inspected | None) -> None:
        lines = info_lines(inspected, self.ui) if inspected is not None else []
        self.set_lines(lines, cursor=min(self.cursor, max(len(lines) - 1, 0)))


def info_lines(inspected: Inspected, ui: Ui) -> list[Line]:
    """All that is known of a checkpoint besides its values."""
    history, i, snapshot = inspected.history, inspected.checkpoint, inspected.snapshot
    envelope, key = snapshot.envelope, snapshot.key
    lines: list[Line] = [
        _fact("checkpoint", escape(key.id)),
        _fact("parent", escape(snapshot.parent_id or "none: a root")),
        _fact("thread", escape(cut(key.thread_id, 200))),
        _fact("namespace", escape(key.ns) or "the root graph"),
        _fact("made", _moment(key.id)),
        _fact("by", escape(envelope.source or "not stored")),
        _fact("format", f"v{envelope.v}" if envelope.v else "not readable"),
    ]
    step = snapshot.step
    if step.next:
        exact = "" if step.next_exact else " (inexact: this old format does not tell all)"
        lines.append(_fact("due", ", ".join(map(escape, step.next)) + exact))
    if step.repaired is not None:
        lines.append([*_fact("repaired", ""), Span(escape(step.repaired), "waits")])
    if envelope.unreadable is not None:
        lines.append([*_fact("unreadable", ""), Span(escape(envelope.unreadable), "failed")])
    lines += _sizes(inspected, ui)
    lines += _growth(history, i, ui)
    metadata = inspected.redactor.metadata(dict(envelope.metadata))
    if metadata:
        lines += [[], [Span("metadata", "strong")]]
        lines += [_fact(escape(cut(str(k), 60)), one_line(v, 400)) for k, v in metadata.items()]
    if envelope.versions:
        lines += [[], [Span("channel versions", "strong")]]
        width = max(columns(escape(cut(c, 40))) for c in envelope.versions)
        lines += [
            [
                Span(f"{escape(cut(channel, 40)):<{width}}  ", "dim"),
                Span(_version(version), "number"),
            ]
            for channel, version in envelope.versions.items()
        ]
    return lines


def _sizes(inspected: Inspected, ui: Ui) -> list[Line]:
    """Channels by size, the largest first, with a bar each."""
    sized = [(size_of(value), channel) for channel, value in inspected.values.items()]
    known = sorted(((n, c) for n, c in sized if n is not None), reverse=True)
    total = inspected.history.size(inspected.checkpoint)
    lines: list[Line] = []
    if total is not None or known:
        title = "size" if total is None else f"size {size_text(total)}"
        lines = [[], [Span(title, "strong")]]
    largest = max((n for n, _ in known), default=1) or 1
    width = max((columns(escape(cut(c, 24))) for _, c in known), default=0)
    full, empty = ("=", "-") if ui.ascii else ("━", "─")
    for n, channel in known:
        filled = max(round(n / largest * _BAR), 1)
        lines.append(
            [
                *pad([Span(escape(cut(channel, 24)), "dim")], width + 2),
                Span(full * filled, "dim"),
                Span(empty * (_BAR - filled), "faint"),
                Span(f"{size_text(n):>9}"),
            ]
        )
    return lines


def _growth(history: History, i: int, ui: Ui) -> list[Line]:
    """How the stored size grew along the line to a checkpoint."""
    sizes = [size for k in history.line(i) if (size := history.size(k)) is not None]
    if len(sizes) < 2 or ui.ascii:
        return []
    points = [sizes[round(k * (len(sizes) - 1) / (_POINTS - 1))] for k in range(_POINTS)]
    if len(sizes) < _POINTS:
        points = sizes
    spark = sparkline(points)
    said = f"  {size_text(sizes[0])} to {size_text(sizes[-1])}, {len(sizes):,} checkpoints"
    return [[Span(f"{'growth':<{_NAME}} ", "dim"), Span(spark, "accent"), Span(said, "dim")]]


def sparkline(numbers: Iterable[int]) -> str:
    """Numbers as a line of blocks, from the least to the greatest of them."""
    shown = list(numbers)
    low, high = min(shown), max(shown)
    scale = (len(_SPARKS) - 1) / (high - low) if high > low else 0
    return "".join(_SPARKS[round((n - low) * scale)] for n in shown)


def _fact(name: str, value: str) -> Line:
    return [*pad([Span(clip(name, _NAME), "dim")], _NAME + 1), Span(value)]


def _version(version: object) -> str:
    """The counting part of a version: what stands behind the dot is chance."""
    head, _, _ = str(version).partition(".")
    return escape(head.lstrip("0") or "0")


def _moment(checkpoint_id: str) -> str:
    at = time_of(checkpoint_id)
    if at is None:
        return "not told by its id"
    return clock.exactly(at, milliseconds=True)
