"""Stores for the benchmarks, made once and kept in a cache folder.

Each is written by a real LangGraph, or, where 100,000 of something are needed, by repeating rows
that a real LangGraph wrote, with new ids inside and out. A store's file name holds its version:
whoever changes a builder raises it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from platformdirs import user_cache_path


def cached(name: str, build: Callable[[Path], None]) -> Path:
    """The store of this name; `build` writes it where it is not there yet."""
    folder = Path(os.environ.get("RETROGRAPH_BENCH_CACHE") or user_cache_path("retrograph-bench"))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if not path.exists():
        print(f"making {path} …", end="", file=sys.stderr, flush=True)
        began = time.perf_counter()
        scratch = folder / f"{os.getpid()}-{name}"
        build(scratch)
        scratch.replace(path)
        print(f" {time.perf_counter() - began:.0f} s", file=sys.stderr)
    return path
