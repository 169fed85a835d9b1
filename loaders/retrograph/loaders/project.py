"""The user's configuration: a few keys, from files and the environment, each with its origin.

Later ones win, key by key: the user's own `config.toml` (platformdirs), then, of the nearest
folder upward that has one, `[tool.retrograph]` in `pyproject.toml` and then `retrograph.toml`,
then environment variables `RETROGRAPH_<KEY>`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from retrograph.engine.errors import ConfigError
from retrograph.engine.views.redact import Redactor

PREFIX = "RETROGRAPH_"
DEFAULT = "default"
_LISTS = ("redact", "allow", "side_effects")
"""Keys whose environment variables hold words."""


class Settings(NamedTuple):
    """What can be configured. The fields are the keys; the defaults are what holds unsaid."""

    source: str | None = None
    """What to open where none is given. A relative path is relative to the file that says it."""
    graph: str | None = None
    """The graph: `path.py:attr` (relative to the file that says it), `module:attr`, or a name in
    langgraph.json."""
    python: str | None = None
    """The interpreter that runs it, or the folder of its environment."""
    allow: tuple[str, ...] = ()
    """Modules, or `module.Class`, whose objects may be made of stored data where the graph runs."""
    side_effects: tuple[str, ...] = ()
    """Nodes that reach outside: in a replay they give what is recorded, or are waited before. A
    node of a sub-graph is `sub:node`."""
    redact: tuple[str, ...] = ()
    """What is not shown anywhere: names of keys, whose values are hidden (`*` stands for anything),
    and as `/…/` regular expressions for parts of texts."""
    theme: str | None = None
    """How the app looks: dark, light, terminal or contrast."""
    keys: Mapping[str, str] = {}
    """Keys of the app by the id of an action; `map` names the map that they change: default, vim.
    A bare name of a map will do."""
    ascii: bool = False
    """Draw with characters that every terminal has."""
    mouse: bool = True
    """Whether the app takes the mouse; where not, the terminal selects text with it."""


class Place(NamedTuple):
    """Somewhere that configuration is read from."""

    path: Path
    table: str
    """The table in it: "" for the whole file."""
    there: bool
    """Whether the file exists and, for pyproject.toml, has the table."""


class Config(NamedTuple):
    """The settings in force, and where each came from."""

    settings: Settings
    origins: Mapping[str, str]
    """By key: a file's path, an environment variable's name, or "default"."""
    places: tuple[Place, ...]
    """Where it was looked for, the strongest last."""

    def redactor(self, no_redact: bool = False) -> Redactor:
        """What keeps out of sight what must not be seen, for every view of a run; with
        `no_redact` (the user's `--no-redact`) it shows everything."""
        return Redactor(self.settings.redact, enabled=not no_redact)


def load_config(
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    user_file: Path | None = None,
) -> Config:
    """Read the configuration as seen from `folder` (default: the current one).

    Raises `ConfigError`, in one sentence, for an unknown key, a wrong type or a broken file.
    """
    environment = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    origins = dict.fromkeys(Settings._fields, DEFAULT)
    places = []
    for path, table in _files(folder, user_file):
        found = _read(path, table)
        places.append(Place(path, table, found is not None))
        for key, stated in (found or {}).items():
            where = f"{path}" + (f" [{table}]" if table else "")
            values[key] = _checked(key, stated, where, path.parent)
            origins[key] = str(path)
    for name, text in sorted(environment.items()):
        said = _environment_key(name) if name.startswith(PREFIX) else None
        if said is not None:
            value: Any = _words(text) if said in _LISTS else text
            values[said] = _checked(said, value, f"the environment variable {name}", None)
            origins[said] = name
    return Config(Settings(**values), origins, tuple(places))


def _files(folder: Path | None, user_file: Path | None) -> list[tuple[Path, str]]:
    """(file, table in it), the weakest first."""
    if user_file is None:
        from platformdirs import user_config_path

        user_file = user_config_path("retrograph", appauthor=False) / "config.toml"
    files: list[tuple[Path, str]] = [(user_file, "")]
    home = project_folder(folder)
    if home is not None:
        files += [(home / "pyproject.toml", "tool.retrograph"), (home / "retrograph.toml", "")]
    return files


def project_folder(folder: Path | None = None) -> Path | None:
    """The nearest folder upward that has a pyproject.toml or a retrograph.toml."""
    try:
        start = (folder or Path.cwd()).resolve()
    except OSError:  # the current folder is gone
        return None
    for candidate in (start, *start.parents):
        if _is_file(candidate / "retrograph.toml") or _is_file(candidate / "pyproject.toml"):
            return candidate
    return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _read(path: Path, table: str) -> dict[str, Any] | None:
    try:
        text = path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"The configuration {path} cannot be read: {reason}.") from error
    # Imported here, since most runs find no file.
    import tomllib

    try:
        data: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"The configuration {path} is not valid TOML: {error}.") from error
    for name in table.split(".") if table else ():
        data = data.get(name) if isinstance(data, dict) else None
    if data is not None and not isinstance(data, dict):
        raise ConfigError(f"[{table}] in {path} must be a table.")
    return data


def _checked(key: str, value: Any, where: str, folder: Path | None) -> Any:
    known = Settings._fields
    if key not in known:
        raise ConfigError(f"There is no configuration key '{key}' ({where}){_nearest(key, known)}")
    if key == "redact":
        return _redactions(value, where)
    if key in ("allow", "side_effects"):
        return _names(key, value, where)
    if key == "keys":
        return _keys(value, where)
    if key in ("ascii", "mouse"):
        return _yes_or_no(key, value, where)
    if not isinstance(value, str) or not value:
        raise ConfigError(f"'{key}' must be text that is not empty ({where}).")
    if key == "source":
        return _from_folder(value, folder)
    if key in ("graph", "python"):
        return _below(value, folder)
    return value


def _names(key: str, value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"'{key}' must be a list of names ({where}).")
    return tuple(value)


def _redactions(value: Any, where: str) -> tuple[str, ...]:
    value = _names("redact", value, where)
    try:
        Redactor(value)
    except ConfigError as error:
        raise ConfigError(f"{str(error).rstrip('.')} ({where}).") from error
    return tuple(value)


def _keys(value: Any, where: str) -> dict[str, str]:
    if isinstance(value, str) and value:
        return {"map": value}
    found: dict[str, str] = {}
    todo = [("", value)]
    while todo:
        above, table = todo.pop()
        if not isinstance(table, dict):
            raise ConfigError(
                f"'keys' must be a table from actions to keys, or the name of a map ({where})."
            )
        # `tree.mark = "x"` without quotes around the id is a table in a table for TOML.
        for name, said in table.items():
            if isinstance(said, dict):
                todo.append((f"{above}{name}.", said))
            elif isinstance(said, str):
                found[above + name] = said
            else:
                raise ConfigError(f"The keys of '{above}{name}' must be text ({where}).")
    return found


_YES = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


def _yes_or_no(key: str, value: Any, where: str) -> bool:
    said = _YES.get(value.lower()) if isinstance(value, str) else value
    if not isinstance(said, bool):
        raise ConfigError(f"'{key}' must be true or false ({where}).")
    return said


_WORD = r"/(?:[^/\\]|\\.)+/(?=[,\s]|$)|[^,\s]+"


def _words(text: str) -> list[str]:
    """A list in one variable: words between commas or blanks, which a `/…/` may hold."""
    return re.findall(_WORD, text)


def _nearest(key: str, known: Sequence[str]) -> str:
    near = _near(key, known)
    if near:
        return f"; did you mean '{near}'?"
    return f"; there are {', '.join(known)}."


def _from_folder(source: str, folder: Path | None) -> str:
    """A path as seen from `folder`; addresses and `module:attribute` as they are."""
    if "://" in source or re.fullmatch(r"[\w.-]+:[\w.-]+", source):
        return source
    path = Path(source).expanduser()
    return str(path if folder is None else folder / path)


def _below(value: str, folder: Path | None) -> str:
    """A path as seen from `folder`; a bare name, or `module:attribute`, as it is."""
    where, _, attribute = value.rpartition(":")
    if folder is None or ("/" not in value and not where.endswith(".py")):
        return value
    path = str(folder / Path(where or value).expanduser())
    return f"{path}:{attribute}" if where else path


def _environment_key(name: str) -> str | None:
    """The key that a variable sets; `None` for one that has nothing to do with us."""
    key = name.removeprefix(PREFIX).lower()
    known = Settings._fields
    if key in known:
        return key
    if near := _near(key, known):
        raise ConfigError(
            f"The environment variable {name} sets nothing; did you mean {PREFIX}{near.upper()}?"
        )
    return None


def _near(key: str, known: Sequence[str]) -> str | None:
    from difflib import get_close_matches

    return next(iter(get_close_matches(key, known, n=1)), None)
