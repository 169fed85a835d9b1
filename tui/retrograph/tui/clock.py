"""What time it is, for everything that says how long ago something was."""

from __future__ import annotations

from datetime import UTC, datetime

from retrograph.engine.text import ago, local


def now() -> datetime:
    return datetime.now(UTC)


def exactly(at: datetime, milliseconds: bool = False) -> str:
    """`2026-01-05 10:27:47, 1 h ago`; what is long ago by its date alone."""
    said = ago(at, now())
    exact = local(at, "%Y-%m-%d %H:%M:%S.%f" if milliseconds else "%Y-%m-%d %H:%M:%S")
    if milliseconds:
        exact = exact[:-3]
    return exact if said in exact else f"{exact}, {said}"
