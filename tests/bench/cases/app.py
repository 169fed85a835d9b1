"""The app in a pseudo-terminal: start, loading, memory, following, rest; against an empty one."""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

from tests.bench.measure import Timing
from tests.bench.report import Row, at_most, seconds, size
from tests.bench.stores.long_thread import THREAD, long_thread
from tests.bench.stores.many_threads import many_threads
from tests.bench.terminal import Terminal

EMPTY = (
    "from textual.app import App\n"
    "from textual.widgets import Static\n"
    "class Empty(App):\n"
    "    def compose(self): yield Static('the-first-frame')\n"
    "Empty().run()\n"
)
NOTHING = [sys.executable, "-c", EMPTY]
FRAME = b"the-first-frame"
IDLE = 10
FOLLOWED = 7


def command(store: Path, *more: str) -> list[str]:
    return [str(Path(sys.executable).parent / "retrograph"), "open", str(store), *more]


def under(what: str, found: float, limit: float, form: Callable[[float], str]) -> Row:
    return Row(what, form(found), "", "", f"≤ {form(limit)}", found <= limit)


def rows(quick: bool) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from _rows(Path(folder), quick)


def _rows(folder: Path, quick: bool) -> Iterator[Row]:
    rounds = 3 if quick else 11
    small = command(many_threads(20))
    many = 10_000 if quick else 100_000
    long = command(long_thread(many), "--thread", THREAD)
    yield at_most(
        "app: start to first frame, small store, least of the rounds; an empty Textual app",
        _started(folder, small, b"threads", rounds),
        1.2,
    )
    yield at_most(
        f"app: the same, thread of {many:,} checkpoints; an empty Textual app",
        _started(folder, long, b"history", rounds),
        1.4,
    )
    nothing, _ = _rest(folder, NOTHING, FRAME)
    yield from _loaded(folder, many, nothing, 0.5, 40e6)
    if not quick:
        yield from _loaded(folder, 1_000_000, nothing, 3, 200e6)
    _, idle = _rest(folder, long, b"head")
    yield under("app: idle while following", idle, 0.01, lambda share: f"{share:.2%} of a core")
    took = _followed(folder, long_thread(many), many)
    yield under(
        f"app: from a commit to its row, {many:,} checkpoints, the slowest of {FOLLOWED}",
        max(took),
        1,
        seconds,
    )


def _started(folder: Path, argv: Sequence[str], needle: bytes, rounds: int) -> Timing:
    """Ours and the baseline in turn. Other work can only add to either: the least counts."""

    def first_frame(argv: Sequence[str], needle: bytes) -> float:
        with Terminal(argv, folder) as terminal:
            return terminal.sees(needle)

    theirs, ours = [], []
    for _ in range(rounds):
        theirs.append(first_frame(NOTHING, FRAME))
        ours.append(first_frame(argv, needle))
    return Timing(min(ours), min(theirs), min(ours) / min(theirs))


def _loaded(folder: Path, count: int, nothing: int, limit: float, most: float) -> Iterator[Row]:
    """When the cursor first moves, when all rows are there, and what they weigh."""
    argv = command(long_thread(count), "--thread", THREAD)
    usable, whole, worked, held = [], [], [], []
    for _ in range(3):
        with Terminal(argv, folder) as terminal:
            frame = terminal.sees(b"history")
            began = terminal.cpu()
            terminal.sees(b"checkpoints")
            terminal.key(b"k", quiet=0)
            usable.append(time.perf_counter() - terminal.began - frame)
            whole.append(terminal.sees(f"{count:,} checkpoints ".encode()) - frame)
            worked.append(terminal.cpu() - began)
            terminal.settle(2)
            held.append(terminal.memory() - nothing)
    what = f"{count:,} checkpoints"
    yield under(f"app: from first frame to a moved cursor, {what}", median(usable), limit, seconds)
    to_all = f"{seconds(min(whole))}, {seconds(min(worked))} of processor time"
    yield Row(f"app: from first frame to all rows, {what}, the least", to_all, "", "", "", None)
    yield under(f"app: memory over an empty app, {what}", median(held), most, size)


def _rest(folder: Path, argv: Sequence[str], needle: bytes) -> tuple[int, float]:
    """(resident bytes, share of a core) of an app that nobody touches."""
    with Terminal(argv, folder) as terminal:
        terminal.sees(needle)
        terminal.settle(3)
        before = terminal.cpu()
        terminal.settle(IDLE)
        return terminal.memory(), (terminal.cpu() - before) / IDLE


def _followed(folder: Path, store: Path, count: int) -> list[float]:
    """Seconds from each commit of a checkpoint to the frame that counts it."""
    copy = folder / "followed.db"
    shutil.copyfile(store, copy)
    took = []
    with (
        Terminal(command(copy, "--thread", THREAD), folder) as terminal,
        sqlite3.connect(copy, isolation_level=None) as connection,
    ):
        terminal.sees(f"{count:,} checkpoints ".encode())
        for number in range(1, FOLLOWED + 1):
            terminal.settle(1 + 0.13 * number)
            _add(connection)
            committed = time.perf_counter()
            shown = terminal.sees(f"{count + number:,} checkpoints ".encode())
            took.append(shown + terminal.began - committed)
    return took


def _add(connection: sqlite3.Connection) -> None:
    """A child of the newest checkpoint: the same with a later id."""
    table = "checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"
    head, kind, body, metadata = connection.execute(
        f"SELECT checkpoint_id, type, checkpoint, metadata FROM {table} "
        "ORDER BY checkpoint_id DESC LIMIT 1",
        (THREAD,),
    ).fetchone()
    ticks = int(head[:8] + head[9:13], 16) + 1
    step = (int(head[19:23], 16) & 0x3FFF) + 1 & 0x3FFF
    new = f"{ticks >> 16:08x}-{ticks & 0xFFFF:04x}{head[13:19]}{0x8000 | step:04x}{head[23:]}"
    connection.execute(
        "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, "
        "type, checkpoint, metadata) VALUES (?, '', ?, ?, ?, ?, ?)",
        (THREAD, new, head, kind, body, metadata),
    )
