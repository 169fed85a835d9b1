"""The measured process: `python -m tests.bench.child MODE CALLS MODULE:FUNCTION [ARG]…`.

Prints one line of JSON.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main(mode: str, calls: int, side: str, *args: str) -> dict[str, Any]:
    module, name = side.split(":")
    call: Callable[[], object] = getattr(importlib.import_module(module), name)(*args)
    gc.collect()
    if mode in ("wall", "cpu"):
        call()
        return {"seconds": [_timed(call)[mode] for _ in range(calls)]}
    if mode == "kept":
        call()
        gc.collect()
        tracemalloc.start()
        result = call()
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
        del result
        return {"kept": kept}
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _resident("VmRSS")
    return {**_timed(call), "peak": _resident("VmHWM") - before}


def _timed(call: Callable[[], object]) -> dict[str, float]:
    gc.collect()
    began, used = time.perf_counter(), time.process_time()
    result = call()
    seconds = {"wall": time.perf_counter() - began, "cpu": time.process_time() - used}
    del result
    return seconds


def _resident(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field} in /proc/self/status")


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])))
