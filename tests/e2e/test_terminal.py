"""The installed program in a real terminal: colours, width, pager, progress, Ctrl-C, pipes."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pexpect
import pytest

DATA = Path(__file__).parent.parent / "data" / "formats"
STORE = DATA / "langgraph-1.2.24.db"
PROGRAM = Path(sys.executable).with_name("retrograph")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-B0]|\x1b[=>]")

Spawn = Callable[..., "pexpect.spawn[str]"]

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not installed here")


def surroundings(**more: str) -> dict[str, str]:
    # pytest-xdist sets LINES and COLUMNS, which would overrule the terminal's own size.
    others = ("RETROGRAPH_", "NO_COLOR", "LINES", "COLUMNS", "PAGER", "LESS")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(others)}
    plain = {"TERM": "xterm-256color", "TZ": "UTC", "LANG": "C.UTF-8", "XDG_CONFIG_HOME": "/none"}
    return kept | plain | more


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Start the program in a terminal of its own."""
    running: list[pexpect.spawn[str]] = []

    def start(*words: object, size: tuple[int, int] = (24, 80), **more: str) -> pexpect.spawn[str]:
        child = pexpect.spawn(
            str(PROGRAM),
            [str(word) for word in words],
            env=surroundings(**more),
            dimensions=size,
            encoding="utf-8",
            timeout=60,
        )
        running.append(child)
        return child

    yield start
    for child in running:
        child.close(force=True)


def whole(child: pexpect.spawn[str]) -> str:
    """All that it printed until its end."""
    child.expect(pexpect.EOF)
    child.close()
    return str(child.before).replace("\r\n", "\n")


def test_colours_on_a_terminal(spawn: Spawn) -> None:
    text = whole(spawn("tree", STORE, "nested"))
    assert "\x1b[33m?" in text
    assert "\x1b[36mhead\x1b[0m" in text
    assert text.count("\x1b[0m") == len(re.findall(r"\x1b\[[1-9]", text))  # each closed


@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colours_where_they_are_not_wanted(spawn: Spawn, more: dict[str, str]) -> None:
    for words in (["tree", STORE, "loop"], ["threads", STORE], ["show", STORE, "paused"]):
        assert "\x1b" not in whole(spawn(*words, **more, size=(200, 80)))


def test_at_40_columns_marks_and_what_is_next_stay_in_short_form(spawn: Spawn) -> None:
    tree = whole(spawn("tree", STORE, "nested", size=(200, 40), NO_COLOR="1"))
    assert re.search(r"head  [0-9a-f]{6}$", tree, re.MULTILINE)
    threads = whole(spawn("threads", STORE, size=(200, 40), NO_COLOR="1"))
    assert re.search(r"^   thread +#  last +next", threads, re.MULTILINE)
    assert re.search(r"^✓  \S+ .* done$", threads, re.MULTILINE)
    assert all(len(line) <= 40 for line in (tree + threads).splitlines())


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_lines_fit_the_terminal(spawn: Spawn, width: int) -> None:
    for words in (["tree", STORE, "nested"], ["threads", STORE], ["show", STORE, "chat"]):
        text = ESCAPES.sub("", whole(spawn(*words, size=(200, width), NO_COLOR="1")))
        assert all(len(line) <= width for line in text.splitlines())
    tree = whole(spawn("tree", STORE, "loop", size=(200, width), NO_COLOR="1"))
    assert "7cdf0e" in tree  # the id can always be read off


def test_a_pager_where_it_is_long(spawn: Spawn) -> None:
    if shutil.which("less") is None:
        pytest.skip("less is not installed")
    child = spawn("show", STORE, "chat", size=(10, 80), PAGER="less", LESS="FRX")
    child.expect(":")
    assert "Metadata" not in child.before
    child.send("q")
    whole(child)
    assert child.exitstatus == 0


def test_no_pager_where_it_fits(spawn: Spawn) -> None:
    text = whole(spawn("tree", STORE, "paused", PAGER="false"))
    assert "approve" in text


def test_a_pager_that_is_not_there(spawn: Spawn) -> None:
    text = whole(spawn("show", STORE, "chat", size=(10, 80), PAGER="/no/such/pager"))
    assert "Metadata" in text


def test_json_is_never_paged(spawn: Spawn) -> None:
    text = whole(spawn("tree", STORE, "loop", "--json", size=(10, 80)))
    assert text.startswith("{\n")
    assert "\x1b" not in text


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60,000 threads."""
    path = tmp_path_factory.mktemp("many") / "many.db"
    shutil.copy(STORE, path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma journal_mode = delete")
        db.execute(
            """with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000)
               insert into checkpoints select 'many-' || i, '', checkpoint_id, null, type,
                 checkpoint, metadata from n, (select * from checkpoints
                 where thread_id = 'loop' order by checkpoint_id desc limit 1)"""
        )
        db.commit()
    return path


def test_ctrl_c_and_progress(spawn: Spawn, many: Path) -> None:
    child = spawn("threads", many, "--where", "no_such=1")
    child.expect(r"reading [\d,]+ threads · Ctrl-C stops")
    child.sendintr()
    text = whole(child)
    assert child.exitstatus == 130
    assert "Traceback" not in text


def test_no_progress_in_a_pipe(many: Path) -> None:
    done = subprocess.run(
        [PROGRAM, "threads", many, "--search", "loop", "--status", "done"],
        capture_output=True,
        env=surroundings(),
        check=True,
    )
    assert done.stderr == b""


def test_a_reader_that_goes_away_is_no_error(many: Path) -> None:
    shell = f"'{PROGRAM}' threads '{many}' --limit 5000 | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", shell], capture_output=True, env=surroundings(), check=True
    )
    assert done.stderr == b"" or b"Only the newest" in done.stderr
    assert done.stdout.splitlines()[-1] == b"0"


def test_a_full_disk_is_said() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [PROGRAM, "threads", STORE], stdout=full, stderr=subprocess.PIPE, env=surroundings()
        )
    assert done.returncode == 1
    assert b"No space left" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_terminal_that_knows_no_unicode(spawn: Spawn) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii", "NO_COLOR": "1"}
    text = whole(spawn("tree", STORE, "loop", **ascii_only))
    assert text.isascii()
    assert "+-*" in text
    assert "price -> discount" in text
    assert "\\x" not in text
    for words in (["show", STORE, "chat"], ["threads", STORE]):
        shown = whole(spawn(*words, **ascii_only, size=(200, 80)))
        assert shown.isascii()
        assert "\\x" not in shown


def test_the_terminal_is_left_as_it_was(spawn: Spawn) -> None:
    child = pexpect.spawn("bash", ["--norc"], env=surroundings(PS1="$ "), encoding="utf-8")
    child.sendline(f"stty -a > /dev/null; A=$(stty -g); '{PROGRAM}' tree '{STORE}' loop; "
                   'test "$A" = "$(stty -g)" && echo sa""me')  # fmt: skip
    child.expect("same", timeout=60)
    child.close(force=True)
