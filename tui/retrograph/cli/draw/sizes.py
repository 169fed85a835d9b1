"""What a checkpoint takes, by channel, and what grows along its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from retrograph.cli.draw.words import fields, header, thread_name
from retrograph.cli.paint import Column, Line, Span, table
from retrograph.cli.session import Session
from retrograph.engine.text import escape, size
from retrograph.engine.thread import Thread
from retrograph.engine.threads.pages import read_page
from retrograph.engine.threads.refs import short_length
from retrograph.engine.views.sizes import ChannelSize, Sizes

_BLOCKS = "▁▂▃▅▇"
_ASCII_BLOCKS = ".:-=#"
_BAR = 12


def size_lines(
    session: Session, thread: Thread, i: int, sizes: Sizes, channels: Sequence[str] | None
) -> Iterator[Line]:
    """Everything that `show --sizes` prints for people."""
    history = thread.history
    ns, id_ = history.ns(i), history.ids[i]
    end = short_length(history.ids)
    name = thread_name(thread.thread_id) + (f"::{escape(ns)}" if ns else "")
    step = history.step(i)
    said = "" if step is None else f" · step {step}"
    # All is read before anything is printed.
    grown = list(_steps(session, thread, sizes, end)) if sizes.grown and not channels else []
    yield header(session, name, f"@{escape(id_[-end:])}{said}", thread)
    yield []
    facts: list[tuple[str, Line]] = [
        ("checkpoint", [Span(size(sizes.checkpoint))]),
        ("metadata", [Span(size(sizes.metadata))]),
        ("writes", [Span(size(sizes.writes)), Span("  of the step that began here", "dim")]),
    ]
    line = f"{len(sizes.line):,} checkpoint{'s' * (len(sizes.line) != 1)}"
    total = [] if sizes.total is None else [Span(f", {size(sizes.total)}")]
    facts.append(("line", [Span(line), *total]))
    yield from fields(facts)
    yield []
    if sizes.unreadable is not None:
        yield [Span(f"Channels cannot be told apart: {escape(sizes.unreadable)}.", "failed")]
        return
    chosen = [c for c in sizes.channels if not channels or c.channel in channels]
    yield from _channels(session, chosen, sizes.checkpoint)
    if grown:
        yield []
        yield from grown


def _channels(session: Session, channels: Sequence[ChannelSize], whole: int) -> Iterator[Line]:
    out = session.out
    full, empty = ("#", ".") if out.ascii else ("█", "░")
    heads = [
        Column("channel", flexible=True, least=12),
        Column("size", right=True),
        Column("share", right=True),
        Column("", least=_BAR),
        Column("a checkpoint", right=True),
        Column("along the line"),
    ]
    rows: list[list[Line]] = []
    for channel in channels:
        share = channel.size / whole if whole else 0.0
        filled = round(share * _BAR)
        bar = full * filled + empty * (_BAR - filled)
        rows.append(
            [
                [Span(escape(channel.channel))],
                [Span(size(channel.size))],
                [Span(f"{share:.0%}")],
                [Span(bar, "dim")],
                [Span(_growth(channel.growth), "waits" if channel.growth >= 1 else "dim")],
                [Span(_spark(channel.along, out.ascii), "dim")],
            ]
        )
    yield from table(heads, rows, out.width)


def _growth(bytes_: float) -> str:
    if abs(bytes_) < 1:
        return "–" if abs(bytes_) < 0.05 else f"{bytes_:+.1f} B"
    return ("+" if bytes_ > 0 else "-") + size(round(abs(bytes_)))


def _spark(sizes: Sequence[int], ascii: bool) -> str:
    blocks = _ASCII_BLOCKS if ascii else _BLOCKS
    most = max(sizes, default=0)
    if not most:
        return ""
    return "".join(blocks[min(s * len(blocks) // (most + 1), len(blocks) - 1)] for s in sizes)


def _steps(session: Session, thread: Thread, sizes: Sizes, end: int) -> Iterator[Line]:
    """The checkpoints that are most larger than their parent."""
    from retrograph.engine.tree.labels import ASCII, UNICODE, Labels

    history = thread.history
    near = {g.checkpoint for g in sizes.grown} | {
        history.parent(growth.checkpoint) for growth in sizes.grown
    }
    read = read_page(thread, near)
    labels = Labels(
        history,
        lambda k: read[k][1] if k in read else None,
        lambda k: read[k][0] if k in read else None,
    )
    signs = ASCII if session.out.ascii else UNICODE
    yield [Span("Where it grew most", "strong")]
    rows: list[list[Line]] = []
    for growth in sizes.grown:
        label = labels.label(growth.checkpoint)
        step = history.step(growth.checkpoint)
        rows.append(
            [
                [Span("" if step is None else str(step))],
                [Span("" if label is None else label.text(signs))],
                [Span(f"+{size(growth.more)}", "waits")],
                [Span(size(growth.size))],
                [Span(escape(history.ids[growth.checkpoint][-end:]))],
            ]
        )
    heads = [
        Column("step", right=True),
        Column("what ran", flexible=True, least=12),
        Column("grew by", right=True),
        Column("to", right=True),
        Column("checkpoint"),
    ]
    yield from table(heads, rows, session.out.width)
