"""Postgres stores for the benchmarks, in a server that lives as long as they are measured.

The long thread is run by LangGraph. A million threads are a few that LangGraph ran, repeated by
the server with new ids inside and out; writes and blobs, on which no list of threads depends but
the page that is shown, have the newest of them only.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.bench.stores import growing, many_threads

sys.path.insert(0, str(Path(__file__).parents[2]))  # as the tests' own path has it

KINDS = tuple(many_threads.SHARES)
WITH_WRITES = 10_000

# Thread n was active at second n * 31 of 2025-03-01; ids are UUIDs of version 6 with the step.
REPEAT = """
CREATE TABLE made AS
SELECT t.n, md5(t.n::text || 'thread')::uuid::text AS thread_id, c.checkpoint_id AS old_id,
       lpad(to_hex(ticks >> 28), 8, '0') || '-' || lpad(to_hex((ticks >> 12) & 65535), 4, '0') ||
       '-6' || lpad(to_hex(ticks & 4095), 3, '0') || '-' ||
       lpad(to_hex(32768 | ((c.metadata->>'step')::int & 16383)), 4, '0') || '-' ||
       substr(md5(t.n::text || c.checkpoint_id), 1, 12) AS new_id
FROM (SELECT n, (ARRAY[{kinds}])[1 + mod(hashint4(n) & 2147483647, {count})] AS kind
      FROM generate_series(1, {threads}) n) t
JOIN checkpoints c ON c.thread_id = t.kind
CROSS JOIN LATERAL (SELECT 138599424000000000 + t.n::bigint * 310000000
                           + (c.metadata->>'step')::bigint * 17000000 AS ticks) at;
CREATE INDEX ON made (n, old_id);
INSERT INTO checkpoints
SELECT m.thread_id, '', m.new_id, p.new_id, NULL,
       c.checkpoint || jsonb_build_object('id', m.new_id), c.metadata
FROM made m JOIN checkpoints c ON c.checkpoint_id = m.old_id
LEFT JOIN made p ON p.n = m.n AND p.old_id = c.parent_checkpoint_id ORDER BY m.new_id;
INSERT INTO checkpoint_writes
SELECT m.thread_id, '', m.new_id, w.task_id, w.idx, w.channel, w.type, w.blob, w.task_path
FROM made m JOIN checkpoint_writes w ON w.checkpoint_id = m.old_id WHERE m.n > {from_};
INSERT INTO checkpoint_blobs
SELECT DISTINCT m.thread_id, '', b.channel, b.version, b.type, b.blob
FROM made m JOIN checkpoints c ON c.checkpoint_id = m.old_id AND c.thread_id = ANY(ARRAY[{kinds}])
JOIN checkpoint_blobs b ON b.thread_id = c.thread_id WHERE m.n > {from_};
DROP TABLE made;
VACUUM ANALYZE checkpoints;
VACUUM ANALYZE checkpoint_writes;
VACUUM ANALYZE checkpoint_blobs;
"""


@contextmanager
def server() -> Iterator[Any]:
    """A Postgres server (`servers.postgres.Server`)."""
    from servers.postgres import shared_server

    with tempfile.TemporaryDirectory() as folder, shared_server(Path(folder)) as found:
        yield found


def growing_thread(uri: str, checkpoints: int) -> None:
    """`growing.growing`, by PostgresSaver."""
    from langgraph.checkpoint.postgres import PostgresSaver

    with PostgresSaver.from_conn_string(uri) as saver:
        saver.setup()
        graph = growing.builder.compile(checkpointer=saver)
        given = {"wanted": checkpoints, "done": 0}
        growing.run(graph, growing.THREAD, given, recursion_limit=checkpoints + 10)
        for number in range(200):
            growing.run(graph, f"small-{number}", {"wanted": 5, "done": 0})
        saver.conn.execute("VACUUM ANALYZE")  # type: ignore[union-attr]


def a_million_threads(uri: str, threads: int) -> None:
    """`many_threads.many_threads`, in Postgres."""
    from langgraph.checkpoint.postgres import PostgresSaver

    with PostgresSaver.from_conn_string(uri) as saver:
        saver.setup()
        graph = many_threads.builder.compile(checkpointer=saver)
        for kind in KINDS:
            with suppress(ValueError):
                growing.run(graph, kind, {"kind": kind, "request": "the spring collection"})
        saver.conn.execute("DELETE FROM checkpoint_writes WHERE thread_id = 'unfinished' AND "
                           "channel = '__interrupt__'")  # type: ignore[union-attr] # fmt: skip
        kinds = ", ".join(
            f"'{kind}'" for kind, share in many_threads.SHARES.items() for _ in range(share)
        )
        script = REPEAT.format(
            kinds=kinds, count=100, threads=threads, from_=max(threads - WITH_WRITES, 0)
        )
        for statement in script.split(";")[:-1]:
            saver.conn.execute(statement)  # type: ignore[union-attr,call-overload]
