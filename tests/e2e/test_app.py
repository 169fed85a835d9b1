"""The installed program in a real pseudo-terminal: walked, resized, ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from retrograph.cli.demo.make import make_demo
from servers.postgres import Zoo
from servers.proxy import Door

PROGRAM = Path(sys.executable).with_name("retrograph")
PATIENCE = 60


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_demo(tmp_path_factory.mktemp("e2e") / "demo").db


class Terminal:
    """The program with what it has drawn."""

    def __init__(self, *arguments: str) -> None:
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "", "LINES": ""}
        environment.pop("COLUMNS")
        environment.pop("LINES")
        self.child = pexpect.spawn(
            str(PROGRAM), list(arguments), env=environment, dimensions=(30, 110), timeout=PATIENCE
        )
        self.before = termios.tcgetattr(self.child.child_fd)

    def sees(self, text: str) -> None:
        """Wait until a text is drawn; blanks and styles between its words do not count."""
        between = rb"(?:\x1b\[[0-9;:?]*[A-Za-z]|\s)*"
        words = [re.escape(word).encode() for word in text.split()]
        self.child.expect(between.join(words))

    def ended(self) -> int:
        """Wait for the end; the terminal must be as it was."""
        self.child.expect(pexpect.EOF)
        assert termios.tcgetattr(self.child.child_fd)[:4] == self.before[:4]
        drawn = self.child.before or b""
        assert b"\x1b[?1049l" in drawn, "the alternate screen was left"
        assert b"\x1b[?25h" in drawn, "the cursor is shown again"
        self.child.close()
        return self.child.exitstatus if self.child.exitstatus is not None else -1


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.child.close(force=True)


def test_walk_search_diff_resize_and_quit(demo: Path, terminals: list[Terminal]) -> None:
    app = Terminal("open", str(demo))
    terminals.append(app)
    app.sees("8 threads")
    app.child.send("jjj\r")
    app.sees("33 checkpoints · 3 lines")
    app.child.send("g/ship\r")
    app.sees("› step 10")
    app.child.send("2")
    app.sees("unchanged")
    app.child.setwinsize(24, 80)
    app.sees("history")
    app.child.send("q")
    assert app.ended() == 0


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_the_terminal_as_it_was(
    demo: Path, terminals: list[Terminal], signum: signal.Signals
) -> None:
    app = Terminal("open", str(demo), "--thread", "order-4412")
    terminals.append(app)
    app.sees("33 checkpoints")
    app.child.kill(signum)
    assert app.ended() == 128 + signum


def test_what_cannot_be_opened_is_one_sentence(tmp_path: Path, terminals: list[Terminal]) -> None:
    app = Terminal("open", str(tmp_path / "nope.db"))
    terminals.append(app)
    app.sees("nope.db does not exist.")
    app.child.expect(pexpect.EOF)
    app.child.close()
    assert app.child.exitstatus == 2


def test_a_thread_that_is_not_there(demo: Path, terminals: list[Terminal]) -> None:
    app = Terminal("open", str(demo), "--thread", "nope")
    terminals.append(app)
    app.sees("There is no thread 'nope' in the source.")
    app.child.expect(pexpect.EOF)
    app.child.close()
    assert app.child.exitstatus == 2


def test_the_demo_opens_on_its_main_thread(demo: Path, terminals: list[Terminal]) -> None:
    app = Terminal("demo", str(demo.parent))
    terminals.append(app)
    app.sees("33 checkpoints · 3 lines")
    app.child.send("q")
    assert app.ended() == 0
    assert b"More of it: retrograph threads" in (app.child.before or b"")


def test_looks_may_be_said_for_once(demo: Path, terminals: list[Terminal]) -> None:
    app = Terminal("open", str(demo), "--thread", "order-4412", "--ascii", "--theme", "light")
    terminals.append(app)
    app.sees("price -> hold | ship")
    app.child.send("q")
    assert app.ended() == 0


def test_a_theme_that_does_not_exist(demo: Path, terminals: list[Terminal]) -> None:
    app = Terminal("open", str(demo), "--theme", "pink")
    terminals.append(app)
    app.sees("There is no theme 'pink'; there are dark, light, terminal, contrast.")
    app.child.expect(pexpect.EOF)
    app.child.close()
    assert app.child.exitstatus == 2


def test_a_server_that_goes_away(postgres_zoo: Zoo, terminals: list[Terminal]) -> None:
    server = postgres_zoo.database.server
    door = Door(server.port)
    try:
        where = f"postgresql://{server.user}@127.0.0.1:{door.port}/{postgres_zoo.database.name}"
        app = Terminal("open", where, "--thread", "fork_update")
        terminals.append(app)
        app.sees("checkpoints")
        door.shut()
        app.sees("no answer")
        app.child.send("gjj")
        door.open()
        app.sees("opened again")
        app.child.send("q")
        assert app.ended() == 0
    finally:
        door.close()


def test_a_thread_that_another_process_writes_is_followed(
    tmp_path: Path, terminals: list[Terminal]
) -> None:
    script = Path(__file__).parents[1] / "piloting" / "writer.py"
    writer = subprocess.Popen(
        [sys.executable, "-W", "ignore", str(script), str(tmp_path / "live.db"), "live"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    with writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        writer.stdin.write("one\n")
        assert writer.stdout.readline() == "one\n"
        app = Terminal("open", str(tmp_path / "live.db"), "--thread", "live")
        terminals.append(app)
        app.sees("3 checkpoints")
        writer.stdin.write("two\n")
        assert writer.stdout.readline() == "two\n"
        app.sees("6 checkpoints")
        app.child.send("q")
        assert app.ended() == 0
        writer.stdin.close()


def test_a_value_in_the_pager(
    demo: Path, terminals: list[Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGER", "sh -c 'echo PAGED; cat; read line < /dev/tty'")
    app = Terminal("open", str(demo), "--thread", "order-4412")
    terminals.append(app)
    app.sees("3.7 KB")
    app.child.send("\tp")
    app.sees("PAGED")
    app.sees('"content": "Hello! What is in order-4412, please?"')
    app.child.send("\r")
    app.sees("33 checkpoints")
    app.child.send("q")
    assert app.ended() == 0
