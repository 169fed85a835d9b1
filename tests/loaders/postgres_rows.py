"""Single rows for Postgres stores, as plain as the test wants them."""

from __future__ import annotations

import ormsgpack
import psycopg

from servers.postgres import Database

BODY = {"v": 4, "id": "x", "ts": "2026-01-01T00:00:00+00:00", "channel_values": {},
        "channel_versions": {}, "versions_seen": {}, "updated_channels": []}  # fmt: skip


def put(store: Database, id: str, body: str, metadata: str = "{}", parent: str | None = None,
        thread_id: str = "t") -> None:  # fmt: skip
    with psycopg.connect(store.uri) as connection:
        connection.execute(
            "INSERT INTO checkpoints VALUES (%s, '', %s, %s, NULL, %s, %s)",
            (thread_id, id, parent, body, metadata),
        )


def put_blob(store: Database, channel: str, version: str, kind: str, data: bytes | None) -> None:
    with psycopg.connect(store.uri) as connection:
        connection.execute(
            "INSERT INTO checkpoint_blobs VALUES ('t', '', %s, %s, %s, %s)",
            (channel, version, kind, data),
        )


def a_send(node: str, size: int) -> ormsgpack.Ext:
    payload = ormsgpack.packb(["langgraph.types", "Send", [node, "p" * size]])
    return ormsgpack.Ext(1, payload)
