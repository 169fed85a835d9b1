"""Every value in stores of every LangGraph since 0.2, and of LangGraph.js: there and back."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from retrograph.engine.model import Typed
from retrograph.engine.serde import Serde, envelope
from retrograph.engine.values import equal, from_json, to_json

STORES = sorted((Path(__file__).parents[1] / "data" / "formats").glob("*.db"))
SERDE = Serde()
VALUES = "select type, checkpoint from checkpoints union all select type, value from writes"


@pytest.mark.parametrize("store", STORES, ids=lambda p: p.stem)
def test_every_value(store: Path) -> None:
    with closing(sqlite3.connect(f"file:{store}?mode=ro&immutable=1", uri=True)) as connection:
        rows = [Typed(*row) for row in connection.execute(VALUES)]
    assert rows
    for stored in rows:
        value = SERDE.decode(stored)
        again = SERDE.encode(value, stored.type if stored.type == "json" else None)
        assert again.type == stored.type
        if stored.type == "json":
            assert json.loads(again.data) == json.loads(stored.data)
        else:
            assert again == stored
        assert equal(from_json(json.loads(json.dumps(to_json(value))), like=value), value)


@pytest.mark.parametrize("store", STORES, ids=lambda p: p.stem)
def test_every_envelope_says_what_the_checkpoint_does(store: Path) -> None:
    query = "select type, checkpoint, metadata from checkpoints"
    with closing(sqlite3.connect(f"file:{store}?mode=ro&immutable=1", uri=True)) as connection:
        rows = connection.execute(query).fetchall()
    for kind, data, metadata in rows:
        whole = SERDE.decode(Typed(kind, data))
        found = envelope("", whole["id"], None, Typed(kind, data), Typed("json", metadata), SERDE)
        assert found.unreadable is None
        assert (found.v, found.versions) == (whole["v"], whole["channel_versions"])
        assert found.seen == whole["versions_seen"]
        assert found.present == set(whole["channel_values"])
        assert all(equal(v, whole["channel_values"][c]) for c, v in found.control.items())
        assert equal(found.metadata, SERDE.decode(Typed("json", metadata)))
