"""What the shells' scripts pass on, and what is put where for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrograph.cli import shells
from retrograph.cli.shells import bash_quoted, bash_words, install


@pytest.mark.parametrize(
    ("line", "current", "words", "strip"),
    [
        ("retrograph ", "", [""], 0),
        ("retrograph tr", "tr", ["tr"], 0),
        ("retrograph tree agent.db ", "", ["tree", "agent.db", ""], 0),
        # bash takes `:` and `@` for ends of words, and passes only what is behind
        ("retrograph tree a.db user-42:co", "co", ["tree", "a.db", "user-42:co"], 8),
        ("retrograph tree a.db user-42:conv@", "", ["tree", "a.db", "user-42:conv@"], 13),
        (r"retrograph tree a\ b.db x", "x", ["tree", "a b.db", "x"], 0),
        ("retrograph tree 'a b.db' x", "x", ["tree", "a b.db", "x"], 0),
        ("retrograph tree a.db 'user:4", "'user:4", ["tree", "a.db", "user:4"], 0),
        (r"retrograph tree a.db two\ wo", r"two\ wo", ["tree", "a.db", "two wo"], 0),
        ("retrograph tree a.db --thread #1", "#1", ["tree", "a.db", "--thread", "#1"], 0),
    ],
)
def test_bash_words(line: str, current: str, words: list[str], strip: int) -> None:
    assert bash_words(line, current) == (words, strip)


def test_bash_quoted() -> None:
    assert bash_quoted("a b$c:d@e") == r"a\ b\$c:d@e"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("shell", "startup", "script"),
    [
        ("bash", ".bashrc", ".local/share/retrograph/completion.bash"),
        ("zsh", ".zshrc", ".zfunc/_retrograph"),
        ("fish", None, ".config/fish/completions/retrograph.fish"),
    ],
)
def test_install(home: Path, shell: str, startup: str | None, script: str) -> None:
    if startup:
        (home / startup).write_text("# mine")
    said = install(shell)
    assert (home / script).read_text() == shells.SCRIPTS[shell]
    assert script in said[0]
    again = install(shell)
    if startup:
        text = (home / startup).read_text()
        assert text.startswith("# mine\n")
        assert str(home / script).rpartition("/")[0] in text
        assert len(text.splitlines()) == 2  # once, however often
        assert startup in said[1]
        assert len(again) == 2
