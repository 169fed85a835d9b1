"""What the words of a thread filter mean."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from retrograph.engine.errors import UsageError
from retrograph.engine.threads.filterlang import parse_filter
from retrograph.engine.threads.listing import ThreadFilter

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("", ThreadFilter()),
        ("order 44", ThreadFilter(search="order 44")),
        ("status:interrupted", ThreadFilter(status="interrupted")),
        ("status:int", ThreadFilter(status="interrupted")),
        ("status:", ThreadFilter()),
        ("node:approve", ThreadFilter(node="approve")),
        ("user_id=42", ThreadFilter(where={"user_id": "42"})),
        ("user='Ann Lee'", ThreadFilter(where={"user": "Ann Lee"})),
        ("url=http://x", ThreadFilter(where={"url": "http://x"})),
        ("since:1h", ThreadFilter(since=NOW - timedelta(hours=1))),
        ("user-42:conv", ThreadFilter(search="user-42:conv")),
        ('"not closed', ThreadFilter(search="not closed")),
        (
            "status:done node:a k=v since:2d text",
            ThreadFilter("done", "a", {"k": "v"}, "text", NOW - timedelta(days=2)),
        ),
    ],
)
def test_words(text: str, meant: ThreadFilter) -> None:
    assert parse_filter(text, NOW) == meant


@pytest.mark.parametrize(
    ("text", "said"),
    [("status:dome", "did you mean 'done'"), ("status:xyz", "there are"), ("since:x", "no time")],
)
def test_what_makes_no_sense_is_said(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_filter(text, NOW)
