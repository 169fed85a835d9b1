"""The Postgres loader: LangGraph's and LangGraph.js's checkpoint tables, read and never touched.

`open_postgres(url)` opens one database. psycopg is imported here, so import this package only
when a Postgres source is opened.
"""

from __future__ import annotations

from retrograph.loaders.postgres.loader import PostgresLoader

__all__ = ["PostgresLoader", "open_postgres"]


def open_postgres(url: str) -> PostgresLoader:
    """Open `postgresql://…` or `postgres://…`. Raises `SourceError`, in one sentence."""
    return PostgresLoader(url)
