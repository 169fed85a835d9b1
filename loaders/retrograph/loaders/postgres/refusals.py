"""Postgres's errors as one sentence each, without what could be secret."""

from __future__ import annotations

import re

import psycopg

from retrograph.loaders.postgres.address import Address

_FATAL = re.compile(r"(?:FATAL|ERROR):\s*(.+)")
_PREFIX = re.compile(r"^(connection failed: )?(connection to server [^:]*failed: )?", re.DOTALL)


def cannot_connect(address: Address, error: psycopg.Error) -> str:
    """Why no connection was made, and what to do."""
    where = address.shown
    text = str(error)
    said = text.lower()
    if "service" in said and "not found" in said:
        return f"There is no connection service {address.parameters.get('service', '')!r}."
    if "password authentication failed" in said:
        return f"{where}: the password was refused (is it in ~/.pgpass or PGPASSWORD?)."
    if "no password supplied" in said:
        return f"{where} wants a password: put it into ~/.pgpass, or into PGPASSWORD."
    if "no encryption" in said and "pg_hba.conf" in said:
        return f"{where} takes no such connection without TLS: add ?sslmode=require."
    if "pg_hba.conf" in said:
        return f"{where} takes no connection from here for this user (its pg_hba.conf says so)."
    if "does not support ssl" in said:
        return f"{where} offers no TLS, and sslmode={address.parameters.get('sslmode')} demands it."
    if "ssl required" in said or "tls required" in said:
        return f"{where} demands TLS: add ?sslmode=require."
    if "resolve host" in said or "translate host name" in said or "name or service" in said:
        return f"{where}: there is no host of this name."
    if "connection refused" in said:
        return f"{where}: nothing listens there (connection refused)."
    if "timeout" in said or "timed out" in said:
        seconds = address.parameters.get("connect_timeout", "some")
        return f"{where} did not answer within {seconds} s."
    if "too many" in said or "connection slots" in said:
        return f"{where} has no connection left to give; try again later."
    return f"{where} cannot be opened: {reason(error)}."


def cannot_read(shown: str, error: psycopg.Error) -> str:
    """Why a statement failed, and what to do."""
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return f"{shown}: a table is locked by another session (a migration?); try again later."
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return f"{shown}: this role may not read there: {reason(error)} (GRANT SELECT is enough)."
    if isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedColumn):
        return f"{shown}: its tables changed while they were read ({reason(error)}); open it again."
    return f"{shown} cannot be read: {reason(error)}."


def too_slow(shown: str, timeout: str) -> str:
    return (
        f"{shown} took longer than {timeout} to answer: name a thread by its id, which needs no "
        "list, or give it more time with ?options=-cstatement_timeout%3D5min."
    )


def reason(error: psycopg.Error) -> str:
    """What the server says, on one line."""
    text = error.diag.message_primary if error.diag.message_primary else None
    if text is None:
        whole = str(error).strip()
        fatal = _FATAL.search(whole)
        text = fatal[1] if fatal else _PREFIX.sub("", whole).split("\n")[0]
    return " ".join(text.split()).rstrip(".")
