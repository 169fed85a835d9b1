"""The completion scripts of the shells, and where each shell looks for them."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from retrograph.engine.errors import RetrographError

BASH = r"""# retrograph completion for bash
_retrograph_complete() {
    local answer line
    answer=$(_RETROGRAPH_COMPLETE=bash "$1" "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null) || return
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done <<< "$answer"
    local kind=${COMPREPLY[0]}
    COMPREPLY=("${COMPREPLY[@]:1}")
    if [[ $kind == files ]]; then
        compopt -o default -o bashdefault 2>/dev/null
    fi
}
complete -F _retrograph_complete retrograph
"""

ZSH = r"""#compdef retrograph
# retrograph completion for zsh
_retrograph() {
    local -a answer texts shown
    local line
    answer=("${(@f)$(_RETROGRAPH_COMPLETE=zsh $words[1] "${(@Q)words[1,CURRENT]}" 2>/dev/null)}")
    if [[ $answer[1] == files ]]; then
        _files
        return
    fi
    for line in "${(@)answer[2,-1]}"; do
        texts+=("${line%%$'\t'*}")
        if [[ $line == *$'\t'?* ]]; then
            shown+=("${line%%$'\t'*}  -- ${line#*$'\t'}")
        else
            shown+=("${line%%$'\t'*}")
        fi
    done
    (( $#texts )) && compadd -l -d shown -a texts
}
if [[ $funcstack[1] == _retrograph ]]; then
    _retrograph "$@"
else
    compdef _retrograph retrograph
fi
"""

FISH = r"""# retrograph completion for fish
function __retrograph_complete
    set -lx _RETROGRAPH_COMPLETE fish
    set -l words (commandline -opc) (commandline -ct | string unescape; or echo)
    set -l answer (retrograph $words 2>/dev/null)
    if test "$answer[1]" = files
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $answer[2..-1]
    end
end
complete -c retrograph -f -a '(__retrograph_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def bash_words(line: str, current: str) -> tuple[list[str], int]:
    """The words of a line up to the cursor without the program's name, and how much of the last
    one bash keeps: it takes `:` and `@` for ends of words, and replaces only what is behind."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words = []
    try:
        words = list(lexer)
    except ValueError:  # a quote that is still open
        words = [
            *shlex.split(line[: line.rindex(" ") + 1]),
            line[line.rindex(" ") + 1 :].strip("'\""),
        ]
    else:
        if line[-1:].isspace():
            words.append("")
    last = words[-1] if len(words) > 1 else ""
    bare = current.lstrip("'\"").replace("\\", "")
    return words[1:] or [""], max(len(last) - len(bare), 0)


def bash_quoted(text: str) -> str:
    """`text` with a backslash before each sign that bash would read as its own."""
    return "".join(f"\\{c}" if c in " \t\\'\"`$&|;()<>*?[]{}!#~" else c for c in text)


def install(shell: str) -> list[str]:
    """Write a shell's script, and what makes it read it; returns sentences that say what was
    done. Raises `RetrographError` where a file cannot be written."""
    try:
        return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()
    except OSError as error:
        raise RetrographError(
            f"{error.filename} cannot be written: {error.strerror}; "
            f"`retrograph --show-completion {shell}` prints the script."
        ) from error


def _bash() -> list[str]:
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
    script = _put(data / "retrograph/completion.bash", BASH)
    said = _add_line(Path.home() / ".bashrc", f"source {shlex.quote(str(script))}")
    return [f"Wrote {script}.", *said, "New shells complete retrograph."]


def _zsh() -> list[str]:
    home = Path(os.environ.get("ZDOTDIR") or Path.home())
    script = _put(home / ".zfunc/_retrograph", ZSH)
    line = f"fpath+=({shlex.quote(str(script.parent))}); autoload -Uz compinit; compinit"
    said = _add_line(home / ".zshrc", line)
    return [f"Wrote {script}.", *said, "New shells complete retrograph."]


def _fish() -> list[str]:
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    script = _put(config / "fish/completions/retrograph.fish", FISH)
    return [f"Wrote {script}.", "New shells complete retrograph."]


def _put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _add_line(path: Path, line: str) -> list[str]:
    before = path.read_text() if path.exists() else ""
    if line in before.splitlines():
        return []
    with path.open("a") as file:
        file.write(("" if before.endswith("\n") or not before else "\n") + line + "\n")
    return [f"Added a line to {path}."]
