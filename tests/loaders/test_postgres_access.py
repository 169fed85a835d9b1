"""Whom a server lets in and what it shows: roles, schemas, standbys, TLS, and sentences for the
rest."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from loaders import content
from loaders.contract import everything, flat, thread_ids
from loaders.fill import fill
from retrograph.engine.errors import SourceError
from retrograph.engine.model import Loader, ThreadQuery
from retrograph.loaders.registry import open_source
from servers import postgres as programs
from servers.pgbouncer import pgbouncer
from servers.postgres import Database, Server, free_port

SAVER = "langgraph.checkpoint.postgres:PostgresSaver"
SECRET = "s3cr3t-pass"


@pytest.fixture(scope="module")
def filled(postgres: Server) -> Iterator[Database]:
    with postgres.database() as database:
        fill(SAVER, database.uri)
        yield database


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


def refused(source: str) -> str:
    """The sentence that opening ends with."""
    with pytest.raises(SourceError) as raised:
        open_source(source)
    sentence = str(raised.value)
    assert "\n" not in sentence
    assert sentence.endswith((".", "…"))
    assert SECRET not in sentence
    assert raised.value.__context__ is None or raised.value.__suppress_context__
    return sentence


def closed(loader: Loader) -> Loader:
    loader.close()
    return loader


@pytest.fixture
def role(filled: Database) -> Iterator[str]:
    """A role that may log in, and nothing else."""
    filled.server.only_ours()
    name = f"role_{os.urandom(6).hex()}"
    filled.execute(f"CREATE ROLE {name} LOGIN IN ROLE open")
    yield name
    filled.execute(f"DROP OWNED BY {name}", f"DROP ROLE {name}")


def test_a_role_with_select_only(filled: Database, role: str) -> None:
    filled.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
    loader = open_source(filled.server.uri(filled.name, role))
    owner = open_source(filled.uri)
    assert everything(loader, content.WRITES) == everything(owner, content.WRITES)
    assert thread_ids(loader) == thread_ids(owner)
    assert loader.warnings == []
    closed(loader)
    closed(owner)


def test_a_role_without_select(filled: Database, role: str) -> None:
    said = refused(filled.server.uri(filled.name, role))
    assert f"the role {role} may not read public.checkpoint" in said
    filled.execute(f"GRANT SELECT ON checkpoints, checkpoint_writes TO {role}")
    assert "may not read public.checkpoint_blobs" in refused(filled.server.uri(filled.name, role))


def test_rights_that_are_taken_away_meanwhile(filled: Database, role: str) -> None:
    filled.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
    loader = open_source(filled.server.uri(filled.name, role))
    filled.execute(f"REVOKE SELECT ON checkpoints FROM {role}")
    with pytest.raises(SourceError, match="permission denied for table checkpoints"):
        flat(loader.rows(content.LONG))
    closed(loader)


def test_hidden_rows_are_said(database: Database, postgres: Server) -> None:
    postgres.only_ours()
    fill(SAVER, database.uri)
    role = f"role_{os.urandom(6).hex()}"
    database.execute(
        f"CREATE ROLE {role} LOGIN IN ROLE open",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}",
        "ALTER TABLE checkpoints ENABLE ROW LEVEL SECURITY",
        f"CREATE POLICY one ON checkpoints TO {role} USING (thread_id = 'tree')",
    )
    loader = open_source(postgres.uri(database.name, role))
    assert thread_ids(loader) == ["tree"]
    assert len(loader.warnings) == 1
    assert "Row-level security" in loader.warnings[0]
    closed(loader)
    database.execute(f"DROP OWNED BY {role}", f"DROP ROLE {role}")


class TestSchemas:
    @pytest.fixture(scope="class")
    @classmethod
    def database(cls, postgres: Server) -> Iterator[Database]:
        """The store in a schema whose name needs quotes, and in none else."""
        with postgres.database() as database:
            database.execute('CREATE SCHEMA "My ""App""% s"')
            options = "options=-csearch_path%3D%22My\\%20%22%22App%22%22%25\\%20s%22"
            fill(SAVER, f"{database.uri}?{options}")
            yield database

    @pytest.mark.parametrize(
        "query",
        [
            "schema=%22My%20%22%22App%22%22%25%20s%22",
            "schema=public,%22My%20%22%22App%22%22%25%20s%22",
            "options=-csearch_path%3D%22My\\%20%22%22App%22%22%25\\%20s%22",
        ],
    )
    def test_named(self, database: Database, query: str) -> None:
        loader = open_source(f"{database.uri}?{query}")
        assert content.LONG in thread_ids(loader)
        assert everything(loader, content.WRITES)
        assert "schema=My" in loader.location
        closed(loader)

    def test_by_pgoptions(self, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PGOPTIONS", '-c search_path="My\\ ""App""%\\ s"')
        assert closed(open_source(database.uri)).warnings == []

    def test_by_the_search_path_of_the_role(self, database: Database) -> None:
        database.server.only_ours()
        role = f"role_{os.urandom(6).hex()}"
        database.execute(
            f"CREATE ROLE {role} LOGIN SUPERUSER IN ROLE open",
            f'ALTER ROLE {role} SET search_path = "My ""App""% s"',
        )
        assert closed(open_source(database.server.uri(database.name, role))).location
        database.execute(f"DROP ROLE {role}")

    def test_not_named(self, database: Database) -> None:
        said = refused(database.uri)
        assert 'no checkpoint tables in public, but in My "App"% s: add ?schema=' in said
        assert "no checkpoint tables in nowhere" in refused(f"{database.uri}?schema=nowhere")


def test_a_service_and_a_password_file(
    filled: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.server.only_ours()
    role = f"role_{os.urandom(6).hex()}"
    filled.execute(
        f"CREATE ROLE {role} LOGIN PASSWORD '{SECRET}' IN ROLE guarded",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}",
    )
    server = filled.server
    (tmp_path / ".pg_service.conf").write_text(
        f"[prod]\nhost={server.host}\nport={server.port}\nuser={role}\ndbname={filled.name}\n"
        "options=-c search_path=public -c lock_timeout=1s\n"
    )
    passwords = tmp_path / ".pgpass"
    passwords.write_text(f"*:*:*:{role}:{SECRET}\n")
    passwords.chmod(0o600)
    loader = open_source("postgresql:///?service=prod")
    assert loader.location == f"postgresql://{role}@{server.host}:{server.port}/{filled.name}"
    assert loader.thread(content.LONG) is not None
    closed(loader)

    passwords.unlink()
    monkeypatch.setenv("PGPASSWORD", SECRET)
    monkeypatch.setenv("PGUSER", role)
    monkeypatch.setenv("PGHOST", server.host)
    monkeypatch.setenv("PGPORT", str(server.port))
    monkeypatch.setenv("PGDATABASE", filled.name)
    assert closed(open_source("postgresql://")).location == loader.location

    monkeypatch.setenv("PGPASSWORD", f"{SECRET}-wrong")
    assert "the password was refused" in refused(server.uri(filled.name, role))
    monkeypatch.delenv("PGPASSWORD")
    assert "wants a password" in refused(server.uri(filled.name, role))
    wrong = server.uri(filled.name, f"{role}:{SECRET}-wrong")
    assert "the password was refused" in refused(wrong)
    filled.execute(f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def test_nobody_there(filled: Database) -> None:
    host = filled.server.host
    port = free_port()
    said = refused(f"postgresql://ada:{SECRET}@{host}:{port}/d")
    assert said == f"postgresql://ada@{host}:{port}/d: nothing listens there (connection refused)."
    said = refused(f"postgresql://ada:{SECRET}@no-such-host.invalid/d")
    assert said == ("postgresql://ada@no-such-host.invalid:5432/d: there is no host of this name.")
    assert "no connection service 'gone'" in refused("postgresql:///?service=gone")
    said = refused(filled.server.uri("no_such_database"))
    assert 'database "no_such_database" does not exist' in said


def test_a_host_that_is_silent() -> None:
    """A port that takes a connection and never says a word."""
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        said = refused(f"postgresql://ada:{SECRET}@127.0.0.1:{port}/d?connect_timeout=2")
        assert "did not answer within 2 s" in said


def test_not_let_in(filled: Database) -> None:
    filled.server.only_ours()
    filled.execute("CREATE ROLE stranger LOGIN")
    try:
        said = refused(filled.server.uri(filled.name, "stranger"))
        assert "without TLS: add ?sslmode=require" in said
    finally:
        filled.execute("DROP ROLE stranger")
    if filled.execute("SHOW ssl") == [("off",)]:
        assert "offers no TLS, and sslmode=require demands it" in refused(
            f"{filled.uri}?sslmode=require"
        )


def test_tls(filled: Database, tmp_path: Path) -> None:
    """As psql does it: demanded by the server, checked by the client against a root."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key,
         "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    shared = programs.new_folder()
    for file in (key, certificate):
        shutil.copy(file, shared)
        (shared / file.name).chmod(0o644)
    more = (
        "client_tls_sslmode = require\n"
        f"client_tls_key_file = {shared / 'key.pem'}\n"
        f"client_tls_cert_file = {shared / 'certificate.pem'}"
    )
    with pgbouncer(filled, more=more) as uri:
        assert "demands TLS" in refused(f"{uri}?sslmode=disable")
        checked = f"{uri}?sslmode=verify-full&sslrootcert={certificate}"
        assert closed(open_source(checked)).location == uri
        stranger = tmp_path / "stranger.pem"
        stranger.write_text("")
        said = refused(f"{uri}?sslmode=verify-full&sslrootcert={stranger}")
        assert "cannot be opened" in said
    shutil.rmtree(shared)


def test_a_standby(filled: Database) -> None:
    """A copy that follows: read without anything to write to; and followed."""
    primary = filled.server.only_ours()
    program = programs.binaries() / "pg_basebackup"
    if not program.exists():
        pytest.skip("there is no pg_basebackup")
    folder = programs.new_folder()
    data = folder / "data"
    server = filled.server
    programs.run(
        *(program, "-D", data, "-h", server.host, "-p", str(server.port), "-U", server.user),
        *("-R", "-X", "stream", "-c", "fast", "--no-sync", "--no-manifest"),
    )
    assert primary != folder
    try:
        port = programs.start(data)
        standby = Server(server.host, port, server.user)
        loader = open_source(standby.uri(filled.name))
        assert loader.name.endswith(" standby")
        owner = open_source(filled.uri)
        assert everything(loader, content.WRITES) == everything(owner, content.WRITES)
        assert flat(loader.rows(content.WRITES))
        loader.changed()
        assert not loader.changed()
        filled.execute(f"UPDATE checkpoints SET type = NULL WHERE thread_id = '{content.WRITES}'")
        lsn = filled.execute("SELECT pg_current_wal_lsn()::text")[0][0]
        with psycopg.connect(standby.uri(filled.name), autocommit=True) as other:
            while not other.execute(
                "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", (lsn,)
            ).fetchall()[0][0]:
                pass
        assert loader.changed()
        closed(loader)
        closed(owner)
    finally:
        programs.stop(data)


def test_no_tables(database: Database) -> None:
    assert "has no checkpoint tables (LangGraph makes them" in refused(database.uri)
    database.execute("CREATE TABLE checkpoints (id int, checkpoint_id text, type text)")
    assert "has a table `checkpoints` in public, but not LangGraph's" in refused(database.uri)
    database.execute(
        "DROP TABLE checkpoints",
        "CREATE TABLE checkpoints (thread_id text, thread_ts text, checkpoint bytea)",
    )
    assert "but not LangGraph's" in refused(database.uri)


def test_empty_tables(database: Database) -> None:
    with psycopg.connect(database.uri, autocommit=True) as connection:
        from langgraph.checkpoint.postgres import PostgresSaver

        PostgresSaver(connection).setup()  # type: ignore[arg-type]
    loader = open_source(database.uri)
    assert list(loader.threads(ThreadQuery(sizes=True))) == []
    assert loader.thread("x") is None
    loader.changed()
    assert not loader.changed()
    closed(loader)
