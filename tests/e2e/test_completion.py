"""Completion in each shell that is installed here: typed, completed with Tab, and run."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pexpect
import pytest

STORE = Path(__file__).parent.parent / "data" / "formats" / "langgraph-1.2.24.db"
PROGRAM = Path(sys.executable).with_name("retrograph")

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not installed here")

START = {
    "bash": (["--norc", "--noprofile", "-i"], "PS1='$ '; bind 'set enable-bracketed-paste off'"),
    "zsh": (["-f", "-i"], "PS1='$ '; unsetopt zle_bracketed_paste; autoload -Uz compinit; "
            "compinit -D -u"),
    "fish": (["--no-config", "-i"], "function fish_prompt; echo '$ '; end"),
}  # fmt: skip

IDS = ["user-42:conv@home", "two words", "cost$5;(x)", "Plain", "線程", "it's"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose thread ids need quoting, and a home without anything."""
    folder = tmp_path_factory.mktemp("here")
    shutil.copy(STORE, folder / "odd.db")
    with closing(sqlite3.connect(folder / "odd.db")) as db:
        db.execute("pragma journal_mode = delete")
        for id_ in IDS:
            db.execute(
                """insert into checkpoints select ?, '', checkpoint_id, parent_checkpoint_id, type,
                   checkpoint, metadata from checkpoints where thread_id = 'loop'""",
                [id_],
            )
        db.commit()
    return folder


@pytest.fixture(params=START)
def shell(request: pytest.FixtureRequest, folder: Path) -> Iterator[pexpect.spawn[str]]:
    name = request.param
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    home = folder / f"home-{name}"
    home.mkdir(exist_ok=True)
    environment = {
        "HOME": str(home),
        "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}",
        "TERM": "dumb" if name != "fish" else "xterm",
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "TZ": "UTC",
    }
    script = home / f"completion.{name}"
    shown = subprocess.run(
        [PROGRAM, "--show-completion", name], capture_output=True, check=True, env=environment
    )
    script.write_bytes(shown.stdout)
    arguments, prepare = START[name]
    child = pexpect.spawn(
        name, arguments, cwd=str(folder), env=environment, encoding="utf-8", timeout=30,
        dimensions=(50, 160),
    )  # fmt: skip
    child.sendline(f"{prepare}; source {script}; echo rea''dy")
    child.expect("ready")
    yield child
    child.close(force=True)


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("retrograph thr\todd.db --search Plain", "✓ done"),
        ("retrograph tree od\tPl\t", "Plain · 9 checkpoints"),
        ("retrograph tree odd.db user-4\t", "user-42:conv@home · 9 checkpoints"),
        ("retrograph tree odd.db two\t", "two words · 9 checkpoints"),
        ("retrograph tree odd.db cost\t", r"cost\$5;\(x\) · 9 checkpoints"),
        ("retrograph tree odd.db it\t", "it's · 9 checkpoints"),
        ("retrograph show odd.db Plain@f77\t", "Plain@f7785f · step 1"),
        ("retrograph show odd.db --thre\tPl\t", "Plain@fb814b · step 4"),
        ("retrograph threads odd.db --status err\t", "card declined"),
        ("retrograph conf\tpa\t", "config.toml"),
    ],
)
def test_completed_and_run(shell: pexpect.spawn[str], typed: str, printed: str) -> None:
    for part in typed.split("\t"):
        shell.send(part)
        if part is not typed.split("\t")[-1]:
            shell.send("\t")
            shell.expect(r"[^\t]")  # the shell has answered with something
    shell.send("\r")
    shell.expect(printed)


def test_nothing_is_said_and_nothing_is_written_where_it_fails(folder: Path) -> None:
    before = sorted(p.name for p in folder.iterdir())
    for words in (
        ["tree", "nope.db", ""],
        ["tree", "/", ""],
        ["nope", ""],
        ["tree", "", "", "", ""],
    ):
        done = subprocess.run(
            [PROGRAM, "retrograph", *words],
            env=os.environ | {"_RETROGRAPH_COMPLETE": "zsh"},
            cwd=folder,
            capture_output=True,
        )
        assert done.returncode == 0
        assert done.stderr == b""
        assert done.stdout in (b"", b"words\n")
    assert sorted(p.name for p in folder.iterdir()) == before
