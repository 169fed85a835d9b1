"""The words of a thread filter, as one types them into a box.

    status:interrupted node:approve user_id=42 since:1h text

`status:` done, interrupted, error, unfinished; `node:` a node that is due; `KEY=VALUE` a value of
the head's metadata; `since:` as `threadlist.parse_since`; everything else is text of the thread's
id. Quotes keep blanks: `user="Ann Lee"`.
"""

from __future__ import annotations

import shlex
from datetime import datetime
from difflib import get_close_matches

from retrograph.engine.errors import UsageError
from retrograph.engine.text import cut
from retrograph.engine.threads.listing import STATUSES, ThreadFilter, parse_since

WORDS = ("status", "node", "since")


def parse_filter(text: str, now: datetime, sizes: bool = False) -> ThreadFilter:
    """The filter that a text means. Raises `UsageError`, in one sentence."""
    status: str | None = None
    node: str | None = None
    since: datetime | None = None
    where: dict[str, str] = {}
    search: list[str] = []
    for word in _split(text):
        name, colon, value = word.partition(":")
        key, equals, wanted = word.partition("=")
        if colon and name == "status":
            status = _status(value)
        elif colon and name == "node":
            node = value
        elif colon and name == "since":
            since = parse_since(value, now)
        elif equals and key and (not colon or len(key) < len(name)):
            where[key] = wanted
        else:
            search.append(word)
    return ThreadFilter(
        status=status or None,
        node=node or None,
        where=where,
        search=" ".join(search) or None,
        since=since,
        sizes=sizes,
    )


def _split(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.escape = ""
    try:
        return list(lexer)
    except ValueError:  # a quote that is not closed yet
        return text.replace('"', " ").replace("'", " ").split()


def _status(value: str) -> str:
    if not value or value in STATUSES:
        return value
    begun = [status for status in STATUSES if status.startswith(value)]
    if len(begun) == 1:
        return begun[0]
    near = get_close_matches(value, STATUSES, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(STATUSES)}."
    raise UsageError(f"There is no status '{cut(value, 40)}'{hint}")
