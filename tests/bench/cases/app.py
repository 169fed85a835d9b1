"""The app in a pseudo-terminal, against an empty Textual app; and its value view by itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

from tests.bench.measure import Timing, once
from tests.bench.report import Row, at_most, seconds, size
from tests.bench.stores.long_thread import THREAD, long_thread
from tests.bench.stores.many_threads import many_threads
from tests.bench.stores.messages import THREAD as TALK
from tests.bench.stores.messages import messages
from tests.bench.terminal import Terminal

EMPTY = (
    "from textual.app import App\n"
    "from textual.widgets import Static\n"
    "class Empty(App):\n"
    "    def compose(self): yield Static('the-first-frame')\n"
    "Empty().run()\n"
)
NOTHING = [sys.executable, "-c", EMPTY]
IDLE = 10
KEYS = {"cursor": (b"k",), "page": (b"\x1b[5~", b"\x1b[6~"), "jump": (b"g", b"G")}


def _open(store: Path, *more: str) -> list[str]:
    return [str(Path(sys.executable).parent / "retrograph"), "open", str(store), *more]


def _first_frame(argv: Sequence[str], needle: bytes) -> float:
    with Terminal(argv) as terminal:
        return terminal.sees(needle)


def _started(argv: Sequence[str], needle: bytes, rounds: int) -> Timing:
    pairs = []
    for _ in range(rounds):
        nothing = _first_frame(NOTHING, b"the-first-frame")
        pairs.append((nothing, _first_frame(argv, needle)))
    ours, theirs = median(own for _, own in pairs), median(other for other, _ in pairs)
    return Timing(ours, theirs, median(own / other for other, own in pairs))


def _answers(argv: Sequence[str], times: int) -> dict[str, float]:
    """The 95th percentile of the seconds from key to paint, by kind of move."""
    found = {}
    with Terminal(argv) as terminal:
        terminal.sees(b"head")
        terminal.settle(2)
        for name, keys in KEYS.items():
            took = sorted(terminal.key(keys[k % len(keys)]) for k in range(times))
            found[name] = took[int(len(took) * 0.95)]
    return found


def _rest(argv: Sequence[str], needle: bytes) -> tuple[int, float]:
    """(resident bytes, share of a core) of an app that nobody touches."""
    with Terminal(argv) as terminal:
        terminal.sees(needle)
        terminal.settle(2)
        before = terminal.cpu()
        terminal.settle(IDLE)
        return terminal.memory(), (terminal.cpu() - before) / IDLE


def _under(what: str, found: float, limit: float, form: Callable[[float], str]) -> Row:
    return Row(what, form(found), "", "", f"≤ {form(limit)}", found <= limit)


def state(store: str, thread: str) -> Callable[[], object]:
    """First paint of a state, by the value view alone."""
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


def expanded(store: str, thread: str) -> Callable[[], object]:
    """The list of messages opened, and a screen of it made."""
    from retrograph.engine.thread import Thread
    from retrograph.engine.views.outline import Outline
    from retrograph.loaders.registry import open_source

    opened = Thread(open_source(store), thread)
    tree = opened.history
    outline = Outline(dict(opened.snapshot("", tree.ids[tree.head()]).values))
    at = next(at for at in range(len(outline)) if outline.row(at, 80).key == "messages")

    def call() -> object:
        outline.expand(at)
        return [outline.row(row, 80) for row in range(at, min(at + 40, len(outline)))]

    return call


def rows(quick: bool) -> Iterator[Row]:
    rounds, times = (3, 20) if quick else (11, 60)
    count = 10_000 if quick else 100_000
    small = _open(many_threads(20))
    few = _open(long_thread(1_000), "--thread", THREAD)
    many = _open(long_thread(count), "--thread", THREAD)
    yield at_most(
        "app: start to first frame, small store; an empty Textual app",
        _started(small, b"threads", rounds),
        1.2,
    )
    yield at_most(
        f"app: start to first frame, thread of {count:,} checkpoints; an empty Textual app",
        _started(many, b"history", rounds),
        1.4,
    )
    yield _under(
        f"app: from first frame to rows of {count:,} checkpoints", _usable(many), 0.5, seconds
    )
    at_few, at_many = _answers(few, times), _answers(many, times)
    for name in KEYS:
        timing = Timing(at_many[name], at_few[name], at_many[name] / at_few[name])
        yield at_most(f"app: {name}, key to paint, p95, {count:,} checkpoints; 1,000", timing, 1.3)
        yield _under(f"app: {name}, key to paint, p95", at_many[name], 0.016, seconds)
    nothing, _ = _rest(NOTHING, b"the-first-frame")
    held, idle = _rest(many, b"head")
    yield _under(
        f"app: memory for {count:,} checkpoints over an empty app", held - nothing, 40e6, size
    )
    yield _under("app: idle while following", idle, 0.01, lambda share: f"{share:.2%} of a core")
    talk = str(messages(2_000, 2_500))
    took, _ = once(state, talk, TALK)
    yield _under("app: State of 5 MB, first paint", took, 0.15, seconds)
    took, _ = once(expanded, talk, TALK)
    yield _under("app: a list of 2,000 messages expanded", took, 0.03, seconds)


def _usable(argv: Sequence[str]) -> float:
    found = []
    for _ in range(5):
        with Terminal(argv) as terminal:
            frame = terminal.sees(b"history")
            found.append(terminal.sees(b"checkpoints") - frame)
    return median(found)
