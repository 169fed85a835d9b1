"""Threads whose newest checkpoints are tens of megabytes each."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.bench.stores import cached
from tests.bench.stores.messages import THREAD, messages
from tests.bench.stores.repeat import Template, checkpoint_id, insert, moment, new_store, repeat


def huge_heads(threads: int, messages_each: int, characters: int) -> Path:
    """The store of so many threads, each a conversation of so many messages."""
    name = f"heads-{threads}-{messages_each}-{characters}-1.db"
    return cached(name, lambda path: _build(path, threads, messages(messages_each, characters)))


def _build(path: Path, threads: int, store: Path) -> None:
    with closing(sqlite3.connect(store)) as connection:
        template = Template.of(connection, THREAD)
    head = template.checkpoints[-1]
    dice = random.Random(1)
    with new_store(path) as connection:
        for number in range(threads):
            at = moment(number * 31)
            new_id = checkpoint_id(at, 1, dice)
            row, writes = repeat(head, template.writes[head.id], f"{number}", new_id, None, 1, at)
            insert(connection, [row], writes)
