"""`.env` files, as python-dotenv reads them: the format that langgraph.json's `env` names too.

`NAME=value` a line, `export` before it allowed; single quotes take all as it is, double quotes
know `\\n` and the like, both may span lines; `#` begins a comment after a blank; `${NAME}` and
`${NAME:-default}` stand for earlier or surrounding variables, except in single quotes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from retrograph.engine.errors import ConfigError

_LINE = re.compile(
    r"""
    [^\S\n]* (?:export[^\S\n]+)? (?P<name>'[^'\n]+'|[^=\#\s]+) [^\S\n]*
    (?: = [^\S\n]* (?: '(?P<single>(?:\\'|[^'])*)'
                     | "(?P<double>(?:\\.|[^"\\])*)"
                     | (?P<plain>[^\n]*?) )
        (?: [^\S\n]+\#[^\n]* | [^\S\n]* )
    )? (?:\n|$)
    | [^\n]*(?:\n|$)
    """,
    re.VERBOSE | re.DOTALL,
)
_VARIABLE = re.compile(r"\$\{(?P<name>[^}:]*)(?::-(?P<default>[^}]*))?\}")
_ESCAPE = re.compile(r"\\([\\'\"abfnrtv])")
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def read_env(path: Path, surroundings: Mapping[str, str]) -> dict[str, str]:
    """The variables of a file. Raises `ConfigError` when it cannot be read."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"The environment file {path} cannot be read: {why}.") from error
    return parse_env(text, surroundings)


def parse_env(text: str, surroundings: Mapping[str, str]) -> dict[str, str]:
    """The variables of a file's text; names without `=` and lines of other kinds set nothing."""
    found: dict[str, str] = {}

    def variable(match: re.Match[str]) -> str:
        name = match["name"]
        value = surroundings.get(name) or found.get(name)
        return value if value is not None else (match["default"] or "")

    at = 0
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    while at < len(text):
        match = _LINE.match(text, at)
        if match is None or match.end() == at:
            break
        at = match.end()
        if match["name"] is None:
            continue
        name = match["name"].strip("'")
        if match["single"] is not None:
            found[name] = match["single"].replace("\\'", "'")
        elif match["double"] is not None:
            value = _ESCAPE.sub(lambda m: _ESCAPED.get(m[1], m[1]), match["double"])
            found[name] = _VARIABLE.sub(variable, value)
        elif match["plain"] is not None:
            found[name] = _VARIABLE.sub(variable, match["plain"].strip())
    return found
