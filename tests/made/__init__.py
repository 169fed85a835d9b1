"""Stores made by hand, checkpoint by checkpoint, in the layout and form of langgraph 1.2."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from retrograph.engine.serde import Serde
from retrograph.engine.values import Obj, equal

THREAD = "t"

_TABLES = """
create table checkpoints(thread_id text not null, checkpoint_ns text not null default '',
  checkpoint_id text not null, parent_checkpoint_id text, type text, checkpoint blob,
  metadata blob, primary key (thread_id, checkpoint_ns, checkpoint_id));
create table writes(thread_id text not null, checkpoint_ns text not null default '',
  checkpoint_id text not null, task_id text not null, task_path text not null default '',
  idx integer not null, channel text not null, type text, value blob,
  primary key (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
"""


@dataclass(frozen=True)
class Made:
    """One checkpoint to make."""

    values: Mapping[str, Any]
    nodes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What ran to make it: by node, what that node wrote."""
    parent: int | None = -1
    """Which of the list; −1: the one before; `None`: a root."""
    source: str = "loop"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    writes: Sequence[tuple[str, str, Any]] = ()
    """More writes of the step that begins here: (task path, channel, value)."""
    kind: str = "msgpack"
    """msgpack or json; with "+aes" encrypted."""


def make(
    path: Path,
    checkpoints: Sequence[Made],
    thread: str = THREAD,
    ns: str = "",
    serde: Serde | None = None,
) -> list[str]:
    """Write a thread into a store (made where it is not there yet); returns the ids."""
    serde = serde or Serde()
    new = not path.exists()
    ids: list[str] = []
    versions: list[dict[str, str]] = []
    with closing(sqlite3.connect(path)) as db:
        if new:
            db.executescript(_TABLES)
        for number, made in enumerate(checkpoints):
            parent = number - 1 if made.parent == -1 else made.parent
            parent = None if parent is not None and parent < 0 else parent
            ids.append(made_id(number, ns))
            before = checkpoints[parent] if parent is not None else None
            known = versions[parent] if parent is not None else {}
            versions.append(_versions(number, made, before, known))
            due = [n for c in checkpoints[number + 1 : number + 2] for n in c.nodes]
            _insert(db, serde, made, (thread, ns, ids, parent), versions[-1], due)
            if before is not None and parent is not None:
                _insert_writes(db, serde, made, (thread, ns, ids[parent]))
        db.commit()
    return ids


def made_id(number: int, ns: str = "") -> str:
    """The id of the n-th checkpoint; its step is n − 1."""
    ticks = 0x1F0_0000_0000_0000 + number * 10_000_000
    digits = f"{ticks:015x}"
    clock = 0x8000 | ((number - 1) & 0x3FFF)
    tail = sum(ns.encode()) * 1000 + number
    return f"{digits[:8]}-{digits[8:12]}-6{digits[12:]}-{clock:04x}-{tail:012x}"


def _versions(
    number: int, made: Made, before: Made | None, known: Mapping[str, str]
) -> dict[str, str]:
    now = dict(known)
    for channel, value in made.values.items():
        same = before is not None and channel in before.values
        if not same or not equal(before.values[channel], value):  # type: ignore[union-attr]
            now[channel] = f"{number + 1:032}.0.5"
    return now


def _insert(
    db: sqlite3.Connection,
    serde: Serde,
    made: Made,
    where: tuple[str, str, list[str], int | None],
    versions: Mapping[str, str],
    due: Sequence[str],
) -> None:
    thread, ns, ids, parent = where
    number = len(ids) - 1
    version = f"{number + 1:032}.0.5"
    steering = {f"branch:to:{node}": None for node in due}
    seen = {n: {f"branch:to:{n}": f"{number:032}.0.5"} for n in made.nodes}
    body = {
        "v": 4,
        "ts": "2026-01-01T00:00:00+00:00",
        "id": ids[-1],
        "channel_values": {**made.values, **steering},
        "channel_versions": {**versions, **dict.fromkeys(steering, version)},
        "versions_seen": {"__input__": {}, **seen},
        "updated_channels": sorted({*steering, *(c for c in versions if versions[c] == version)}),
    }
    metadata = {"source": made.source, "step": number - 1, "parents": {}, **made.metadata}
    typed = serde.encode(body, made.kind)
    above = None if parent is None else ids[parent]
    row = (thread, ns, ids[-1], above, *typed, json.dumps(metadata).encode())
    db.execute("insert into checkpoints values (?,?,?,?,?,?,?)", row)
    for idx, (path, channel, value) in enumerate(made.writes):
        write = serde.encode(value)
        put = (thread, ns, ids[-1], f"own-{number}-{idx}", path, idx, channel, *write)
        db.execute("insert into writes values (?,?,?,?,?,?,?,?,?)", put)


def _insert_writes(
    db: sqlite3.Connection, serde: Serde, made: Made, where: tuple[str, str, str]
) -> None:
    for node, wrote in made.nodes.items():
        for idx, (channel, value) in enumerate(wrote.items()):
            write = serde.encode(value)
            task = (f"task-of-{node}", f"~__pregel_pull, {node}", idx, channel)
            put = (*where, *task, *write)
            db.execute("insert or replace into writes values (?,?,?,?,?,?,?,?,?)", put)


def said(text: str, id_: str, kind: str = "Human") -> Obj:
    """A message, as LangGraph stores it."""
    fields = {"content": text, "type": kind.lower(), "id": id_}
    module = f"langchain_core.messages.{kind.lower()}"
    return Obj(module, f"{kind}Message", "pydantic", fields, ("model_validate_json",))
