"""Keys in the app: from a key to the end of the frame that answers it, and that frame's bytes.

The app on a short thread, on a long one and a plain list of Textual's run side by side and are
asked in turn, so that what disturbs one disturbs all. The clock is what counts for a user; beside
other work the processor time tells what it would show on an idle machine.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from tests.bench.cases.app import command, under
from tests.bench.measure import Timing, once
from tests.bench.report import Row, at_most, seconds, size
from tests.bench.stores.long_thread import THREAD, long_thread
from tests.bench.stores.messages import THREAD as TALK
from tests.bench.stores.messages import messages
from tests.bench.terminal import Answer, Terminal

KEYS = {"cursor": (b"k",), "page": (b"\x1b[5~", b"\x1b[6~"), "jump": (b"g", b"G")}
FLOOR = """
from rich.segment import Segment
from textual.app import App
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

class Plain(ScrollView, can_focus=True):
    DEFAULT_CSS = "Plain { border: round white; width: 45%; }"
    cursor = 0

    def on_mount(self):
        self.virtual_size = Size(0, 100_000)
        self.focus()
        self.go(99_999)

    def go(self, row):
        before, self.cursor = self.cursor, min(max(row, 0), 99_999)
        top = self.scroll_offset.y
        lowest = self.cursor - self.size.height + 1
        self.scroll_to(y=max(lowest, min(top, self.cursor)), animate=False, force=True)
        self.refresh_lines(before)
        self.refresh_lines(self.cursor)

    def render_line(self, y):
        row, style = y + self.scroll_offset.y, self.rich_style
        if row == self.cursor:
            style += self.app.console.get_style("reverse")
        return Strip([Segment(f"head {row}".ljust(self.size.width), style)])

    def key_k(self): self.go(self.cursor - 1)
    def key_pageup(self): self.go(self.cursor - self.size.height)
    def key_pagedown(self): self.go(self.cursor + self.size.height)
    def key_g(self): self.go(0)
    def key_G(self): self.go(99_999)
    key_upper_g = key_G

class Floor(App):
    def compose(self): yield Plain()
Floor().run()
"""
PLAIN = [sys.executable, "-c", FLOOR]
ROOM = (200, 60)
"""Columns and rows of the terminal whose bytes are counted."""


def rows(quick: bool) -> Iterator[Row]:
    times, count = (15, 10_000) if quick else (40, 100_000)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        yield from _answers(folder, count, times)
        yield from _bytes(folder, count)
        yield from _values(folder)


def _answers(folder: Path, count: int, times: int) -> Iterator[Row]:
    few = command(long_thread(1_000), "--thread", THREAD)
    many = command(long_thread(count), "--thread", THREAD)
    found: dict[str, tuple[list[Answer], ...]] = {name: ([], [], []) for name in KEYS}
    with ExitStack() as stack:
        apps = [stack.enter_context(Terminal(argv, folder)) for argv in (many, few, PLAIN)]
        for app in apps:
            app.sees(b"head")
            app.settle(3)
        for name, keys in KEYS.items():
            for turn in range(times):
                for app, took in zip(apps, found[name], strict=True):
                    took.append(app.key(keys[turn % len(keys)]))
    for name, (long, short, plain) in found.items():
        what = f"app: {name}, key to paint, {count:,} checkpoints"
        clock = _p95(answer.seconds for answer in long)
        yield under(f"{what}, p95 by the clock", clock, 0.016, seconds)
        ours, few_, floor = (_p95(a.worked for a in side) for side in (long, short, plain))
        yield under(f"{what}, p95 of processor time", ours, 0.016, seconds)
        yield at_most(f"{what}; 1,000", Timing(ours, few_, ours / few_), 1.3)
        cells = (seconds(ours), seconds(floor), f"{ours / floor:.2f} ×", "", None)
        yield Row(f"{what}; a plain list of Textual's", *cells)


def _p95(took: Iterable[float]) -> float:
    ordered = sorted(took)
    return ordered[int(len(ordered) * 0.95)]


def _bytes(folder: Path, count: int) -> Iterator[Row]:
    """All that a step of the cursor writes, the inspector's new checkpoint included."""
    argv = command(long_thread(count), "--thread", THREAD)
    found = []
    with Terminal(argv, folder, *ROOM) as app:
        app.sees(b"head")
        app.settle(3)
        for _ in range(15):
            app.key(b"k")
            app.settle(0.5)
            found.append(sum(len(frame.data) for frame in app.frames))
    what = f"app: bytes that a step of the cursor writes, {ROOM[0]}x{ROOM[1]}"
    yield under(what, median(found), 4_000, size)


def _values(folder: Path) -> Iterator[Row]:
    """The State tab on a large value: in the app from the key, and the view alone."""
    store = messages(2_000, 2_500)
    to_state: list[float] = []
    opened: list[Answer] = []
    for _ in range(5):
        with Terminal(command(store, "--thread", TALK), folder) as app:
            app.sees(b"head")
            app.settle(2)
            app.key(b"k")
            app.settle(1)
            to_state.append(app.until(b"G", "step 1 ·".encode()))
            app.settle(1)
            app.key(b"\t")
            opened.append(app.key(b" "))
    yield Row(
        "app: from a key to the State of 5 MB, its rest of 70 ms included",
        *(seconds(median(to_state)), "", "", "", None),
    )
    what = "app: a list of 2,000 messages expanded, key to paint"
    yield under(f"{what}, by the clock", median(a.seconds for a in opened), 0.03, seconds)
    yield under(f"{what}, processor time", median(a.worked for a in opened), 0.03, seconds)
    took, _ = once(state, store, TALK)
    yield under("app: State of 5 MB, first paint, the view alone", took, 0.15, seconds)


def state(store: str, thread: str) -> object:
    """Prepares the first paint of a state, by the value view alone."""
    from retrograph.engine.thread import Thread
    from retrograph.engine.views.outline import Outline
    from retrograph.loaders.registry import open_source

    opened = Thread(open_source(store), thread)
    tree = opened.history
    snapshot = opened.snapshot("", tree.ids[tree.head()])

    def call() -> object:
        outline = Outline(dict(snapshot.values))
        return [outline.row(at, 80) for at in range(len(outline))]

    return call
