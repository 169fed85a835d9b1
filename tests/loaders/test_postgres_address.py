"""What is read out of a Postgres URL, and that nothing of a password is ever said."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrograph.engine.errors import SourceError
from retrograph.loaders.postgres import address
from retrograph.loaders.registry import open_source

SECRET = "s3cr3t-pass"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PGOPTIONS", "PGSERVICE", "PGSERVICEFILE", "PGCONNECT_TIMEOUT", "PGUSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://h/d?schema=app", ("app",)),
        ("postgres://h/d?schema=App", ("app",)),
        ('postgresql://h/d?schema="App"', ("App",)),
        ("postgresql://h/d?schema=app,public&sslmode=disable", ("app", "public")),
        ("postgresql://h/d?options=-csearch_path%3Dapp", ("app",)),
        ("postgresql://h/d?options=-c%20search_path%3Dapp%2Cpublic", ("app", "public")),
        ('postgresql://h/d?options=--search-path%3D"$user",\\%20public', ("$user", "public")),
        ("postgresql://h/d?options=-csearch_path%3Dapp&schema=mine", ("mine",)),
        ("postgresql+psycopg://h/d", ()),
    ],
)
def test_schemas(url: str, expected: tuple[str, ...]) -> None:
    found = address.parse(url)
    assert found.schemas == expected
    assert found.parameters["options"] == ""
    assert found.parameters["host"] == "h"
    assert "schema" not in found.parameters


def test_startup_options_are_read_and_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    options = "-cstatement_timeout%3D5min%20-c%20lock_timeout%3D500%20-cwork_mem%3D1GB%20-e"
    found = address.parse(f"postgresql://h/d?options={options}")
    assert (found.statement_timeout, found.lock_timeout) == ("5min", "500")
    assert found.ignored == ("work_mem", "-e")
    assert found.parameters["options"] == ""
    monkeypatch.setenv("PGOPTIONS", "-c search_path=env")
    assert address.parse("postgresql://h/d").schemas == ("env",)
    evil = address.parse("postgresql://h/d?options=-cstatement_timeout%3D1';DROP%20x")
    assert evil.statement_timeout == address.STATEMENT_TIMEOUT


def test_a_service_with_options(tmp_path: Path) -> None:
    (tmp_path / ".pg_service.conf").write_text(
        "# ours\n[prod]\nhost=db.example\nconnect_timeout=3\noptions=-c search_path=agents\n"
    )
    found = address.parse("postgresql:///?service=prod")
    assert found.schemas == ("agents",)
    assert "connect_timeout" not in found.parameters, "the service's own holds"
    assert "host" not in found.parameters
    assert found.shown == "postgresql:///?service=prod"
    assert address.parse("postgresql:///?service=other").schemas == ()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"postgresql://ada:{SECRET}@h:99/d", "postgresql://ada@h:99/d"),
        (f"postgresql://ada@h/d?password={SECRET}", "postgresql://ada@h:5432/d"),
        (f"postgresql://a%40b:{SECRET}%2F@[::1]:99/d", "postgresql://a@b@[::1]:99/d"),
        ("postgresql://ada@/d?host=/var/run/pg", "postgresql://ada@/d?host=/var/run/pg"),
    ],
)
def test_shown_without_secrets(url: str, shown: str) -> None:
    found = address.parse(url)
    assert found.shown == shown
    assert SECRET not in repr(found)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ada:{SECRET}@tail@h/d",
        f"postgresql://ada:{SECRET}/tail@h/d",
        f"postgresql://ada:1/{SECRET}@h/d",
        f"postgresql://ada:{SECRET}?x/tail@h/d",
        f"postgresql://ada:{SECRET}%zz@h/d",
        f"postgresql://ada:{SECRET}",
        f"postgresql://h:{SECRET}/d",
        f"postgresql://h/d?{SECRET}=1",
        f"postgresql:/ada:{SECRET}@h/d",
        f"postgres:ada:{SECRET}@h/d",
    ],
)
def test_what_cannot_be_read_is_not_repeated(url: str) -> None:
    with pytest.raises(SourceError) as raised:
        open_source(url)
    assert "s3cr3t" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


def test_a_parameter_that_postgres_does_not_know() -> None:
    with pytest.raises(SourceError, match="no URL parameter 'pgbouncer'"):
        address.parse("postgresql://h/d?pgbouncer=true")
