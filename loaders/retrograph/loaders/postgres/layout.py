"""Which tables a database has, of which generation, and how to read each as if it were today's.

    full       LangGraph and LangGraph.js: `checkpoints` with `checkpoint_id`
    shallow    ShallowPostgresSaver: one row a thread and namespace, no ids, blobs without versions

Older migrations lack columns (`checkpoint_writes.task_path`) or tables; what is lacking is given
as empty. Stores are recognized by columns: other programs have a table `checkpoints`, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from retrograph.engine.errors import SourceError
from retrograph.loaders.postgres.session import Reading, Row

_TABLES: Final = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"]
_STORED_ROWS: Final = ("r", "p")
"""Kinds of relations whose rows have an `xmin`: tables, also partitioned ones."""

_SERVER = """SELECT current_user::text, current_schemas(false)::text[], pg_is_in_recovery()"""
_RELATIONS = """
SELECT n.nspname::text, c.relname::text, c.oid::bigint, c.relkind::text, c.reltuples::float8,
       has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT'),
       c.relrowsecurity AND row_security_active(c.oid),
       array_agg(a.attname::text), array_agg(format_type(a.atttypid, NULL))
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relname = ANY(%s::text[]) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
GROUP BY n.oid, c.oid ORDER BY n.nspname"""


@dataclass(frozen=True, slots=True)
class Relation:
    schema: str
    name: str
    oid: int
    kind: str
    estimate: float
    """Rows, as of the last ANALYZE; negative where there was none."""
    readable: bool
    filtered: bool
    """Whether row-level security hides rows from this role."""
    columns: dict[str, str]
    """Name to type."""

    @property
    def sql(self) -> str:
        """The qualified name, quoted; % doubled, as statements with parameters want it."""
        parts = (part.replace('"', '""').replace("%", "%%") for part in (self.schema, self.name))
        return ".".join(f'"{part}"' for part in parts)

    @property
    def shallow(self) -> bool:
        return "checkpoint_id" not in self.columns

    @property
    def is_store(self) -> bool:
        needed = {"thread_id", "checkpoint_ns", "checkpoint", "metadata"}
        return needed <= self.columns.keys() and self.columns["checkpoint"] in ("jsonb", "json")


@dataclass(frozen=True, slots=True)
class Layout:
    """The three tables as FROM items with today's columns."""

    schema: str
    checkpoints: str
    blobs: str
    writes: str
    shallow: bool
    standby: bool
    estimate: float
    """Checkpoints, about; negative where unknown."""
    relations: tuple[Relation, ...]
    """Those that are there."""

    @property
    def stored_rows(self) -> bool:
        """Whether all are tables, whose rows tell which transaction wrote them."""
        return all(relation.kind in _STORED_ROWS for relation in self.relations)

    @property
    def filtered(self) -> bool:
        return any(relation.filtered for relation in self.relations)


def find(reading: Reading, schemas: Sequence[str], where: str) -> Layout:
    """The store in the first of the schemas that has one (none given: of the search path).

    Raises `SourceError` where there is none, or where this role may not read it. `where` is how
    the database is called in the sentence.
    """
    server, catalog = reading.several((_SERVER, ()), (_RELATIONS, (_TABLES,)))
    user, path, standby = server[0]
    relations = [_relation(row) for row in catalog]
    stores = {r.schema: r for r in relations if r.name == _TABLES[0] and r.is_store}
    looked = [user if name == "$user" else name for name in schemas] or list(path)
    chosen = next((stores[name] for name in looked if name in stores), None)
    if chosen is None:
        raise SourceError(_not_found(where, looked, sorted(stores), relations))
    here = {r.name: r for r in relations if r.schema == chosen.schema}
    for relation in here.values():
        if not relation.readable:
            raise SourceError(
                f"{where}: the role {user} may not read {relation.schema}.{relation.name} "
                "(GRANT USAGE on the schema and SELECT on its checkpoint tables is enough)."
            )
    blobs, writes = here.get(_TABLES[1]), here.get(_TABLES[2])
    return Layout(
        schema=chosen.schema,
        checkpoints=_checkpoints(chosen),
        blobs=_blobs(blobs),
        writes=_writes(writes),
        shallow=chosen.shallow,
        standby=bool(standby),
        estimate=chosen.estimate,
        relations=tuple(here.values()),
    )


def _relation(row: Row) -> Relation:
    schema, name, oid, kind, estimate, readable, filtered, names, types = row
    columns = dict(zip(names, types, strict=True))
    return Relation(schema, name, oid, kind, estimate, readable, filtered, columns)


def _not_found(
    where: str, looked: Sequence[str], stores: Sequence[str], relations: Sequence[Relation]
) -> str:
    schemas = " or ".join(looked) or "the search path"
    if stores:
        others = ", ".join(stores)
        return f"{where} has no checkpoint tables in {schemas}, but in {others}: add ?schema=…."
    if any(r.name == _TABLES[0] and r.schema in looked for r in relations):
        return f"{where} has a table `checkpoints` in {schemas}, but not LangGraph's."
    return f"{where} has no checkpoint tables (LangGraph makes them in `saver.setup()`)."


def _checkpoints(table: Relation) -> str:
    if not table.shallow and table.columns["checkpoint"] == "jsonb":
        return table.sql
    body = "checkpoint" if table.columns["checkpoint"] == "jsonb" else "checkpoint::jsonb"
    if table.shallow:
        ids = f"{body}->>'id' AS checkpoint_id, NULL::text AS parent_checkpoint_id"
    else:
        ids = "checkpoint_id, parent_checkpoint_id"
    return (
        f"(SELECT thread_id, checkpoint_ns, {ids}, {body} AS checkpoint, metadata FROM {table.sql})"
    )


def _blobs(table: Relation | None) -> str:
    if table is None:
        return _nothing("thread_id", "checkpoint_ns", "channel", "version", "type")
    if "version" in table.columns:
        return table.sql
    return (
        "(SELECT thread_id, checkpoint_ns, channel, NULL::text AS version, type, blob "
        f"FROM {table.sql})"
    )


def _writes(table: Relation | None) -> str:
    if table is None:
        return _nothing(
            *("thread_id", "checkpoint_ns", "checkpoint_id", "task_id", "task_path"),
            *("channel", "type"),
            integers=("idx",),
        )
    if "task_path" in table.columns:
        return table.sql
    return (
        "(SELECT thread_id, checkpoint_ns, checkpoint_id, task_id, ''::text AS task_path, idx, "
        f"channel, type, blob FROM {table.sql})"
    )


def _nothing(*texts: str, integers: Sequence[str] = ()) -> str:
    columns = [f"NULL::text AS {name}" for name in texts]
    columns += [f"NULL::int AS {name}" for name in integers]
    return f"(SELECT {', '.join(columns)}, NULL::bytea AS blob WHERE false)"
