"""From a Postgres URL to what is connected to: everything that psql takes, and `?schema=…`.

libpq resolves services, `.pgpass`, `PG*` variables and TLS files by itself. What it would send
to the server as startup options is read here instead: a pooler refuses them or, worse, keeps them
for the next client.
"""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from psycopg import ProgrammingError, pq
from psycopg.conninfo import conninfo_to_dict

from retrograph.engine.errors import SourceError

STATEMENT_TIMEOUT = "30s"
LOCK_TIMEOUT = "2s"
CONNECT_TIMEOUT = 10
"""Seconds, where nothing else says otherwise."""

_PATIENCE = {
    # All on our side of the connection: a server or a firewall that has gone silent is noticed.
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}

_URL = re.compile(r"postgres(?:ql)?(?:\+\w+)?://(?P<user>[^@/]*@)?(?P<rest>[^?]*)\??(?P<query>.*)",
                  re.IGNORECASE | re.DOTALL)  # fmt: skip
_TIME = re.compile(r"'?\d+\s*(us|ms|s|min|h|d)?'?")
_UNREADABLE = (
    "This is no Postgres URL as psql takes them: in its user name and password @ is written as "
    "%40, / as %2F, : as %3A and % as %25 (better: leave the password out, and use ~/.pgpass or "
    "PGPASSWORD)."
)


@dataclass(frozen=True)
class Address:
    """Where to connect, and how to read there."""

    parameters: Mapping[str, str] = field(repr=False)
    """For libpq. Holds the password, if the URL does."""
    schemas: tuple[str, ...] = ()
    """Where the tables are looked for; empty: where the server's own search path says."""
    statement_timeout: str = STATEMENT_TIMEOUT
    lock_timeout: str = LOCK_TIMEOUT
    ignored: tuple[str, ...] = ()
    """Names of startup options that were given and not sent."""

    @property
    def shown(self) -> str:
        """The URL without secrets, as far as it is known before connecting."""
        given = self.parameters
        known = {name: given.get(name) or _default(name) for name in ("host", "port", "user")}
        if "service" in given and not any(given.get(name) for name in known):
            return f"postgresql:///?service={given['service']}"
        database = given.get("dbname") or _default("dbname") or known["user"]
        return shown(known["host"], known["port"], known["user"], database)


def shown(host: str | None, port: str | int | None, user: str | None, database: str | None) -> str:
    """A URL for people: no password, no parameters."""
    at = f"{user}@" if user else ""
    if host and host.startswith("/"):
        return f"postgresql://{at}/{database or ''}?host={host}"
    name = f"[{host}]" if host and ":" in host else host or "localhost"
    return f"postgresql://{at}{name}{f':{port}' if port else ''}/{database or ''}"


def parse(url: str) -> Address:
    """Raises `SourceError` for what libpq does not understand, without repeating it: it may hold
    a password."""
    match = _URL.fullmatch(url)
    if match is None or "@" in match["rest"]:
        raise SourceError(_UNREADABLE)
    base = f"postgresql://{match['user'] or ''}{match['rest']}"
    _understood(base)
    own, passed = _split_query(match["query"])
    parameters = _understood(f"{base}?{passed}" if passed else base)
    service = _service(parameters)
    for name, value in {"connect_timeout": str(CONNECT_TIMEOUT), **_PATIENCE}.items():
        if name not in parameters and name not in service and not _environment(name):
            parameters[name] = value
    options = parameters.get("options") or service.get("options") or os.environ.get("PGOPTIONS")
    settings, ignored = _settings(options or "")
    # An empty string, not its absence: else libpq takes PGOPTIONS or the service's.
    parameters["options"] = ""
    parameters.setdefault("application_name", "retrograph")
    schemas = own.get("schema") or settings.get("search_path")
    return Address(
        parameters,
        schemas=tuple(_identifiers(schemas)) if schemas else (),
        statement_timeout=settings.get("statement_timeout", STATEMENT_TIMEOUT),
        lock_timeout=settings.get("lock_timeout", LOCK_TIMEOUT),
        ignored=tuple(ignored),
    )


def _understood(url: str) -> dict[str, str]:
    """What libpq reads in a URL; a port that is no number comes of a / in a password."""
    try:
        given = conninfo_to_dict(url)
    except ProgrammingError:
        raise SourceError(_UNREADABLE) from None
    parameters = {name: str(value) for name, value in given.items() if value is not None}
    if not all(port.isdigit() for port in parameters.get("port", "").split(",") if port):
        raise SourceError(_UNREADABLE)
    return parameters


def _split_query(query: str) -> tuple[dict[str, str], str]:
    """Our own parameter, and the query without it. Raises where a name is unknown to libpq."""
    own: dict[str, str] = {}
    passed = []
    known = {option.keyword.decode() for option in pq.Conninfo.get_defaults()}
    for part in query.split("&") if query else []:
        name, _, value = part.partition("=")
        name = unquote(name)
        if name == "schema":
            own[name] = unquote(value)
        elif name not in known and name != "ssl":
            if not re.fullmatch(r"\w+", name):
                raise SourceError(_UNREADABLE)
            raise SourceError(
                f"Postgres knows no URL parameter {name!r}; Retrograph adds only `schema`."
            )
        else:
            passed.append(part)
    return own, "&".join(passed)


def _settings(options: str) -> tuple[dict[str, str], list[str]]:
    """`-c search_path=app --lock_timeout=1s` → the settings that we apply ourselves, and the names
    of the others. Spaces and backslashes are escaped by backslashes (libpq, `options`)."""
    words = [re.sub(r"\\(.)", r"\1", w) for w in re.findall(r"(?:\\.|\S)+", options)]
    found: dict[str, str] = {}
    ignored: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "-c":
            word = next(rest, "")
        elif word.startswith(("-c", "--")):
            word = word[2:]
        name, equals, value = word.partition("=")
        if equals:
            name = name.replace("-", "_").lower()
        if name == "search_path" and equals:
            found[name] = value
        elif name in ("statement_timeout", "lock_timeout") and _TIME.fullmatch(value):
            found[name] = value.strip("'")
        else:
            ignored.append(name)
    return found, ignored


def _identifiers(text: str) -> list[str]:
    """`public, "My Schema", $user` → names as the catalog has them (others folded to lower)."""
    found = []
    for quoted, plain in re.findall(r'"((?:[^"]|"")*)"|([^",]+)', text):
        name = quoted.replace('""', '"') or plain.strip().lower()
        if name:
            found.append(name)
    return found


def _service(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters of the connection service that libpq will use."""
    name = parameters.get("service") or os.environ.get("PGSERVICE")
    if not name:
        return {}
    own = os.environ.get("PGSERVICEFILE")
    files = [Path(own) if own else Path.home() / ".pg_service.conf"]
    if folder := os.environ.get("PGSYSCONFDIR"):
        files.append(Path(folder) / "pg_service.conf")
    for file in files:
        read = configparser.RawConfigParser(strict=False, delimiters=("=",))
        try:
            read.read_string(file.read_text("utf-8", "replace"))
        except (OSError, configparser.Error):
            continue
        if read.has_section(name):
            return dict(read.items(name))
    return {}


def _default(name: str) -> str | None:
    """What libpq takes where nothing is given: from the environment, else as it was compiled."""
    for option in pq.Conninfo.get_defaults():
        if option.keyword.decode() == name and option.val is not None:
            return option.val.decode("utf-8", "replace")
    return None


def _environment(name: str) -> bool:
    return any(
        option.keyword.decode() == name
        and option.envvar is not None
        and option.envvar.decode() in os.environ
        for option in pq.Conninfo.get_defaults()
    )
