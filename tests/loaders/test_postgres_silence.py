"""Looking changes nothing, holds nothing up, and stops when it is told to.

What the server itself says: its statement log, its counters, its locks and its sessions.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest

from loaders import content
from loaders.contract import everything, flat
from loaders.fill import fill
from retrograph.engine.errors import Cancelled, SourceError
from retrograph.engine.model import Loader, ThreadQuery
from retrograph.loaders.postgres import open_postgres
from servers.pgbouncer import pgbouncer
from servers.postgres import Database, Server, Zoo

SAVER = "langgraph.checkpoint.postgres:PostgresSaver"
ALLOWED = re.compile(r"(BEGIN READ ONLY|SET LOCAL (statement|lock)_timeout = '\w+'|SELECT .*|COMMIT|ROLLBACK)\Z")  # fmt: skip # noqa: E501
VOLATILE_BUT_HARMLESS = {"pg_is_in_recovery", "pg_relation_size"}


@pytest.fixture(scope="module")
def filled(postgres: Server) -> Iterator[Database]:
    """A database with the contract's content."""
    with postgres.database() as database:
        fill(SAVER, database.uri)
        yield database


def look_at_everything(loader: Loader) -> None:
    for query in (ThreadQuery(limit=3, sizes=True), ThreadQuery(limit=None, search="線")):
        for row in loader.threads(query):
            everything(loader, row.thread_id)
    for search in ("x%_\\'", "ß"):
        list(loader.threads(ThreadQuery(search=search, prefix="a", since_id="0", offset=1)))
    loader.changed()
    everything(loader, content.WRITES)
    loader.changed()


def statements(database: Database) -> list[str]:
    """Everything that `retrograph` had executed here."""
    pattern = re.compile(r"LOG:\s+(?:statement|execute [^:]*): (.*)")
    found = [match[1] for line in database.logged() if (match := pattern.match(line))]
    assert found
    return found


def test_the_server_saw_nothing_but_reading(
    postgres: Server, postgres_zoo: Zoo, filled: Database
) -> None:
    postgres.only_ours()
    postgres.execute(f"ALTER DATABASE {filled.name} SET log_statement = 'all'")
    loader = open_postgres(filled.uri)
    look_at_everything(loader)
    loader.interrupt()
    with pytest.raises(SourceError):
        # A refused statement: its transaction is ended, too.
        loader._session.reading().all(("SELECT 1/0", ()))
    loader.close()
    seen = statements(filled)
    strange = [s for s in seen if not ALLOWED.match(s)]
    assert not strange
    assert {s.split("=")[0] for s in seen if s.startswith("SET")} == {
        "SET LOCAL statement_timeout ",
        "SET LOCAL lock_timeout ",
    }
    # Every transaction is begun read-only and ended.
    shape = "".join("B" if s[0] == "B" else "E" if s[0] in "CR" else "." for s in seen)
    assert re.fullmatch(r"(B\.+E)+", shape), shape


def test_no_function_is_called_that_could_write(postgres: Server, filled: Database) -> None:
    postgres.only_ours()
    postgres.execute(f"ALTER DATABASE {filled.name} SET log_statement = 'all'")
    loader = open_postgres(filled.uri)
    look_at_everything(loader)
    loader.close()
    called = {name for s in statements(filled) for name in re.findall(r"\b([a-z_]+)\(", s)}
    rows = filled.execute("SELECT proname, provolatile FROM pg_proc")
    volatile = {name for name, kind in rows if kind == "v"}
    assert called & {name for name, _ in rows}
    assert called & volatile <= VOLATILE_BUT_HARMLESS


def test_nothing_is_held_while_it_is_open(filled: Database) -> None:
    loader = open_postgres(filled.uri)
    walk = loader.envelopes(content.LONG)
    next(walk)
    assert filled.held() == []
    look_at_everything(loader)
    assert filled.held() == []
    # A table can be altered and dropped at once while a walk is under way.
    filled.execute("SET lock_timeout = '1s'", "ALTER TABLE checkpoint_writes ADD COLUMN x int",
                   "ALTER TABLE checkpoint_writes DROP COLUMN x")  # fmt: skip
    assert len(flat(walk)) > 1000
    loader.close()


def test_the_app_goes_on_behind_a_pooler(filled: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """One server connection for both: whatever we left on it would stop the app's writes."""
    filled.execute("CREATE TABLE app (n int)")
    with pgbouncer(filled) as uri:

        def insert(n: int) -> None:
            with psycopg.connect(uri, prepare_threshold=None) as app:
                app.execute("INSERT INTO app VALUES (%s)", (n,))

        insert(0)
        # A pooler refuses startup options; ours are read, not sent.
        monkeypatch.setenv("PGOPTIONS", "-c search_path=public -c lock_timeout=1s")
        loader = open_postgres(uri)
        monkeypatch.delenv("PGOPTIONS")
        insert(1)
        look_at_everything(loader)
        walk = loader.envelopes(content.LONG)
        next(walk)
        insert(2)
        assert flat(walk)
        with pytest.raises(SourceError):
            loader._session.reading().all(("SELECT 1/0", ()))
        insert(3)
        assert loader.thread(content.LONG) is not None
        loader.interrupt()
        insert(4)
        with psycopg.connect(uri, autocommit=True, prepare_threshold=None) as app:
            left = app.execute(
                "SELECT name, setting FROM pg_settings WHERE source = 'session' AND name NOT IN "
                "('application_name', 'client_encoding')"
            ).fetchall()
            prepared = app.execute("SELECT name FROM pg_prepared_statements").fetchall()
        loader.close()
        insert(5)
    assert (left, prepared) == ([], [])
    assert filled.execute("SELECT array_agg(n ORDER BY n) FROM app") == [([0, 1, 2, 3, 4, 5],)]
    filled.execute("DROP TABLE app")


def test_many_at_once_behind_a_pooler(filled: Database) -> None:
    """Case 12: no prepared statement is looked for on another server connection."""
    with pgbouncer(filled, pool=3) as uri:
        loaders = [open_postgres(uri) for _ in range(4)]
        workers = [threading.Thread(target=look_at_everything, args=(each,)) for each in loaders]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        loaders.append(open_postgres(filled.uri))
        expected = everything(loaders[-1], content.WRITES)
        assert all(everything(each, content.WRITES) == expected for each in loaders)
        for each in loaders:
            each.close()


def backend(database: Database) -> int:
    found = database.execute(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'retrograph' "
        "AND datname = current_database()"
    )
    assert len(found) == 1
    return int(found[0][0])


def test_a_dropped_connection_is_opened_again(filled: Database) -> None:
    """Case 11: once, said in one line, and what was being read goes on."""
    loader = open_postgres(filled.uri)
    walk = loader.envelopes(content.LONG)
    first = next(walk)
    filled.execute(f"SELECT pg_terminate_backend({backend(filled)}, 5000)")
    rest = flat(walk)
    assert [e.id for e in [*first, *rest]] == [row[1] for row in flat(loader.rows(content.LONG))]
    assert loader.warnings == [
        f"The connection to {loader.location} was lost and has been opened again."
    ]
    loader.close()


def test_a_server_that_does_not_come_back(filled: Database) -> None:
    loader = open_postgres(filled.uri)
    pid = backend(filled)
    allow = f"ALTER DATABASE {filled.name} ALLOW_CONNECTIONS"
    filled.server.execute(f"{allow} false")
    try:
        filled.server.execute(f"SELECT pg_terminate_backend({pid}, 5000)")
        with pytest.raises(SourceError, match="not currently accepting connections"):
            loader.thread(content.LONG)
    finally:
        filled.server.execute(f"{allow} true")
    assert loader.thread(content.LONG) is not None
    loader.close()


@contextmanager
def locked(database: Database) -> Iterator[None]:
    """A table that nobody can read meanwhile, as during a migration."""
    with psycopg.connect(database.uri) as other:
        other.execute("LOCK TABLE checkpoints IN ACCESS EXCLUSIVE MODE")
        yield
        other.rollback()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def waiting(database: Database) -> bool:
    return bool(
        database.execute(
            "SELECT 1 FROM pg_stat_activity WHERE application_name = 'retrograph' "
            "AND state = 'active' AND wait_event_type = 'Lock' AND datname = current_database()"
        )
    )


def interrupted(database: Database, loader: Loader, readers: int) -> None:
    """Reads a locked table in some threads, and stops them."""
    stopped: list[BaseException] = []

    def read() -> None:
        try:
            flat(loader.rows(content.LONG))
        except Cancelled as error:
            stopped.append(error)

    threads = [threading.Thread(target=read) for _ in range(readers)]
    for thread in threads:
        thread.start()
    until(lambda: waiting(database))
    loader.interrupt()
    for thread in threads:
        thread.join()
    assert len(stopped) == readers
    assert not waiting(database)


def test_interrupted_on_the_server(filled: Database) -> None:
    loader = open_postgres(f"{filled.uri}?options=-clock_timeout%3D60s")
    with locked(filled):
        # Both: the one that runs, and the one that waits for its turn.
        interrupted(filled, loader, readers=2)
    assert flat(loader.rows(content.LONG)), "later calls are not affected"
    assert loader.warnings == []
    loader.close()


def test_interrupted_behind_a_pooler(filled: Database) -> None:
    with pgbouncer(filled, pool=2) as uri:
        loader = open_postgres(f"{uri}?options=-clock_timeout%3D60s")
        with locked(filled):
            interrupted(filled, loader, readers=1)
        assert loader.thread(content.LONG) is not None
        loader.close()


def test_ctrl_c_ends_the_statement_too(filled: Database) -> None:
    program = (
        "import sys; from retrograph.loaders.registry import open_source\n"
        "loader = open_source(sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "try:\n    list(loader.rows('long'))\nexcept KeyboardInterrupt:\n    print('stopped')\n"
        "sys.stdin.readline()\n"
        "print(sum(map(len, loader.rows('tree'))))\n"
    )
    with locked(filled):
        child = subprocess.Popen(
            [sys.executable, "-c", program, f"{filled.uri}?options=-clock_timeout%3D60s"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        until(lambda: waiting(filled))
        os.kill(child.pid, signal.SIGINT)
        until(lambda: not waiting(filled))
    out, _ = child.communicate("\n", timeout=60)
    assert out.split() == ["ready", "stopped", "11"], "and the connection still reads"


def test_locked_tables_are_waited_for_shortly(filled: Database) -> None:
    loader = open_postgres(f"{filled.uri}?options=-clock_timeout%3D50ms")
    with locked(filled), pytest.raises(SourceError, match="locked by another session"):
        flat(loader.rows(content.LONG))
    assert flat(loader.rows(content.LONG))
    loader.close()


def test_a_statement_that_takes_too_long(filled: Database) -> None:
    options = "-cstatement_timeout%3D200ms%20-clock_timeout%3D60s"
    loader = open_postgres(f"{filled.uri}?options={options}")
    with locked(filled), pytest.raises(SourceError, match="longer than 200ms"):
        flat(loader.rows(content.LONG))
    assert loader.thread(content.LONG) is not None
    loader.close()


def test_follows_one_thread_exactly(filled: Database) -> None:
    """What is written elsewhere is no change of the thread that was opened; an answer that
    replaces a row is."""
    loader = open_postgres(filled.uri)
    assert flat(loader.rows(content.WRITES))
    assert loader.changed() in (True, False)
    assert not loader.changed()
    filled.execute("INSERT INTO checkpoints SELECT 'other', checkpoint_ns, checkpoint_id, NULL, "
                   "NULL, checkpoint, metadata FROM checkpoints LIMIT 1")  # fmt: skip
    assert not loader.changed()
    filled.execute(f"UPDATE checkpoint_writes SET idx = idx WHERE thread_id = '{content.WRITES}'")
    assert loader.changed()
    assert not loader.changed()
    list(loader.threads(ThreadQuery(limit=1)))
    loader.changed()
    filled.execute("DELETE FROM checkpoints WHERE thread_id = 'other'")
    assert loader.changed()
    loader.close()


def test_follows_what_is_on_several_screens(filled: Database) -> None:
    """The list of threads below the thread that was opened from it: both are watched, and going
    from one to the other is no change."""
    loader = open_postgres(filled.uri)
    list(loader.threads(ThreadQuery(limit=1)))
    flat(loader.rows(content.WRITES))
    until(lambda: not loader.changed())
    for _ in range(2):
        list(loader.threads(ThreadQuery(limit=1)))
        for thread_id in content.ODD_IDS:
            flat(loader.rows(thread_id))
        assert not loader.changed()
    filled.execute("UPDATE checkpoints SET type = NULL WHERE thread_id = 'tree'")
    assert loader.changed(), "of the list"
    assert not loader.changed()
    loader.close()


def test_follows_a_large_list_by_counters(
    filled: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrograph.loaders.postgres.watch._SMALL", 0)
    loader = open_postgres(filled.uri)
    list(loader.threads(ThreadQuery(limit=1)))
    until(lambda: not loader.changed())
    filled.execute("UPDATE checkpoints SET type = NULL WHERE thread_id = 'tree'")
    until(loader.changed)
    # Reading the list again would take long: the next change is told later.
    loader._watch.took(3600)
    filled.execute("UPDATE checkpoints SET type = NULL WHERE thread_id = 'tree'")
    until(loader.changed)
    filled.execute("UPDATE checkpoints SET type = NULL WHERE thread_id = 'tree'")
    time.sleep(0.3)
    assert not loader.changed()
    # A thread is followed all the same.
    flat(loader.rows(content.WRITES))
    loader.changed()
    filled.execute(f"UPDATE checkpoints SET type = NULL WHERE thread_id = '{content.WRITES}'")
    assert loader.changed()
    loader.close()
