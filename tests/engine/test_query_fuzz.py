"""Damaged stores searched, traced, measured and compared: never a fault, only a sentence."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from made import Made, make, said
from retrograph.engine.diff.changes import changes_json, diff
from retrograph.engine.diff.rows import diff_rows
from retrograph.engine.errors import RetrographError
from retrograph.engine.model import ThreadQuery
from retrograph.engine.search.blame import Blame
from retrograph.engine.search.grep import Grep
from retrograph.engine.search.needle import Needle
from retrograph.engine.thread import Thread
from retrograph.engine.values import Delta, Secret
from retrograph.engine.views.redact import Redactor
from retrograph.engine.views.shown import shown_changes
from retrograph.engine.views.sizes import measure
from retrograph.loaders.registry import open_source

DATA = Path(__file__).parent.parent / "data" / "formats"
COLUMNS = (("checkpoints", "checkpoint"), ("checkpoints", "metadata"), ("writes", "value"))


def damage(path: Path, dice: random.Random) -> None:
    """Some bytes of some values are others, or gone."""
    with closing(sqlite3.connect(path)) as db:
        for table, column in COLUMNS:
            for rowid, value in db.execute(f"select rowid, {column} from {table}").fetchall():
                if not value or dice.random() < 0.5:
                    continue
                broken = bytearray(value if isinstance(value, bytes) else value.encode())
                for _ in range(dice.choice((1, 1, 2, 8))):
                    broken[dice.randrange(len(broken))] = dice.choice((0, 0xC1, 0xDF, 0xDD, 0xFF))
                if dice.random() < 0.2:
                    del broken[dice.randrange(len(broken)) :]
                update = f"update {table} set {column} = ? where rowid = ?"
                db.execute(update, (bytes(broken), rowid))
        db.commit()


def ask_everything(path: Path) -> None:
    loader = open_source(str(path))
    redactor = Redactor(["ssn", "/o+/"])
    for row in list(loader.threads(ThreadQuery(limit=None))):
        thread = Thread(loader, row.thread_id)
        history = thread.history
        for needle in (Needle("o"), Needle("1"), Needle(".", regex=True)):
            assert list(Grep(needle).thread(thread)) is not None
        assert list(Grep(Needle("o"), redactor).thread(thread)) is not None
        before: dict[str, object] = {}
        for i, id_ in enumerate(history.ids):
            assert measure(thread, i).checkpoint >= 0
            values = dict(thread.snapshot(history.ns(i), id_).values)
            changes = diff(before, values)
            old, new, shown = shown_changes(before, values, changes, redactor)
            assert changes_json(shown) is not None
            assert diff_rows(old, new, shown) is not None
            before = values
        for channel in before:
            for exact in (False, True):
                try:
                    traced = Blame(thread, len(history.ids) - 1, f"/{channel}", redactor, exact)
                    assert list(traced) is not None
                except RetrographError:
                    pass
                else:
                    assert traced.decoded <= traced.length


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("store", ["langgraph-0.2.0.db", "langgraph-1.2.24.db"])
def test_damaged_stores(tmp_path: Path, store: str, seed: int) -> None:
    path = tmp_path / store
    path.write_bytes((DATA / store).read_bytes())
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma journal_mode = delete")
    damage(path, random.Random(f"{store} {seed}"))
    ask_everything(path)


@pytest.mark.parametrize("seed", range(6))
def test_damaged_values_of_every_kind(tmp_path: Path, seed: int) -> None:
    secret = Secret("pydantic", "SecretStr", "arg", "hunter2")
    states = [
        Made({"messages": [said("one o", f"m{k}") for k in range(n + 1)], "ssn": [secret, n],
              "delta": Delta(["o", said("o", "d")]), "deep": {"a": {"b": [n, {"c": "o"}]}}},
             {"node": {"messages": said("o", "m")}})
        for n in range(6)
    ]  # fmt: skip
    make(tmp_path / "s.db", states)
    damage(tmp_path / "s.db", random.Random(seed))
    ask_everything(tmp_path / "s.db")
