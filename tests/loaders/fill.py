"""Puts the contract's content into a store through a saver:

    python -m loaders.fill langgraph.checkpoint.sqlite:SqliteSaver agent.db [--append N]

The saver is opened with its `from_conn_string`. A process of its own, since a process that reads a
SQLite file must not write it.
"""

from __future__ import annotations

import argparse
import importlib
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

from loaders import content

TESTS = Path(__file__).parent.parent


def fill(saver: str, target: str, append: int | None = None) -> None:
    """Run this module in a process of its own."""
    command = [sys.executable, "-m", "loaders.fill", saver, target]
    if append is not None:
        command += ["--append", str(append)]
    subprocess.run(command, check=True, cwd=TESTS)


def _put(saver: Any, thread: content.Thread) -> None:
    from langgraph.checkpoint.base import empty_checkpoint

    for checkpoint in thread.checkpoints:
        config = _config(thread.id, checkpoint.ns, checkpoint.parent)
        version = f"{1:032}.0000000000000000"
        versions = dict.fromkeys(checkpoint.values, version)
        body = {
            **empty_checkpoint(),
            "v": 4,
            "id": checkpoint.id,
            "channel_values": dict(checkpoint.values),
            "channel_versions": versions,
            "versions_seen": {"__input__": {}},
            "updated_channels": sorted(versions),
        }
        saver.put(config, body, checkpoint.metadata, versions)
    for checkpoint_or_none, checkpoint_id, put in content.written(thread):
        ns = checkpoint_or_none.ns if checkpoint_or_none is not None else ""
        config = _config(thread.id, ns, checkpoint_id)
        saver.put_writes(config, list(put.writes), put.task_id, put.path)


def _config(thread_id: str, ns: str, checkpoint_id: str | None) -> dict[str, Any]:
    configurable = {"thread_id": thread_id, "checkpoint_ns": ns}
    if checkpoint_id is not None:
        configurable["checkpoint_id"] = checkpoint_id
    return {"configurable": configurable}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("saver")
    parser.add_argument("target")
    parser.add_argument("--append", type=int)
    arguments = parser.parse_args()
    module, _, name = arguments.saver.partition(":")
    cls = getattr(importlib.import_module(module), name)
    with cls.from_conn_string(arguments.target) as saver:
        saver.setup()
        if isinstance(getattr(saver, "conn", None), sqlite3.Connection):
            saver.conn.execute("PRAGMA synchronous=OFF")
        chosen = content.threads() if arguments.append is None else []
        for thread in chosen or [content.appended(arguments.append)]:
            _put(saver, thread)


if __name__ == "__main__":
    main()
